#include "base/module_loader.hpp"

#include <dlfcn.h>
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>

namespace vqx::base {
namespace {

namespace fs = std::filesystem;

void add_folder(std::vector<std::string>& folders, const fs::path& folder) {
  const std::string name = folder.lexically_normal().string();
  for (const std::string& known : folders)
    if (known == name) return;
  folders.push_back(name);
}

// Beside a binary, and where `install` puts modules relative to it.
void add_folders_near(std::vector<std::string>& folders, const fs::path& binary) {
  const fs::path folder = binary.parent_path();
  add_folder(folders, folder);
  add_folder(folders, folder / "vqx");
  add_folder(folders, folder / ".." / VQX_INSTALL_LIBDIR / "vqx");
}

}  // namespace

std::vector<std::string> module_folders() {
  std::vector<std::string> folders;
  if (const char* listed = std::getenv("VQX_MODULE_PATH"); listed != nullptr && *listed != '\0') {
    std::istringstream list(listed);
    for (std::string folder; std::getline(list, folder, ':');)
      if (!folder.empty()) add_folder(folders, folder);
    return folders;
  }
  std::error_code error;
  if (const fs::path program = fs::read_symlink("/proc/self/exe", error); !error)
    add_folders_near(folders, program);
  Dl_info here{};
  if (dladdr(reinterpret_cast<const void*>(&module_folders), &here) != 0 && here.dli_fname) {
    const fs::path library = fs::canonical(here.dli_fname, error);
    if (!error) add_folders_near(folders, library);
  }
  return folders;
}

Result<void*> load_module_entry(const std::string& name, const char* entry) {
  const std::string file = "lib" + name + ".so";
  const std::vector<std::string> folders = module_folders();
  for (const std::string& folder : folders) {
    const fs::path path = fs::path(folder) / file;
    std::error_code error;
    if (!fs::exists(path, error)) continue;
    void* module = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (module == nullptr)
      return Status(ErrorCode::kBackend,
                    fmt::format("{} does not load: {}", path.string(), dlerror()));
    void* address = dlsym(module, entry);
    if (address == nullptr)
      return Status(ErrorCode::kBackend,
                    fmt::format("{} is of another version: it has no {}", path.string(), entry));
    return address;
  }
  return Status(ErrorCode::kBackend,
                fmt::format("the module {} is not installed; looked in {} (VQX_MODULE_PATH names "
                            "other folders)",
                            file, fmt::join(folders, ", ")));
}

}  // namespace vqx::base
