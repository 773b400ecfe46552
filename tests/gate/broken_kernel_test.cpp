// This program is built with VQX_BREAK_KERNEL: its host backend has one kernel broken on purpose,
// and verification must say so.
#include <gtest/gtest.h>

#include "verify/verify.hpp"

namespace vqx::verify {
namespace {

TEST(ParityGate, CatchesABrokenKernel) {
  VerifyOptions options;
  options.metrics = {"psnr"};
  options.large = false;
  const auto results = verify(options, [](const MetricResult&) {});
  ASSERT_TRUE(results.ok()) << results.status().message();
  ASSERT_EQ(results->size(), 1u);
  const std::string text = to_text(results->front());
  EXPECT_NE(text.find("psnr: DIFFERS: 1x1 4:2:0 8 bit natural"), std::string::npos) << text;
}

}  // namespace
}  // namespace vqx::verify
