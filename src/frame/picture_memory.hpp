// Where recycled pictures get their memory: the heap, or memory that a device reads directly.
#pragma once

#include <cstddef>
#include <memory>

namespace vqx {

// Blocks for the samples of one picture.  Called from any thread.
class PictureMemory {
 public:
  virtual ~PictureMemory() = default;
  // At least 64-byte aligned, uninitialised; null: not enough memory.
  virtual void* allocate(std::size_t size) = 0;
  virtual void release(void* block) = 0;
};

// The heap, with large pages where they help.
std::shared_ptr<PictureMemory> ordinary_memory();

}  // namespace vqx
