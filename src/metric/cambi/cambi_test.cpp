// CAMBI: numbers that the spec states, option sets over both forms and the device side, refusals,
// heat maps.
#include "metric/cambi/cambi.hpp"

#include <bit>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/simd.hpp"
#include "kernel/host_executor.hpp"
#include "metric/cambi/cambi_device.hpp"
#include "metric/registry.hpp"
#include "support/case_stride.hpp"
#include "support/test_pictures.hpp"

namespace vqx::cambi {
namespace {

using test::Case;
using test::Content;
using test::MetricCase;
using test::RunResult;

Options options_of(const OptionTexts& texts) {
  return parse_options("cambi", kCambiInfo.options, texts, nullptr).value();
}

VideoFormat luma_format(int width, int height, int depth) {
  return {width, height, ChromaFormat::k400, depth};
}

Result<Plan> plan_of(int width, int height, const OptionTexts& texts) {
  return make_plan(luma_format(width, height, 8), options_of(texts));
}

RunResult run(const OptionTexts& options, const Case& test_case, SimdLevel level) {
  EXPECT_TRUE(select_simd_level(level).ok());
  const auto result = test::run_metric(MetricCase{"cambi", options}, test_case, 1, SerialRunner());
  EXPECT_TRUE(select_simd_level(supported_simd_levels().back()).ok());
  EXPECT_TRUE(result.ok()) << result.status().message();
  return result.ok() ? *result : RunResult{};
}

TEST(Cambi, VisibilityLimitsAreThoseOfTheSpec) {
  const OptionTexts v1 = {{"cambi_vis_lum_threshold", "0.06"}, {"max_log_contrast", "3"}};
  const Plan bt1886 = plan_of(480, 270, v1).value();
  EXPECT_EQ(bt1886.distorted.limits, (std::vector<int>{178, 305, 432, 559, 686, 813, 1023, 1023}));
  EXPECT_EQ(bt1886.distorted.dark, 78);
  OptionTexts with_pq = v1;
  with_pq.emplace_back("cambi_eotf", "pq");
  const Plan pq = plan_of(480, 270, with_pq).value();
  EXPECT_EQ(pq.distorted.limits, (std::vector<int>{233, 1023, 1023, 1023, 1023, 1023, 1023, 1023}));
  EXPECT_EQ(pq.distorted.dark, 108);
  EXPECT_EQ(plan_of(480, 270, {}).value().distorted.dark, 0);
}

TEST(Cambi, WindowsAndMaskThresholdsAreThoseOfTheSpec) {
  const std::pair<Size, std::pair<int, int>> known[] = {{{480, 270}, {9, 15}},
                                                        {{1280, 720}, {21, 19}},
                                                        {{1920, 1080}, {33, 21}},
                                                        {{3840, 2160}, {65, 24}}};
  for (const auto& [size, values] : known) {
    const Analysis analysis = plan_of(size.width, size.height, {}).value().distorted;
    EXPECT_EQ(analysis.window, values.first);
    EXPECT_EQ(analysis.mask_threshold(), values.second);
  }
  EXPECT_EQ(plan_of(1920, 1080, {{"cambi_high_res_speedup", "1080"}}).value().distorted.window, 17);
}

TEST(Cambi, ReciprocalsAreThoseOfTheSpec) {
  std::uint64_t sum = 0;
  for (const float value : reciprocals()) sum += std::bit_cast<std::uint32_t>(value);
  EXPECT_EQ(reciprocals().size(), 4226u);
  EXPECT_EQ(sum, 4123354009987u);
}

TEST(Cambi, UpstreamSumAddsTheLargestInItsOrder) {
  EXPECT_EQ(upstream_sum({1, 5, 0, 3, 3, 2}, 3), 11.0);
  EXPECT_EQ(upstream_sum({1, 5, 0, 3, 3, 2}, 6), 14.0);
  EXPECT_EQ(upstream_sum({7}, 1), 7.0);
}

TEST(Cambi, RefusesBeforeAnyFrame) {
  const auto code = [](int width, int height, const OptionTexts& texts) {
    return plan_of(width, height, texts).status().code();
  };
  EXPECT_EQ(code(215, 215, {}), ErrorCode::kUnsupportedSize);
  EXPECT_EQ(code(216, 2, {}), ErrorCode::kOk);
  EXPECT_EQ(code(4096, 2160, {}), ErrorCode::kUnsupportedSize);
  EXPECT_EQ(code(3840, 2252, {}), ErrorCode::kOk);
  EXPECT_EQ(code(3840, 2254, {}), ErrorCode::kUnsupportedSize);
  EXPECT_EQ(code(7680, 4320, {}), ErrorCode::kUnsupportedSize);
  EXPECT_EQ(code(7680, 4320, {{"cambi_high_res_speedup", "2160"}}), ErrorCode::kOk);
  EXPECT_EQ(code(2000, 60, {}), ErrorCode::kUnsupportedSize);
  EXPECT_EQ(code(480, 270, {{"src_width", "960"}, {"src_height", "200"}}),
            ErrorCode::kInvalidArgument);
  EXPECT_EQ(code(480, 270, {{"eotf", "xxx"}}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code(480, 270, {{"eotf", "xxx"}, {"cambi_eotf", "pq"}}), ErrorCode::kOk);
  EXPECT_FALSE(parse_options("cambi", kCambiInfo.options, {{"enc_width", "0"}}, nullptr).ok());
  EXPECT_FALSE(parse_options("cambi", kCambiInfo.options, {{"topk", "1.5"}}, nullptr).ok());
}

TEST(Cambi, NamesItsOutputsAsLibvmafDoes) {
  const Options options = options_of({{"cambi_high_res_speedup", "1080"},
                                      {"cambi_vis_lum_threshold", "0.06"},
                                      {"cambi_max_val", "17"},
                                      {"pooling", "upstream"}});
  EXPECT_EQ(storage_key("Cambi_feature_cambi_score", options.key_suffix()),
            "cambi_hrs_1080_cmxv_17_vlt_0.06");
}

// Option sets and pictures that the case table does not reach.
std::vector<std::pair<OptionTexts, Case>> option_cases() {
  const auto at = [](int width, int height, int depth, Content content) {
    return Case{luma_format(width, height, depth), content};
  };
  return {
      {{{"window_size", "127"}, {"max_log_contrast", "5"}, {"tvi_threshold", "0.0001"}},
       at(641, 363, 10, Content::kBanding)},
      {{{"window_size", "127"}, {"topk", "0.0001"}}, at(1280, 720, 8, Content::kBanding)},
      {{{"window_size", "120"}, {"topk", "0.2"}}, at(1301, 713, 10, Content::kNearBlack)},
      {{{"cambi_high_res_speedup", "1080"}, {"cambi_vis_lum_threshold", "0.06"}},
       at(1921, 1081, 8, Content::kBanding)},
      {{{"full_ref", "true"}, {"enc_width", "320"}, {"enc_height", "240"}, {"cambi_topk", "0.1"}},
       at(480, 270, 10, Content::kBanding)},
      {{{"full_ref", "true"}, {"src_width", "960"}, {"src_height", "541"}},
       at(480, 270, 12, Content::kNatural)},
      {{{"enc_bitdepth", "6"}, {"max_log_contrast", "3"}}, at(331, 241, 16, Content::kBanding)},
      {{{"max_log_contrast", "0"}}, at(320, 240, 8, Content::kBanding)},
      {{{"max_log_contrast", "1"}}, at(320, 240, 10, Content::kBanding)},
      {{{"cambi_eotf", "pq"}, {"max_log_contrast", "4"}}, at(320, 240, 16, Content::kAllMax)},
      {{{"cambi_vis_lum_threshold", "300"}}, at(320, 240, 10, Content::kNatural)},
      {{}, at(216, 2, 8, Content::kBanding)},
      {{}, at(3, 217, 10, Content::kBanding)},
      {{{"pooling", "upstream"}, {"topk", "0.3"}}, at(325, 243, 10, Content::kBanding)},
  };
}

TEST(Cambi, EveryOptionSetEqualsTheReference) {
  int positive = 0;
  for (const auto& [options, test_case] : option_cases()) {
    const RunResult expected = run(options, test_case, SimdLevel::kScalar);
    for (const double score : {std::bit_cast<double>(expected.score_bits.at(0))})
      positive += score > 0 ? 1 : 0;
    for (const SimdLevel level : supported_simd_levels())
      EXPECT_EQ(expected, run(options, test_case, level))
          << test_case.name() << " at " << simd_level_name(level);
  }
  EXPECT_GE(positive, 8);  // the comparison is not one of zeros
}

TEST(Cambi, UpstreamPoolingIsExactOnSmallPictures) {
  const Case test_case{luma_format(325, 243, 10), Content::kBanding};
  const RunResult exact = run({}, test_case, SimdLevel::kScalar);
  const RunResult upstream = run({{"pooling", "upstream"}}, test_case, SimdLevel::kScalar);
  EXPECT_EQ(exact.score_bits, upstream.score_bits);
  EXPECT_NE(exact.measured, upstream.measured);  // another unit
}

TEST(Cambi, RefusesSamplesAboveTheDepth) {
  const VideoFormat format = luma_format(240, 220, 10);
  const test::PicturePair pair = test::make_pair(format, Content::kNatural, 0);
  pair.distorted->set(0, 7, 5, 1030);
  pair.distorted->set(0, 3, 6, 2000);
  const Options options = options_of({});
  const auto metric = kCambiInfo.create({format, true, std::span(&options, 1)}).value();
  const auto frame =
      std::make_shared<const Frame>(0, pair.reference->picture(), pair.distorted->picture());
  ScratchPool scratch;
  const SerialRunner runner;
  const MeasureContext context(std::span(&frame, 1), runner, scratch);
  for (const SimdLevel level : supported_simd_levels()) {
    ASSERT_TRUE(select_simd_level(level).ok());
    Measured measured;
    const Status status = metric->measure(context, std::span(&measured, 1));
    EXPECT_EQ(status.code(), ErrorCode::kSampleRange);
    EXPECT_NE(status.message().find("1030 at (7, 5) of the distorted"), std::string::npos)
        << status.message();
  }
}

// ---- heat maps ----------------------------------------------------------------------------------

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Writes the heat maps of banding frames, measured in the order given, and returns those of
// scale 1.
std::string heatmap_of(const std::vector<int>& frames, SimdLevel level) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "cambi_maps" / "deeper";
  std::filesystem::remove_all(folder);
  const VideoFormat format = luma_format(241, 219, 8);
  const Options options = options_of({{"heatmaps_path", folder.string()}});
  EXPECT_TRUE(select_simd_level(level).ok());
  {
    const auto metric = kCambiInfo.create({format, true, std::span(&options, 1)}).value();
    ScratchPool scratch;
    const SerialRunner runner;
    for (const int index : frames) {
      const test::PicturePair pair = test::make_pair(format, Content::kBanding, index);
      const auto frame = std::make_shared<const Frame>(index, pair.reference->picture(),
                                                       pair.distorted->picture());
      Measured measured;
      EXPECT_TRUE(metric
                      ->measure(MeasureContext(std::span(&frame, 1), runner, scratch),
                                std::span(&measured, 1))
                      .ok());
    }
  }
  EXPECT_TRUE(select_simd_level(supported_simd_levels().back()).ok());
  EXPECT_EQ(read_file(folder / "cambi_heatmap_scale_0_241x219_16b.gray").size(),
            frames.size() * 241 * 219 * 2);
  EXPECT_EQ(read_file(folder / "cambi_heatmap_scale_4_16x14_16b.gray").size(),
            frames.size() * 16 * 14 * 2);
  return read_file(folder / "cambi_heatmap_scale_1_121x110_16b.gray");
}

TEST(Cambi, HeatMapsKeepTheOrderOfFrames) {
  const SimdLevel best = supported_simd_levels().back();
  const std::string in_order = heatmap_of({0, 1, 2}, SimdLevel::kScalar);
  EXPECT_NE(in_order.find_first_not_of('\0'), std::string::npos);
  EXPECT_EQ(in_order, heatmap_of({2, 0, 1}, best));
  // Frames that are skipped leave no gap.
  const std::size_t frame = in_order.size() / 3;
  EXPECT_EQ(heatmap_of({2, 0}, best), in_order.substr(0, frame) + in_order.substr(2 * frame));
}

TEST(Cambi, RefusesAHeatMapFolderThatCannotBe) {
  const Options options = options_of({{"heatmaps_path", "/proc/nothing/here"}});
  const auto metric = kCambiInfo.create({luma_format(320, 240, 8), true, std::span(&options, 1)});
  ASSERT_FALSE(metric.ok());
  EXPECT_EQ(metric.status().code(), ErrorCode::kInvalidArgument);
}

// ---- device -------------------------------------------------------------------------------------

kernel::DevicePlane device_plane(const Picture& picture, std::vector<std::byte>& memory) {
  const Plane& plane = picture.plane(0);
  const auto row_bytes =
      static_cast<std::size_t>(plane.width) * picture.format().bytes_per_sample();
  const std::size_t pitch = (row_bytes + 255) / 256 * 256;
  memory.assign(pitch * static_cast<std::size_t>(plane.height), std::byte{});
  for (int y = 0; y < plane.height; ++y)
    std::memcpy(memory.data() + static_cast<std::size_t>(y) * pitch, plane.row<std::byte>(y),
                row_bytes);
  return {memory.data(), static_cast<int>(pitch), plane.width, plane.height};
}

// The words that the device side, run by the host executor, measures of frame 0.
std::vector<std::uint64_t> device_words(const OptionTexts& options, const Case& test_case) {
  const Plan plan = make_plan(test_case.format, options_of(options)).value();
  const DeviceSet set = device_set(plan);
  const kernel::DeviceConfig config(reinterpret_cast<const std::byte*>(&set), sizeof(set));
  kernel::HostExecutor executor;
  const auto metric =
      CambiDevice<kernel::HostExecutor>::create(executor, test_case.format, std::span(&config, 1))
          .value();
  const test::PicturePair pair = test::make_pair(test_case.format, test_case.content, 0);
  std::vector<std::byte> memory[2];
  kernel::DeviceFrame frame;
  frame.reference[0] = device_plane(pair.reference->picture(), memory[0]);
  frame.distorted[0] = device_plane(pair.distorted->picture(), memory[1]);
  std::vector<std::vector<std::uint64_t>> words(1);
  for (int repeat = 0; repeat < 2; ++repeat) {  // nothing may be left over from the frame before
    std::vector<std::int64_t> raw(static_cast<std::size_t>(metric->raw_words()));
    EXPECT_TRUE(metric->enqueue(frame, raw.data()).ok());
    EXPECT_TRUE(metric->collect(raw.data(), words).ok());
  }
  return words[0];
}

TEST(Cambi, DeviceSideEqualsTheCpu) {
  std::vector<std::pair<OptionTexts, Case>> cases = option_cases();
  const std::vector<Case> table = test::case_table(325, 243);
  for (std::size_t i = 0; i < table.size(); i += static_cast<std::size_t>(test::case_stride()))
    cases.emplace_back(OptionTexts{{"topk", "0.3"}}, table[i]);
  for (const auto& [options, test_case] : cases) {
    if (options_of(options).text("pooling") == "upstream") continue;
    const RunResult expected = run(options, test_case, supported_simd_levels().back());
    EXPECT_EQ(expected.measured.at(0).words, device_words(options, test_case)) << test_case.name();
  }
}

TEST(Cambi, DeviceSideRefusesSamplesAboveTheDepth) {
  const VideoFormat format = luma_format(240, 220, 12);
  const test::PicturePair pair = test::make_pair(format, Content::kNatural, 0);
  pair.distorted->set(0, 239, 5, 4096);
  pair.distorted->set(0, 3, 6, 65535);
  const DeviceSet set = device_set(make_plan(format, options_of({})).value());
  const kernel::DeviceConfig config(reinterpret_cast<const std::byte*>(&set), sizeof(set));
  kernel::HostExecutor executor;
  const auto metric =
      CambiDevice<kernel::HostExecutor>::create(executor, format, std::span(&config, 1)).value();
  std::vector<std::byte> memory;
  kernel::DeviceFrame frame;
  frame.distorted[0] = device_plane(pair.distorted->picture(), memory);
  std::vector<std::int64_t> raw(static_cast<std::size_t>(metric->raw_words()));
  ASSERT_TRUE(metric->enqueue(frame, raw.data()).ok());
  std::vector<std::vector<std::uint64_t>> words(1);
  EXPECT_EQ(metric->collect(raw.data(), words).message(),
            check_samples(pair.distorted->picture().plane(0), 12, Side::kDistorted).message());
}

}  // namespace
}  // namespace vqx::cambi
