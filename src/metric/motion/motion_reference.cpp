#include <cstdlib>
#include <vector>

#include "metric/motion/motion.hpp"
#include "metric/motion/motion_math.hpp"

namespace vqx::motion {
namespace {

constexpr std::int64_t kTaps[] = {3571, 16004, 26386, 16004, 3571};

template <class Sample>
std::uint64_t sad_rows(const Plane& earlier, const Plane& current, int bits, int first, int last) {
  const int w = current.width;
  const int h = current.height;
  std::vector<std::int64_t> column(static_cast<std::size_t>(w));
  std::uint64_t sad = 0;
  for (int y = first; y < last; ++y) {
    for (int x = 0; x < w; ++x) {
      std::int64_t sum = std::int64_t{1} << (bits - 1);
      for (int k = 0; k < 5; ++k) {
        const int row = mirror(y + k - kRadius, h);
        sum += kTaps[k] * (earlier.row<Sample>(row)[x] - current.row<Sample>(row)[x]);
      }
      column[static_cast<std::size_t>(x)] = sum >> bits;
    }
    for (int x = 0; x < w; ++x) {
      std::int64_t sum = 32768;
      for (int k = 0; k < 5; ++k)
        sum += kTaps[k] * column[static_cast<std::size_t>(mirror(x + k - kRadius, w))];
      sad += static_cast<std::uint64_t>(std::abs(sum >> 16));
    }
  }
  return sad;
}

}  // namespace

std::uint64_t sad_reference(const Plane& earlier, const Plane& current, int bits, int first,
                            int last) {
  return bits == 8 ? sad_rows<std::uint8_t>(earlier, current, bits, first, last)
                   : sad_rows<std::uint16_t>(earlier, current, bits, first, last);
}

}  // namespace vqx::motion
