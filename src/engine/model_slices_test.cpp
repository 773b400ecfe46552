// Models over real features: neither cuts nor threads show in a bit of any score.
#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "verify/cases.hpp"
#include "vqx/session.hpp"

namespace vqx {
namespace {

constexpr VideoFormat kFormat{336, 194, ChromaFormat::k420, 8};
constexpr int kFrames = 9;  // more than the five-frame windows of the hfr models reach

using Bits = std::map<std::string, std::vector<std::uint64_t>>;  // by key

// What every series has for the frames of a session.
Bits score(const std::string& version, const SessionOptions& base) {
  static const std::vector<verify::PicturePair> pairs = [] {
    std::vector<verify::PicturePair> made;
    made.reserve(kFrames);
    for (int i = 0; i < kFrames; ++i)
      made.push_back(verify::make_pair(kFormat, verify::Content::kNatural, i));
    return made;
  }();
  SessionOptions options = base;
  options.models.push_back({.version = version});
  auto session = Session::create(kFormat, options);
  EXPECT_TRUE(session.ok()) << session.status().message();
  if (!session.ok()) return {};
  for (int i = session.value()->start(); i < kFrames && session.value()->wants_more(); ++i) {
    const verify::PicturePair& pair = pairs[static_cast<std::size_t>(i)];
    EXPECT_TRUE(session.value()->push(pair.reference->picture(), pair.distorted->picture()).ok());
  }
  EXPECT_TRUE(session.value()->finish().ok());
  Bits bits;
  for (const Series& series : session.value()->scores().series())
    for (std::size_t i = 0; i < series.values.size(); ++i) {
      EXPECT_TRUE(series.at(i).has_value()) << series.key;
      bits[series.key].push_back(std::bit_cast<std::uint64_t>(series.values[i]));
    }
  return bits;
}

Bits slice(const std::string& version, int first, int count) {
  SessionOptions options;
  options.first = first;
  options.count = count;
  return score(version, options);
}

class ModelSlices : public testing::TestWithParam<const char*> {};

TEST_P(ModelSlices, SlicesMergeIntoTheUncutRun) {
  const Bits whole = score(GetParam(), {});
  ASSERT_TRUE(whole.contains("vmaf"));
  ASSERT_EQ(whole.at("vmaf").size(), std::size_t{kFrames});
  for (int cut = 1; cut < kFrames; ++cut) {
    Bits merged = slice(GetParam(), 0, cut);
    for (const auto& [key, bits] : slice(GetParam(), cut, kFrames - cut))
      merged[key].insert(merged[key].end(), bits.begin(), bits.end());
    EXPECT_EQ(merged, whole) << "cut before frame " << cut;
  }
  Bits frames;
  for (int frame = 0; frame < kFrames; ++frame)
    for (const auto& [key, bits] : slice(GetParam(), frame, 1))
      frames[key].insert(frames[key].end(), bits.begin(), bits.end());
  EXPECT_EQ(frames, whole) << "cut into single frames";
}

TEST_P(ModelSlices, ThreadsDoNotShow) {
  const Bits serial = score(GetParam(), {});
  for (int threads = 1; threads <= 8; ++threads) {
    SessionOptions options;
    options.threads = threads;
    EXPECT_EQ(score(GetParam(), options), serial) << threads << " threads";
  }
}

INSTANTIATE_TEST_SUITE_P(Models, ModelSlices,
                         testing::Values("vmaf_v0.6.1", "vmaf_v0.6.1neg", "vmaf_b_v0.6.3",
                                         "vmaf_v1.0.16_3d0h", "vmaf_v1.0.16_hfr_3d0h",
                                         "vmaf_v1.0.16_hfr_1d5h_2160"),
                         [](const testing::TestParamInfo<const char*>& model) {
                           std::string name = model.param;
                           for (char& c : name)
                             if (c == '.') c = '_';
                           return name;
                         });

}  // namespace
}  // namespace vqx
