// The row kernels of `adm` against the per-sample law, at every SIMD level: all reciprocals, random
// and extreme coefficients, and vectors around the one-degree limit.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>
#include <vector>

#include "base/simd.hpp"
#include "metric/adm/adm_math.hpp"
#include "metric/adm/adm_rows.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "metric/adm/adm_simd_test.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "metric/adm/adm_simd-inl.hpp"

#ifndef VQX_ADM_SIMD_TEST_VECTORS  // this file is included once per target
#define VQX_ADM_SIMD_TEST_VECTORS
namespace vqx::adm {
namespace {

// Number of lanes' worth of values that every vector length divides.
constexpr std::size_t kBlock = 64;

struct Vectors {
  std::vector<std::int32_t> oh, ov, th, tv;
  void add(std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t d) {
    oh.push_back(static_cast<std::int32_t>(a));
    ov.push_back(static_cast<std::int32_t>(b));
    th.push_back(static_cast<std::int32_t>(c));
    tv.push_back(static_cast<std::int32_t>(d));
  }
  void fill() {
    while (oh.size() % kBlock != 0) add(1, 0, 1, 0);
  }
};

}  // namespace
}  // namespace vqx::adm
#endif

HWY_BEFORE_NAMESPACE();
namespace vqx::adm::HWY_NAMESPACE {
#if HWY_TARGET == HWY_SCALAR
void Reciprocals(const std::int32_t*, std::size_t, std::int32_t*) {}
void Restored(const std::int32_t*, const std::int32_t*, std::size_t, bool, std::int32_t*) {}
void Near(const Vectors&, std::int32_t*) {}
#else
void Reciprocals(const std::int32_t* m, std::size_t count, std::int32_t* out) {
  for (std::size_t i = 0; i < count; i += hn::Lanes(D32()))
    hn::StoreU(ReciprocalQ30(hn::LoadU(D32(), m + i)), D32(), out + i);
}
void Restored(const std::int32_t* o, const std::int32_t* t, std::size_t count, bool fine,
              std::int32_t* out) {
  for (std::size_t i = 0; i < count; i += hn::Lanes(D32())) {
    const Folded f = Fold(hn::LoadU(D32(), o + i), hn::LoadU(D32(), t + i));
    hn::StoreU(Flip(fine ? RestoredFine(f) : RestoredCoarse(f), f.sign), D32(), out + i);
  }
}
void Near(const Vectors& v, std::int32_t* out) {
  for (std::size_t i = 0; i < v.oh.size(); i += hn::Lanes(D32())) {
    const auto mask =
        WithinOneDegree(hn::LoadU(D32(), v.oh.data() + i), hn::LoadU(D32(), v.ov.data() + i),
                        hn::LoadU(D32(), v.th.data() + i), hn::LoadU(D32(), v.tv.data() + i));
    hn::StoreU(hn::VecFromMask(D32(), mask), D32(), out + i);
  }
}
#endif
}  // namespace vqx::adm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vqx::adm {
HWY_EXPORT(Reciprocals);
HWY_EXPORT(Restored);
HWY_EXPORT(Near);

namespace {

class AdmKernels : public testing::TestWithParam<SimdLevel> {
 protected:
  void SetUp() override { ASSERT_TRUE(select_simd_level(GetParam()).ok()); }
  void TearDown() override { ASSERT_TRUE(select_simd_level(supported_simd_levels().back()).ok()); }
};

TEST_P(AdmKernels, EveryReciprocal) {
  std::vector<std::int32_t> m(32768), r(m.size());
  for (std::size_t i = 0; i < m.size(); ++i) m[i] = static_cast<std::int32_t>(i) + 1;
  HWY_DYNAMIC_DISPATCH(Reciprocals)(m.data(), m.size(), r.data());
  for (std::size_t i = 0; i < m.size(); ++i) ASSERT_EQ(r[i], reciprocal_q30(m[i])) << m[i];
}

void expect_restored(const std::vector<std::int32_t>& o, const std::vector<std::int32_t>& t,
                     bool fine) {
  std::vector<std::int32_t> r(o.size());
  HWY_DYNAMIC_DISPATCH(Restored)(o.data(), t.data(), o.size(), fine, r.data());
  for (std::size_t i = 0; i < o.size(); ++i)
    ASSERT_EQ(r[i], scale_q15(ratio_q15(o[i], t[i]), o[i])) << o[i] << " " << t[i];
}

TEST_P(AdmKernels, RestoredDetail) {
  std::mt19937 random(1);
  for (const bool fine : {true, false}) {
    // The largest coefficients of scale 0 and of all scales.
    const std::int32_t peak = fine ? 22932 : 1487000000;
    std::uniform_int_distribution<std::int32_t> any(-peak, peak);
    std::uniform_int_distribution<int> bits(0, fine ? 14 : 30);
    std::vector<std::int32_t> o, t;
    for (const std::int32_t a :
         {0, 1, -1, 2, 32767, 32768, 32769, 65535, -65536, 98304, peak, -peak})
      for (const std::int32_t b : {0, 1, -1, 3, 32767, -32768, 65537, peak, -peak})
        if (std::abs(a) <= peak && std::abs(b) <= peak) {
          o.push_back(a);
          t.push_back(b);
        }
    for (int i = 0; i < 200000; ++i) {
      const std::int32_t a = any(random) >> bits(random);
      const int near = static_cast<int>(random() % 7) - 3;
      o.push_back(a);
      t.push_back(i % 2 == 0 ? any(random) >> bits(random) : std::clamp(a + near, -peak, peak));
    }
    while (o.size() % kBlock != 0) {
      o.push_back(5);
      t.push_back(3);
    }
    expect_restored(o, t, fine);
  }
}

TEST_P(AdmKernels, OneDegree) {
  std::mt19937_64 random(2);
  Vectors v;
  const std::int32_t values[] = {0, 1, -1, 22932, 1487000000, -1487000000};
  for (const std::int32_t a : values)
    for (const std::int32_t b : values)
      for (const std::int32_t c : values)
        for (const std::int32_t d : values) v.add(a, b, c, d);
  std::uniform_real_distribution<double> turn(0, 2 * std::numbers::pi);
  std::uniform_real_distribution<double> length(0, 30.4);
  std::uniform_real_distribution<double> closeness(0, 26);
  for (int i = 0; i < 200000; ++i) {
    const double angle = turn(random);
    // At one degree but for a fraction of it that reaches down to the last bit of the law's test.
    const double miss = std::exp2(-closeness(random)) * (i % 2 == 0 ? 1 : -1);
    const double other = angle + (1 + miss) * std::numbers::pi / 180;
    const double a = std::exp2(length(random)), b = std::exp2(length(random));
    v.add(std::llround(a * std::cos(angle)), std::llround(a * std::sin(angle)),
          std::llround(b * std::cos(other)), std::llround(b * std::sin(other)));
  }
  v.fill();
  std::vector<std::int32_t> near(v.oh.size());
  HWY_DYNAMIC_DISPATCH(Near)(v, near.data());
  int count = 0;
  for (std::size_t i = 0; i < near.size(); ++i) {
    const bool expected = within_one_degree(v.oh[i], v.ov[i], v.th[i], v.tv[i]);
    ASSERT_EQ(near[i] != 0, expected)
        << v.oh[i] << " " << v.ov[i] << " " << v.th[i] << " " << v.tv[i];
    count += expected ? 1 : 0;
  }
  EXPECT_GT(count, 50000);  // both answers occur often
  EXPECT_LT(count, 150000);
}

std::vector<SimdLevel> vector_levels() {
  std::vector<SimdLevel> levels = supported_simd_levels();
  levels.erase(levels.begin());  // kScalar has no kernels
  return levels;
}
INSTANTIATE_TEST_SUITE_P(Levels, AdmKernels, testing::ValuesIn(vector_levels()),
                         [](const auto& row) { return std::string(simd_level_name(row.param)); });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(AdmKernels);

}  // namespace
}  // namespace vqx::adm
#endif  // HWY_ONCE
