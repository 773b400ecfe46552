#include "base/simd.hpp"

#include <gtest/gtest.h>

namespace vqx {
namespace {

TEST(BaseSimd, ForcedLevelIsTheOneThatRuns) {
  for (const SimdLevel level : supported_simd_levels()) {
    ASSERT_TRUE(select_simd_level(level).ok());
    EXPECT_EQ(active_simd_level(), level) << simd_level_name(level);
  }
  EXPECT_TRUE(select_simd_level(supported_simd_levels().back()).ok());
}

TEST(BaseSimd, UnsupportedLevelIsRefusedByName) {
  const bool arm = supported_simd_levels().back() == SimdLevel::kNeon;
  const Status status = select_simd_level(arm ? SimdLevel::kAvx2 : SimdLevel::kNeon);
  EXPECT_EQ(status.code(), ErrorCode::kInvalidArgument);
  EXPECT_NE(status.message().find(arm ? "avx2" : "neon"), std::string::npos);
}

}  // namespace
}  // namespace vqx
