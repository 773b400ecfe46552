#include "backend/pinned_memory.hpp"

#include <iterator>

namespace vqx::backend {

bool PinnedMemory::attach(const abi::Backend& backend, int device) {
  const std::lock_guard lock(mutex_);
  if (backend_ == nullptr) {
    backend_ = &backend;
    device_ = device;
  }
  return backend_ == &backend;
}

void* PinnedMemory::allocate(std::size_t size) {
  const std::lock_guard lock(mutex_);
  if (backend_ != nullptr) {
    abi::Error error;
    if (void* const block = backend_->allocate_pinned(device_, size, &error)) {
      blocks_[block] = size;
      return block;
    }
  }
  return ordinary_->allocate(size);
}

void PinnedMemory::release(void* block) {
  const std::lock_guard lock(mutex_);
  const auto pinned = blocks_.find(block);
  if (pinned == blocks_.end()) {
    ordinary_->release(block);
    return;
  }
  backend_->release_pinned(device_, block);
  blocks_.erase(pinned);
}

bool PinnedMemory::holds(const void* address) const {
  const std::lock_guard lock(mutex_);
  const auto after = blocks_.upper_bound(address);
  if (after == blocks_.begin()) return false;
  const auto& [start, size] = *std::prev(after);
  return static_cast<const std::byte*>(address) < static_cast<const std::byte*>(start) + size;
}

}  // namespace vqx::backend
