// The public session: backends, and pictures of its own memory.
#include "vqx/session.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "verify/cases.hpp"

namespace vqx {
namespace {

constexpr VideoFormat kFormat{192, 176, ChromaFormat::k420, 8};
constexpr int kFrames = 4;

SessionOptions psnr_and_vif() {
  SessionOptions options;
  options.features = {{.name = "psnr"}, {.name = "vif"}};
  return options;
}

void fill(Picture& picture, const Picture& from) {
  for (int p = 0; p < kFormat.plane_count(); ++p) {
    const Plane& plane = from.plane(p);
    for (int y = 0; y < plane.height; ++y) {
      std::memcpy(picture.mutable_row<std::uint8_t>(p, y), plane.row<std::uint8_t>(y),
                  static_cast<std::size_t>(plane.width));
    }
  }
}

// Every value of every series, with pictures of the session's own memory or of the test's.
std::vector<std::vector<double>> scores_of(const SessionOptions& options, bool own_memory) {
  const auto session = Session::create(kFormat, options);
  EXPECT_TRUE(session.ok()) << session.status().message();
  if (!session.ok()) return {};
  // Pictures of a pair borrow its memory.
  std::vector<decltype(verify::make_pair(kFormat, verify::Content::kNatural, 0))> pairs;
  for (int i = 0; i < kFrames; ++i) {
    pairs.push_back(verify::make_pair(kFormat, verify::Content::kNatural, i));
    const auto& pair = pairs.back();
    Picture reference = pair.reference->picture();
    Picture distorted = pair.distorted->picture();
    if (own_memory) {
      Picture first = session.value()->new_picture().value();
      Picture second = session.value()->new_picture().value();
      fill(first, reference);
      fill(second, distorted);
      reference = first;
      distorted = second;
    }
    EXPECT_TRUE(session.value()->push(std::move(reference), std::move(distorted)).ok());
  }
  EXPECT_TRUE(session.value()->finish().ok());
  std::vector<std::vector<double>> values;
  for (const Series& series : session.value()->scores().series()) values.push_back(series.values);
  return values;
}

TEST(Session, ABackendGivesTheScoresOfTheCpu) {
  const SessionOptions cpu = psnr_and_vif();
  SessionOptions host = cpu;
  host.backend = "host";
  const auto expected = scores_of(cpu, false);
  ASSERT_FALSE(expected.empty());
  EXPECT_EQ(scores_of(cpu, true), expected);
  EXPECT_EQ(scores_of(host, false), expected);
  EXPECT_EQ(scores_of(host, true), expected);
}

TEST(Session, SaysWhereAMetricIsMeasured) {
  SessionOptions options = psnr_and_vif();
  options.features[0].name = "psnr_host";
  const auto named = Session::create(kFormat, options);
  ASSERT_TRUE(named.ok()) << named.status().message();
  EXPECT_EQ(named.value()->backend_of("psnr"), "host");
  EXPECT_EQ(named.value()->backend_of("vif"), "cpu");
  EXPECT_EQ(named.value()->backend_of("cambi"), "");

  options = psnr_and_vif();
  options.backend = "host";
  const auto all = Session::create(kFormat, options);
  ASSERT_TRUE(all.ok()) << all.status().message();
  EXPECT_EQ(all.value()->backend_of("psnr"), "host");
  EXPECT_EQ(all.value()->backend_of("vif"), "cpu") << "vif has no device side";
}

TEST(Session, RefusesBackendsAndDevicesThatAreNotThere) {
  SessionOptions options = psnr_and_vif();
  options.backend = "abacus";
  const auto unknown = Session::create(kFormat, options);
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.status().code(), ErrorCode::kUnknownName) << unknown.status().message();
  options.backend = "host";
  options.devices = {4};
  const auto missing = Session::create(kFormat, options);
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.status().code(), ErrorCode::kBackend);
}

}  // namespace
}  // namespace vqx
