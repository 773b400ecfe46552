#include "metric/ciede/ciede.hpp"

#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "base/simd.hpp"
#include "metric/ciede/ciede_math.hpp"
#include "support/test_pictures.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "metric/ciede/ciede_test.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "metric/ciede/ciede_functions-inl.hpp"

namespace vqx::ciede {
#ifndef VQX_CIEDE_TEST_TYPES
#define VQX_CIEDE_TEST_TYPES
enum class Function { kPower24, kCubeRoot, kSin, kReducedSin, kReducedCos, kExpOfMinus, kAtan2 };
#endif
}  // namespace vqx::ciede

HWY_BEFORE_NAMESPACE();
namespace vqx::ciede::HWY_NAMESPACE {
#if HWY_TARGET == HWY_SCALAR
double Evaluate(Function, double, double) {
  return 0;
}
#else
double Evaluate(Function function, double x, double y) {
  const V64 vx = Constant(x), vy = Constant(y);
  switch (function) {
    case Function::kPower24:
      return hn::GetLane(Power24(vx));
    case Function::kCubeRoot:
      return hn::GetLane(CubeRoot(vx));
    case Function::kSin:
      return hn::GetLane(Sin(vx));
    case Function::kReducedSin:
      return hn::GetLane(SinAndCos(vx).sin);
    case Function::kReducedCos:
      return hn::GetLane(SinAndCos(vx).cos);
    case Function::kExpOfMinus:
      return hn::GetLane(ExpOfMinus(vx));
    case Function::kAtan2:
      return hn::GetLane(Atan2(vx, vy));
  }
  return 0;
}
#endif
}  // namespace vqx::ciede::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vqx::ciede {
HWY_EXPORT(Evaluate);
namespace {

class CiedeSimd : public testing::Test {
 protected:
  void TearDown() override { ASSERT_TRUE(select_simd_level(supported_simd_levels().back()).ok()); }

  // Largest error over 10^5 arguments in [low, high], relative or absolute.
  template <class True>
  void expect_accurate(Function function, double low, double high, bool relative, True exact) {
    constexpr double kProved = 0x1p-48;  // half of what the code relies on
    std::mt19937_64 random(1);
    std::uniform_real_distribution<double> uniform(low, high);
    for (const SimdLevel level : supported_simd_levels()) {
      if (level == SimdLevel::kScalar) continue;
      ASSERT_TRUE(select_simd_level(level).ok());
      double worst = 0;
      for (int i = 0; i < 100000; ++i) {
        const double x = uniform(random);
        const double y = function == Function::kAtan2 ? uniform(random) : 0;
        const long double expected =
            exact(static_cast<long double>(x), static_cast<long double>(y));
        const long double error =
            std::fabs(HWY_DYNAMIC_DISPATCH(Evaluate)(function, x, y) - expected);
        worst =
            std::max(worst, static_cast<double>(relative ? error / std::fabs(expected) : error));
      }
      EXPECT_LT(worst, kProved) << simd_level_name(level);
      EXPECT_GT(worst, 0) << simd_level_name(level);
    }
  }
};

using Long = long double;

TEST_F(CiedeSimd, FunctionsKeepTheirErrorBounds) {
  expect_accurate(Function::kPower24, 0.0625, 4, true,
                  [](Long x, Long) { return std::pow(x, static_cast<Long>(2.4)); });
  expect_accurate(Function::kCubeRoot, 0.0078, 8, true,
                  [](Long x, Long) { return std::pow(x, static_cast<Long>(1.0 / 3.0)); });
  expect_accurate(Function::kSin, -1.5709, 1.5709, true, [](Long x, Long) { return std::sin(x); });
  expect_accurate(Function::kReducedSin, 0, 8, false, [](Long x, Long) { return std::sin(x); });
  expect_accurate(Function::kReducedCos, 0, 8, false, [](Long x, Long) { return std::cos(x); });
  expect_accurate(Function::kExpOfMinus, 0, 130, true, [](Long x, Long) { return std::exp(-x); });
  expect_accurate(Function::kAtan2, -100, 100, true,
                  [](Long y, Long x) { return std::atan2(y, x); });
}

// Pixel pairs of every kind: unrelated, near, grey, of one hue, out of gamut, equal.
TEST_F(CiedeSimd, EveryPixelEqualsThePlainCode) {
  constexpr std::size_t kPixels = 40003;
  std::mt19937 random(7);
  for (const int bits : {8, 10, 12, 16}) {
    const int peak = (1 << bits) - 1, middle = 1 << (bits - 1);
    std::vector<std::uint16_t> codes[2][kPlanes];
    for (auto& side : codes)
      for (auto& plane : side) plane.resize(kPixels + kRowPadding);
    for (std::size_t x = 0; x < kPixels; ++x)
      for (int p = 0; p < kPlanes; ++p) {
        const auto any = static_cast<int>(random() % (static_cast<unsigned>(peak) + 1));
        const int first = x % 5 == 1 && p > 0 ? middle : x % 5 == 2 ? (any & 1) * peak : any;
        const int nudge = static_cast<int>(random() % 7) - 3;
        const int second = x % 5 == 3
                               ? static_cast<int>(random() % (static_cast<unsigned>(peak) + 1))
                           : x % 35 == 0 ? first
                                         : std::clamp(first + nudge, 0, peak);
        codes[0][p][x] = static_cast<std::uint16_t>(first);
        codes[1][p][x] = static_cast<std::uint16_t>(second);
      }
    RowPair rows{};
    for (int i = 0; i < 2 * kPlanes; ++i)
      rows.side[i / kPlanes][i % kPlanes] = codes[i / kPlanes][i % kPlanes].data();
    std::vector<float> expected(kPixels), actual(kPixels + kRowPadding);
    row_differences_reference(rows, bits, kPixels, expected.data());
    for (const SimdLevel level : supported_simd_levels()) {
      if (level == SimdLevel::kScalar) continue;
      ASSERT_TRUE(select_simd_level(level).ok());
      row_differences(rows, bits, kPixels, actual.data());
      for (std::size_t x = 0; x < kPixels; ++x)
        ASSERT_EQ(actual[x], expected[x])
            << "pixel " << x << " of " << bits << " bits at " << simd_level_name(level);
    }
  }
}

// From the executable law.
TEST(Ciede, KnownDifferences) {
  struct Known {
    int bits;
    int reference[3], distorted[3];
    float difference;
  };
  constexpr Known kKnown[] = {
      {8, {100, 90, 200}, {120, 130, 110}, 0x1.6e2c38p+4f},
      {8, {16, 128, 128}, {17, 128, 128}, 0x1.204718p-2f},
      {8, {60, 190, 90}, {62, 200, 80}, 0x1.3cb0f4p+2f},
      {10, {500, 700, 300}, {505, 690, 310}, 0x1.5ca23ep-1f},
      {12, {4000, 100, 4000}, {3000, 4000, 100}, 0x1.883102p+4f},
      {16, {30000, 32768, 32768}, {30001, 32768, 32767}, 0x1.655222p-8f},
      {8, {77, 33, 211}, {77, 33, 211}, 0},
  };
  for (const Known& k : kKnown) {
    const CodeScale scale(k.bits);
    EXPECT_EQ(colour_difference(to_colour(scale, k.reference[0], k.reference[1], k.reference[2]),
                                to_colour(scale, k.distorted[0], k.distorted[1], k.distorted[2])),
              k.difference);
  }
}

std::vector<int> chroma_row(ChromaFormat chroma, int width, int height, int y) {
  const VideoFormat format{width, height, chroma, 8};
  test::GuardedPicture picture(format, 3, 0xEE);
  for (int row = 0; row < format.plane_height(1); ++row)
    for (int x = 0; x < format.plane_width(1); ++x) picture.set(1, x, row, 10 * (row + 1) + x % 10);
  std::vector<std::uint16_t> out(static_cast<std::size_t>(width));
  luma_size_row(picture.picture(), 1, y, out.data());
  return {out.begin(), out.end()};
}

TEST(Ciede, ChromaAtLumaSize) {
  EXPECT_EQ(chroma_row(ChromaFormat::k444, 4, 2, 1), (std::vector<int>{20, 21, 22, 23}));
  EXPECT_EQ(chroma_row(ChromaFormat::k420, 4, 4, 2), (std::vector<int>{20, 20, 21, 21}));
  // Odd width: the padding.  Odd height: the last row again.
  EXPECT_EQ(chroma_row(ChromaFormat::k420, 5, 5, 1), (std::vector<int>{10, 10, 11, 11, 0}));
  EXPECT_EQ(chroma_row(ChromaFormat::k420, 5, 5, 4), (std::vector<int>{20, 20, 21, 21, 0}));
  // Without padding the next row follows; behind the last row its last sample stays.
  EXPECT_EQ(chroma_row(ChromaFormat::k420, 65, 4, 0).back(), 20);
  EXPECT_EQ(chroma_row(ChromaFormat::k420, 65, 4, 3).back(), 21);
  // 4:2:2 takes row y / 2 and runs on through the padding into the next row.
  EXPECT_EQ(chroma_row(ChromaFormat::k422, 4, 4, 3), (std::vector<int>{20, 21, 0, 0}));
  EXPECT_EQ(chroma_row(ChromaFormat::k422, 66, 4, 0)[33], 0);
  EXPECT_EQ(chroma_row(ChromaFormat::k422, 66, 4, 0)[64], 20);
}

TEST(Ciede, EqualPicturesAreInfinitelyGood) {
  const auto run = test::run_metric(
      {"ciede", {}}, {{8, 8, ChromaFormat::k420, 8}, test::Content::kIdentical}, 1, SerialRunner());
  ASSERT_TRUE(run.ok()) << run.status().message();
  EXPECT_EQ(std::bit_cast<double>(run->score_bits[0]), std::numeric_limits<double>::infinity());
}

TEST(Ciede, RefusesWhatItCannotScore) {
  const auto status = [](const VideoFormat& format) {
    const MetricInfo* info = find_metric("ciede");
    const auto options = parse_options(info->name, info->options, {}, nullptr);
    return info->create({format, true, std::span(&*options, 1)}).status();
  };
  EXPECT_EQ(status({8, 8, ChromaFormat::k400, 8}).code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(status({8, 8, ChromaFormat::k444, 9}).code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(status({8, 1, ChromaFormat::k420, 8}).code(), ErrorCode::kUnsupportedSize);
  EXPECT_EQ(status({1, 8, ChromaFormat::k422, 8}).code(), ErrorCode::kUnsupportedSize);
  EXPECT_TRUE(status({1, 1, ChromaFormat::k444, 16}).ok());
}

}  // namespace
}  // namespace vqx::ciede
#endif  // HWY_ONCE
