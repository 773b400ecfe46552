// Reusable working memory.  Measuring a 4K frame needs large temporary planes; taking them from a
// pool instead of the allocator saves the page faults of fresh memory in every frame.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <new>
#include <tuple>
#include <utility>
#include <vector>

namespace vqx {

class ScratchPool {
 public:
  static constexpr std::size_t kAlignment = 128;

  struct Free {
    void operator()(std::byte* block) const {
      ::operator delete[](block, std::align_val_t{kAlignment});
    }
  };
  using Block = std::unique_ptr<std::byte[], Free>;

  ScratchPool() = default;
  ScratchPool(const ScratchPool&) = delete;
  ScratchPool& operator=(const ScratchPool&) = delete;

  // The smallest free block of at least `bytes` that is not wastefully large, else a new one.
  std::pair<Block, std::size_t> take(std::size_t bytes) {
    {
      const std::lock_guard lock(mutex_);
      std::size_t best = free_.size();
      for (std::size_t i = 0; i < free_.size(); ++i) {
        const std::size_t size = free_[i].second;
        if (size >= bytes && size <= 2 * bytes + 4096 &&
            (best == free_.size() || size < free_[best].second))
          best = i;
      }
      if (best != free_.size()) {
        std::swap(free_[best], free_.back());
        auto block = std::move(free_.back());
        free_.pop_back();
        return block;
      }
    }
    return {Block(new (std::align_val_t{kAlignment}) std::byte[bytes]), bytes};
  }

  void give_back(Block block, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    free_.emplace_back(std::move(block), bytes);
  }

 private:
  std::mutex mutex_;
  std::vector<std::pair<Block, std::size_t>> free_;
};

// `count` uninitialised elements, aligned for SIMD, given back to the pool at the end of the scope.
template <class T>
class ScratchArray {
 public:
  ScratchArray(ScratchPool& pool, std::size_t count) : pool_(&pool), count_(count) {
    std::tie(block_, bytes_) = pool.take(count * sizeof(T));
  }
  ScratchArray(ScratchArray&& other) noexcept = default;
  ScratchArray& operator=(ScratchArray&&) = delete;
  ~ScratchArray() {
    if (block_) pool_->give_back(std::move(block_), bytes_);
  }

  T* data() { return reinterpret_cast<T*>(block_.get()); }
  const T* data() const { return reinterpret_cast<const T*>(block_.get()); }
  T& operator[](std::size_t i) { return data()[i]; }
  const T& operator[](std::size_t i) const { return data()[i]; }
  std::size_t size() const { return count_; }

 private:
  ScratchPool* pool_;
  ScratchPool::Block block_;
  std::size_t bytes_ = 0;
  std::size_t count_;
};

}  // namespace vqx
