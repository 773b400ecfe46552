// vif against values of its executable specification.
#include "metric/vif/vif.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/simd.hpp"
#include "support/test_pictures.hpp"

namespace vqx::vif {
namespace {

using test::GuardedPicture;
using Pattern = std::int64_t (*)(std::int64_t x, std::int64_t y, int bits, int f);

std::int64_t noise(std::int64_t x, std::int64_t y, int bits, int f) {
  const std::int64_t v =
      (x * x * 7919 + y * y * 104729 + x * y * 31 + f * (x * 12347 + y * 777 + 5)) >> 3;
  return v & ((1 << bits) - 1);
}
// Both sides of the noise threshold, gains above and below 1.
std::int64_t smooth(std::int64_t x, std::int64_t y, int bits, int f) {
  const std::int64_t change = f * ((x * 5 + y * 11) % 7 - 3) * ((x / 16 + y / 16) % 2) +
                              ((x * 7 + y * 13) % 5) * ((x / 32) % 2);
  const std::int64_t v = ((x * 3 + y * 2 + change) % 251 + 251) % 251;
  return (v << (bits - 8)) + (bits > 8 ? x * y % 3 : 0);
}
// One-sample lines of full contrast: the largest variances.
std::int64_t lines(std::int64_t x, std::int64_t y, int bits, int f) {
  return x % 16 == 3 * (f + 1) || y % 24 == 5 ? (1 << bits) - 1 : 0;
}
// Bright and flat but for single rows: the rounding of means makes variances negative.
std::int64_t ripple(std::int64_t x, std::int64_t y, int bits, int f) {
  return (1 << bits) - 2 + ((y + f) % 29 == 12 || x * f % 37 > 30 ? 1 : 0);
}

GuardedPicture picture(Pattern pattern, int width, int height, int bits, int f) {
  GuardedPicture out({width, height, ChromaFormat::k400, bits}, 3, 0xC3);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) out.set(0, x, y, static_cast<int>(pattern(x, y, bits, f)));
  return out;
}

struct Expected {
  Pattern pattern;
  int width, height, bits;
  double limit;
  std::int64_t sums[kScales][4];  // num_log, den_log, flat_energy, flat_count
};
const Expected kExpected[] = {
    {noise,
     16,
     16,
     8,
     100,
     {{3110, 6015048, 0, 0}, {427, 843789, 0, 0}, {0, 174583, 0, 0}, {0, 35411, 0, 0}}},
    {noise,
     8,
     15,
     8,
     100,
     {{5207, 2834369, 0, 0}, {7282, 374335, 0, 0}, {63, 61065, 0, 0}, {0, 4736, 0, 0}}},
    {noise,
     13,
     9,
     10,
     1,
     {{450, 2747647, 0, 0}, {16018, 282218, 0, 0}, {8005, 56275, 0, 0}, {3572, 9671, 0, 0}}},
    {smooth,
     67,
     49,
     8,
     1,
     {{30663554, 44619380, 0, 0},
      {9516789, 10620966, 0, 0},
      {2416906, 2599819, 0, 0},
      {650570, 677343, 0, 0}}},
    {smooth,
     67,
     49,
     10,
     100,
     {{30673157, 44622326, 0, 0},
      {9546698, 10620597, 0, 0},
      {2426535, 2599893, 0, 0},
      {653249, 677369, 0, 0}}},
    {smooth,
     210,
     131,
     12,
     1,
     {{264092140, 406282128, 0, 0},
      {92031776, 99804759, 0, 0},
      {23799428, 25089225, 0, 0},
      {6368671, 6632887, 0, 0}}},
    {noise,
     209,
     35,
     16,
     100,
     {{2848792, 169779885, 0, 0},
      {1189462, 20035302, 0, 0},
      {402134, 3924667, 0, 0},
      {111819, 813319, 2455705, 1}}},
    {lines,
     200,
     66,
     8,
     100,
     {{9231379, 306644443, 0, 0},
      {3095985, 54253180, 0, 0},
      {1343774, 11570317, 0, 0},
      {8026, 1960451, 0, 0}}},
    {lines,
     67,
     49,
     16,
     1.2,
     {{4897667, 72642972, 3545880228, 126},
      {867529, 12602208, 7091409, 3},
      {260177, 2740302, 0, 0},
      {3894, 512923, 0, 0}}},
    {ripple,
     67,
     49,
     8,
     100,
     {{0, 0, 51355150, 3283}, {0, 0, 11534463, 792}, {0, 0, 4505469, 192}, {0, 0, 420620, 48}}},
};

void expect_sums(const Expected& expected, const Words& words) {
  for (int scale = 0; scale < kScales; ++scale) {
    const ScaleWords& w = words.scale[scale];
    EXPECT_EQ(expected.sums[scale][0], w.num_log) << "scale " << scale;
    EXPECT_EQ(expected.sums[scale][1], w.den_log) << "scale " << scale;
    EXPECT_EQ(expected.sums[scale][2], w.flat_energy) << "scale " << scale;
    EXPECT_EQ(expected.sums[scale][3], w.flat_count) << "scale " << scale;
  }
}

class VifTest : public testing::Test {
 protected:
  void TearDown() override { ASSERT_TRUE(select_simd_level(supported_simd_levels().back()).ok()); }
};

TEST_F(VifTest, SumsOfTheSpecification) {
  for (const Expected& e : kExpected) {
    SCOPED_TRACE(testing::Message() << e.width << "x" << e.height << " " << e.bits << " bit");
    const GuardedPicture x = picture(e.pattern, e.width, e.height, e.bits, 0);
    const GuardedPicture y = picture(e.pattern, e.width, e.height, e.bits, 1);
    const Request request{x.picture().plane(0), y.picture().plane(0), e.bits,
                          std::span(&e.limit, 1), true};
    Words words;
    measure_reference(request, std::span(&words, 1));
    expect_sums(e, words);
    if (std::min(e.width, e.height) < kSmallestStrict) continue;
    const SerialRunner runner;
    ScratchPool scratch;
    const MeasureContext context({}, runner, scratch);
    for (const SimdLevel level : supported_simd_levels()) {
      if (level == SimdLevel::kScalar) continue;
      SCOPED_TRACE(simd_level_name(level));
      ASSERT_TRUE(select_simd_level(level).ok());
      measure_simd(request, context, std::span(&words, 1));
      expect_sums(e, words);
    }
  }
}

// Any number of option sets in one pass gives what each gives alone.
TEST_F(VifTest, SharedPassesChangeNothing) {
  const std::vector<double> limits = {100, 1, 1.2, 33.25, 2};
  const GuardedPicture x = picture(smooth, 210, 131, 8, 0);
  const GuardedPicture y = picture(smooth, 210, 131, 8, 2);
  Request request{x.picture().plane(0), y.picture().plane(0), 8, limits, true};
  std::vector<Words> expected(limits.size());
  measure_reference(request, expected);
  EXPECT_NE(expected[0].scale[0].num_log, expected[1].scale[0].num_log);
  const SerialRunner runner;
  ScratchPool scratch;
  const MeasureContext context({}, runner, scratch);
  for (const bool score_scale0 : {true, false}) {
    request.score_scale0 = score_scale0;
    std::vector<Words> together(limits.size());
    measure_simd(request, context, together);
    for (std::size_t i = 0; i < limits.size(); ++i) {
      if (!score_scale0) expected[i].scale[0] = {};
      EXPECT_EQ(Measured::of(expected[i]), Measured::of(together[i])) << limits[i];
    }
  }
}

// Wider than two tiles, higher than two bands, in any order.
TEST_F(VifTest, TilesAndBandsDoNotShow) {
  const double limit = 100;
  for (const int bits : {8, 10}) {
    const GuardedPicture x = picture(smooth, 801, 133, bits, 0);
    const GuardedPicture y = picture(smooth, 801, 133, bits, 1);
    const Request request{x.picture().plane(0), y.picture().plane(0), bits, std::span(&limit, 1),
                          true};
    Words expected;
    measure_reference(request, std::span(&expected, 1));
    const test::ReverseRunner runner(4);
    ScratchPool scratch;
    const MeasureContext context({}, runner, scratch);
    Words words;
    measure_simd(request, context, std::span(&words, 1));
    EXPECT_EQ(Measured::of(expected), Measured::of(words)) << bits << " bit";
  }
}

std::uint32_t crc32(const std::vector<std::uint8_t>& bytes) {
  std::uint32_t crc = 0xffffffffU;
  for (const std::uint8_t byte : bytes) {
    crc ^= byte;
    for (int i = 0; i < 8; ++i) crc = crc >> 1 ^ ((crc & 1U) != 0 ? 0xedb88320U : 0U);
  }
  return ~crc;
}

TEST_F(VifTest, LogarithmTable) {
  std::vector<std::uint8_t> bytes;
  for (int i = 32768; i < 65536; ++i) {
    // 4*i keeps all 16 bits and is at least 2^17; the logarithm is higher by 2*2048.
    const auto entry = log2_q11(std::int64_t{4} * i, log_table()) - 2 * 2048;
    bytes.push_back(static_cast<std::uint8_t>(entry & 255));
    bytes.push_back(static_cast<std::uint8_t>(entry >> 8));
  }
  EXPECT_EQ(0x42ad4d4fU, crc32(bytes));
  EXPECT_EQ(2048 * 36, log2_q11(std::int64_t{1} << 36, log_table()));
}

TEST_F(VifTest, SizeLimits) {
  const MetricInfo* info = find_metric("vif");
  const Options options = parse_options("vif", info->options, {}, nullptr).value();
  const auto accepted = [&](int w, int h, bool strict) {
    return info->create({{w, h, ChromaFormat::k420, 8}, strict, std::span(&options, 1)}).ok();
  };
  EXPECT_TRUE(accepted(16, 16, true));
  EXPECT_FALSE(accepted(15, 64, true));
  EXPECT_TRUE(accepted(8, 8, false));
  EXPECT_FALSE(accepted(64, 7, false));
}

}  // namespace
}  // namespace vqx::vif
