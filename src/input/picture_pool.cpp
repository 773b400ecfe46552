#include "input/picture_pool.hpp"

#include <fmt/core.h>

#include <mutex>
#include <utility>
#include <vector>

namespace vqx::input {
namespace {

constexpr std::size_t kAlignment = 64;

std::size_t round_up(std::size_t value, std::size_t unit) {
  return (value + unit - 1) / unit * unit;
}

}  // namespace

// The free list, shared by the pool and every picture that is out.
class PicturePool::Blocks {
 public:
  explicit Blocks(std::shared_ptr<PictureMemory> memory) : memory_(std::move(memory)) {}
  ~Blocks() {
    for (void* const block : free_) memory_->release(block);
  }
  Blocks(const Blocks&) = delete;
  Blocks& operator=(const Blocks&) = delete;

  void* take(std::size_t size) {
    {
      const std::scoped_lock lock(mutex_);
      if (!free_.empty()) {
        void* const block = free_.back();
        free_.pop_back();
        return block;
      }
    }
    return memory_->allocate(size);
  }

  void give_back(void* block) {
    const std::scoped_lock lock(mutex_);
    free_.push_back(block);
  }

 private:
  std::shared_ptr<PictureMemory> memory_;
  std::mutex mutex_;
  std::vector<void*> free_;  // the most recently used last, as it is likeliest to be cached
};

PlaneLayout padded_layout(const VideoFormat& format, int plane) {
  const auto row = static_cast<std::size_t>(format.plane_width(plane)) *
                   static_cast<std::size_t>(format.bytes_per_sample());
  return {round_up(row, kAlignment), static_cast<std::size_t>(format.plane_height(plane))};
}

PicturePool::PicturePool(const VideoFormat& format, std::shared_ptr<PictureMemory> memory)
    : PicturePool(format,
                  {padded_layout(format, 0), padded_layout(format, 1), padded_layout(format, 2)},
                  std::move(memory)) {}

PicturePool::PicturePool(const VideoFormat& format, const PlaneLayout (&layout)[3],
                         std::shared_ptr<PictureMemory> memory)
    : format_(format), blocks_(std::make_shared<Blocks>(std::move(memory))) {
  for (int p = 0; p < format.plane_count(); ++p) {
    layout_[p] = layout[p];
    block_size_ += round_up(layout_[p].bytes(), kAlignment);
  }
}

Result<Picture> PicturePool::acquire() {
  // One spare unit keeps the pointers of planes without samples inside the block.
  void* const block = blocks_->take(block_size_ + kAlignment);
  if (block == nullptr)
    return Status(ErrorCode::kOutOfMemory,
                  fmt::format("not enough memory for a {} x {} picture ({} bytes)", format_.width,
                              format_.height, block_size_));
  Plane planes[3];
  std::size_t offset = 0;
  for (int p = 0; p < format_.plane_count(); ++p) {
    planes[p] = {static_cast<std::byte*>(block) + offset,
                 static_cast<std::ptrdiff_t>(layout_[p].stride), format_.plane_width(p),
                 format_.plane_height(p)};
    offset += round_up(layout_[p].bytes(), kAlignment);
  }
  return Picture::borrow(format_, planes, [blocks = blocks_, block] { blocks->give_back(block); });
}

}  // namespace vqx::input
