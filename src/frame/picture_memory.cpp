#include "frame/picture_memory.hpp"

#include <sys/mman.h>

#include <cstdlib>

namespace vqx {
namespace {

constexpr std::size_t kAlignment = 64;
constexpr std::size_t kHugePage = std::size_t{2} << 20;

std::size_t round_up(std::size_t value, std::size_t unit) {
  return (value + unit - 1) / unit * unit;
}

class OrdinaryMemory final : public PictureMemory {
 public:
  void* allocate(std::size_t size) override {
    if (size < 2 * kHugePage) return std::aligned_alloc(kAlignment, round_up(size, kAlignment));
    // Large pages make the first touch of a new block cheap.
    const std::size_t rounded = round_up(size, kHugePage);
    void* const block = std::aligned_alloc(kHugePage, rounded);
    if (block != nullptr) (void)madvise(block, rounded, MADV_HUGEPAGE);
    return block;
  }
  void release(void* block) override { std::free(block); }
};

}  // namespace

std::shared_ptr<PictureMemory> ordinary_memory() {
  return std::make_shared<OrdinaryMemory>();
}

}  // namespace vqx
