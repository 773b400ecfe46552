#include "backend/backend.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>

#include "backend/build_hash.hpp"

namespace vqx::backend {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> search_directories() {
  std::vector<fs::path> directories;
  if (const char* given = std::getenv("VQX_BACKEND_PATH"); given != nullptr && *given != '\0') {
    std::istringstream list(given);
    for (std::string entry; std::getline(list, entry, ':');) directories.emplace_back(entry);
    return directories;
  }
  // Beside the program, or beside the shared library when vqx is used through one.
  std::error_code ignored;
  const fs::path program = fs::read_symlink("/proc/self/exe", ignored);
  if (!program.empty()) directories.push_back(program.parent_path());
  Dl_info library{};
  if (dladdr(reinterpret_cast<const void*>(&load_backend), &library) != 0 &&
      library.dli_fname != nullptr) {
    const fs::path directory = fs::weakly_canonical(library.dli_fname, ignored).parent_path();
    if (!directory.empty()) directories.push_back(directory);
  }
  const std::size_t count = directories.size();
  for (std::size_t i = 0; i < count; ++i) {
    directories.push_back(directories[i].parent_path() / "lib" / "vqx");
  }
  std::vector<fs::path> distinct;
  for (const fs::path& directory : directories) {
    if (std::find(distinct.begin(), distinct.end(), directory) == distinct.end()) {
      distinct.push_back(directory);
    }
  }
  return distinct;
}

Result<const abi::Backend*> open_module(const std::string& name, const fs::path& file) {
  const auto refuse = [&](const std::string& why) {
    return Status(ErrorCode::kBackend, "backend " + name + ": " + file.string() + ": " + why);
  };
  // Never unloaded: GPU runtimes do not survive that, and loading again is then free.
  void* module = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (module == nullptr) {
    const char* error = dlerror();
    return refuse(error != nullptr ? error : "cannot be loaded");
  }
  using Entry = const abi::Backend* (*)();
  const auto entry = reinterpret_cast<Entry>(dlsym(module, abi::kEntryName));
  if (entry == nullptr) return refuse("is not a vqx backend of this version");
  const abi::Backend* backend = entry();
  if (backend == nullptr || backend->size != sizeof(abi::Backend) ||
      std::strcmp(backend->build_hash, VQX_BUILD_HASH) != 0) {
    return refuse("was built from other sources than this program");
  }
  return backend;
}

Device describe(const abi::Backend& backend, int index) {
  Device device;
  device.index = index;
  const auto start = std::chrono::steady_clock::now();
  abi::Error error;
  backend.self_test(index, abi::kFp64Auto, &error);
  device.self_test = to_status(error);
  device.self_test_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  abi::DeviceInfo info{};
  error = {};
  backend.device_info(index, &info, &error);
  if (error.code != 0 && device.self_test.ok()) device.self_test = to_status(error);
  device.name = info.name;
  device.architecture = info.architecture;
  device.memory = info.memory;
  device.memory_free = info.memory_free;
  device.compute_units = info.compute_units;
  device.has_fp64 = info.has_fp64 != 0;
  return device;
}

}  // namespace

std::vector<std::string> backend_names() {
  return {"cuda", "hip", "sycl", "host"};
}

Result<const abi::Backend*> load_backend(std::string_view name) {
  if (name == "host") return host_backend();
  const std::vector<std::string> names = backend_names();
  const std::string wanted(name);
  if (std::find(names.begin(), names.end(), wanted) == names.end()) {
    return Status(ErrorCode::kUnknownName,
                  "no backend " + wanted + "; there are cpu, host, cuda, hip and sycl");
  }
  std::string searched;
  for (const fs::path& directory : search_directories()) {
    const fs::path file = directory / ("libvqx_" + wanted + ".so");
    std::error_code ignored;
    if (fs::exists(file, ignored)) return open_module(wanted, file);
    searched += (searched.empty() ? "" : ", ") + directory.string();
  }
  return Status(ErrorCode::kBackend, "backend " + wanted + ": libvqx_" + wanted +
                                         ".so not found in " + searched +
                                         " (VQX_BACKEND_PATH names other directories)");
}

std::vector<BackendDevices> list_devices() {
  std::vector<BackendDevices> all;
  for (const std::string& name : backend_names()) {
    BackendDevices entry;
    entry.backend = name;
    const Result<const abi::Backend*> backend = load_backend(name);
    entry.state = backend.status();
    if (backend.ok()) {
      abi::Error error;
      const int count = (*backend)->device_count(&error);
      entry.state = to_status(error);
      for (int i = 0; i < count; ++i) entry.devices.push_back(describe(**backend, i));
    }
    all.push_back(std::move(entry));
  }
  return all;
}

std::string best_backend() {
  for (const char* name : {"cuda", "hip", "sycl"}) {
    const Result<const abi::Backend*> backend = load_backend(name);
    if (!backend.ok()) continue;
    abi::Error error;
    if ((*backend)->device_count(&error) < 1 || error.code != 0) continue;
    (*backend)->self_test(0, abi::kFp64Auto, &error);
    if (error.code == 0) return name;
  }
  return {};
}

Status to_status(const abi::Error& error) {
  if (error.code == 0) return {};
  return {static_cast<ErrorCode>(error.code), error.text};
}

}  // namespace vqx::backend
