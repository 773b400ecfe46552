// Which pairs may be compared, and what is said of those that may not.
#include "input/pairing.hpp"

#include "input/testing.hpp"

namespace vqx::input {
namespace {

using testing::contains;

// A source of which only the description matters.
class Described final : public VideoSource {
 public:
  explicit Described(const char* path) {
    info_.path = path;
    format_ = {64, 48, ChromaFormat::k420, 8};
  }
  const VideoFormat& format() const override { return format_; }
  const SourceInfo& info() const override { return info_; }
  Result<std::optional<Picture>> read() override { return std::optional<Picture>(); }
  Status skip(std::int64_t) override { return {}; }

  VideoFormat format_;
  SourceInfo info_;
};

class InputPairing : public ::testing::Test {
 protected:
  // The pair is refused with one problem that holds all the parts, and accepted with `allow`.
  void expect_refused(const std::vector<std::string>& parts, bool PairingRules::*allow) {
    const PairCheck check = check_pair(ref, dis, {});
    ASSERT_EQ(check.problems.size(), 1U) << check.status().message();
    EXPECT_EQ(check.status().code(), ErrorCode::kMismatch);
    for (const std::string& part : parts)
      EXPECT_TRUE(contains(check.problems[0], part)) << part << " in " << check.problems[0];
    if (allow == nullptr) return;
    PairingRules rules;
    rules.*allow = true;
    const PairCheck accepted = check_pair(ref, dis, rules);
    EXPECT_TRUE(accepted.ok()) << accepted.status().message();
    EXPECT_EQ(accepted.notes.size(), 1U);
  }

  Described ref{"ref.mp4"};
  Described dis{"dis.mp4"};
};

TEST_F(InputPairing, EqualSourcesPass) {
  const PairCheck check = check_pair(ref, dis, {});
  EXPECT_TRUE(check.ok());
  EXPECT_TRUE(check.status().ok());
  EXPECT_TRUE(check.notes.empty());
}

TEST_F(InputPairing, Sizes) {
  dis.format_.width = 60;
  expect_refused({"64 x 48 in ref.mp4", "60 x 48 in dis.mp4", "--scale-distorted bicubic"},
                 nullptr);
}

TEST_F(InputPairing, ChromaAndDepth) {
  dis.format_.bit_depth = 10;
  expect_refused({"4:2:0 of 8 bits", "4:2:0 of 10 bits", "--pixel-format yuv420p10"}, nullptr);
  dis.format_ = {64, 48, ChromaFormat::k444, 8};
  expect_refused({"4:4:4 of 8 bits", "--pixel-format yuv420p "}, nullptr);
}

TEST_F(InputPairing, FrameRates) {
  ref.info_.frame_rate = Rational{24000, 1001};
  EXPECT_TRUE(check_pair(ref, dis, {}).ok()) << "an unknown rate is no other rate";
  dis.info_.frame_rate = Rational{2997, 125};
  EXPECT_TRUE(check_pair(ref, dis, {}).ok()) << "rounded by a container";
  dis.info_.frame_rate = Rational{24, 1};
  expect_refused({"24000/1001 in ref.mp4", "24 in dis.mp4", "--allow-rate-mismatch"},
                 &PairingRules::allow_rate_mismatch);
  dis.info_.variable_frame_rate = true;
  const PairCheck check = check_pair(ref, dis, {});
  EXPECT_TRUE(check.ok());
  ASSERT_EQ(check.notes.size(), 1U);
  EXPECT_TRUE(contains(check.notes[0], "dis.mp4 has a variable frame rate"));
}

TEST_F(InputPairing, SampleAspects) {
  ref.info_.sample_aspect = Rational{1, 1};
  dis.info_.sample_aspect = Rational{16, 11};
  expect_refused({"1:1", "16:11", "--allow-aspect-mismatch"}, &PairingRules::allow_aspect_mismatch);
}

TEST_F(InputPairing, Colours) {
  ref.info_.range = ColourRange::kFull;
  EXPECT_TRUE(check_pair(ref, dis, {}).ok());
  dis.info_.range = ColourRange::kLimited;
  expect_refused({"full in ref.mp4", "limited in dis.mp4", "--allow-colour-mismatch"},
                 &PairingRules::allow_colour_mismatch);
  ref.info_.range = ColourRange::kLimited;
  using Field = std::optional<std::string> SourceInfo::*;
  for (const Field field : {&SourceInfo::matrix, &SourceInfo::transfer, &SourceInfo::primaries}) {
    ref.info_.*field = "bt709";
    dis.info_.*field = "bt2020";
    expect_refused({"bt709 in ref.mp4", "bt2020 in dis.mp4", "--allow-colour-mismatch"},
                   &PairingRules::allow_colour_mismatch);
    dis.info_.*field = "bt709";
  }
  dis.info_.chroma_resited = true;
  dis.info_.pixel_format = "422";
  expect_refused({"filtered from 422 in dis.mp4", "--allow-colour-mismatch"},
                 &PairingRules::allow_colour_mismatch);
}

TEST_F(InputPairing, Interlacing) {
  ref.info_.scan = Scan::kProgressive;
  dis.info_.scan = Scan::kTopFieldFirst;
  expect_refused({"dis.mp4 is interlaced (top field first)", "--allow-interlaced"},
                 &PairingRules::allow_interlaced);
  ref.info_.scan = Scan::kBottomFieldFirst;
  EXPECT_EQ(check_pair(ref, dis, {}).problems.size(), 3U);
  PairingRules rules;
  rules.allow_interlaced = true;
  EXPECT_TRUE(check_pair(ref, dis, rules).ok());
}

TEST_F(InputPairing, Lengths) {
  ref.info_.frame_count = 10;
  EXPECT_TRUE(check_pair(ref, dis, {}).ok());
  dis.info_.frame_count = 8;
  expect_refused({"10 in ref.mp4", "8 in dis.mp4", "--allow-shorter"},
                 &PairingRules::allow_shorter);
  PairingRules rules;
  rules.skip_reference = 2;
  EXPECT_TRUE(check_pair(ref, dis, rules).ok());
  rules = {};
  rules.frame_limit = 8;
  EXPECT_TRUE(check_pair(ref, dis, rules).ok());
  rules.skip_distorted = 8;
  const PairCheck check = check_pair(ref, dis, rules);
  EXPECT_EQ(check.code, ErrorCode::kInput);
  EXPECT_TRUE(contains(check.status().message(), "no frame is left after skipping"));
  const Status early = ended_early(dis, 8, ref);
  EXPECT_EQ(early.code(), ErrorCode::kMismatch);
  EXPECT_TRUE(contains(early.message(), "dis.mp4 ended after 8 frames, before ref.mp4"));
  EXPECT_TRUE(contains(early.message(), "--allow-shorter"));
}

TEST_F(InputPairing, NoFrames) {
  ref.info_.frame_count = 5;
  dis.info_.frame_count = 0;
  const PairCheck check = check_pair(ref, dis, {});
  EXPECT_EQ(check.status().code(), ErrorCode::kInput);
  EXPECT_EQ(check.status().message(), "dis.mp4: holds no frame; at least 1 is needed");
}

TEST_F(InputPairing, EveryProblemIsNamed) {
  dis.format_.width = 60;
  ref.info_.frame_rate = Rational{25, 1};
  dis.info_.frame_rate = Rational{50, 1};
  EXPECT_EQ(check_pair(ref, dis, {}).problems.size(), 2U);
}

TEST(InputPairingLibvmaf, SaysWhatLibvmafSays) {
  const VideoFormat a{64, 48, ChromaFormat::k420, 8};
  const VideoFormat b{60, 48, ChromaFormat::k444, 10};
  EXPECT_TRUE(check_pair_like_libvmaf(a, a, false).empty());
  EXPECT_EQ(check_pair_like_libvmaf(a, b, false),
            (std::vector<std::string>{"dimensions do not match: 64x48, 60x48",
                                      "pixel formats do not match: 0, 3",
                                      "bitdepths do not match: 8, 10"}));
  VideoFormat c = a;
  c.bit_depth = 12;
  EXPECT_TRUE(check_pair_like_libvmaf(a, c, true).empty());
  c.chroma = ChromaFormat::k422;
  EXPECT_EQ(check_pair_like_libvmaf(c, a, true),
            std::vector<std::string>{"pixel formats do not match: 2, 0"});
  c = a;
  c.bit_depth = 17;
  EXPECT_EQ(check_pair_like_libvmaf(c, c, false).size(), 2U);
}

}  // namespace
}  // namespace vqx::input
