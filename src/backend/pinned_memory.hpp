// Picture memory that a device reads directly: frames are uploaded from where they were read to.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>

#include "backend/abi.hpp"
#include "frame/picture_memory.hpp"

namespace vqx::backend {

// Ordinary memory until a backend is attached, and where that has no pinned memory (left).
class PinnedMemory final : public PictureMemory {
 public:
  // Later blocks come from this backend, which must outlive the object (modules are never
  // unloaded).  False: another one is attached already, and keeps what it has given.
  bool attach(const abi::Backend& backend, int device);

  void* allocate(std::size_t size) override;
  void release(void* block) override;

  // Whether the address lies in a block that the attached backend's devices read directly.
  bool holds(const void* address) const;

 private:
  std::shared_ptr<PictureMemory> ordinary_ = ordinary_memory();
  mutable std::mutex mutex_;
  const abi::Backend* backend_ = nullptr;
  int device_ = 0;
  std::map<const void*, std::size_t> blocks_;  // their sizes
};

}  // namespace vqx::backend
