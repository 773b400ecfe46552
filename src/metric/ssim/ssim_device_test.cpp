// The device code of SSIM on the host executor: the measured words of the CPU path, bit for bit.
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/simd.hpp"
#include "kernel/host_executor.hpp"
#include "metric/ssim/ssim_device.hpp"
#include "support/test_pictures.hpp"

namespace vqx::ssim {
namespace {

using kernel::HostExecutor;
using test::Content;

// A picture's planes as a pipeline uploads them: rows of a multiple of 256 bytes, zero padding.
struct Uploaded {
  std::vector<kernel::Buffer<std::byte, HostExecutor>> buffers;
  kernel::DevicePlane planes[3];

  Uploaded(HostExecutor& executor, const Picture& picture) {
    for (int p = 0; p < picture.format().plane_count(); ++p) {
      const Plane& plane = picture.plane(p);
      const auto bytes =
          static_cast<std::size_t>(plane.width) * picture.format().bytes_per_sample();
      const std::size_t pitch = (bytes + 255) / 256 * 256;
      buffers.push_back(*kernel::Buffer<std::byte, HostExecutor>::allocate(
          executor, pitch * static_cast<std::size_t>(plane.height)));
      for (int y = 0; y < plane.height; ++y)
        std::memcpy(buffers.back().data() + pitch * static_cast<std::size_t>(y),
                    plane.row<std::byte>(y), bytes);
      planes[p] = {buffers.back().data(), static_cast<int>(pitch), plane.width, plane.height};
    }
  }
};

struct SetUp {
  const char* metric;
  std::vector<OptionTexts> sets;
};

// Measures one frame on the CPU and on the host executor and compares every word.
template <template <class> class Device>
void compare(const SetUp& setup, const VideoFormat& format, Content content, bool hardware_fp64) {
  const test::Case test_case{format, content};
  SCOPED_TRACE(std::string(setup.metric) + " on " + test_case.name());
  const MetricInfo* info = find_metric(setup.metric);
  std::vector<Options> options;
  for (const OptionTexts& texts : setup.sets)
    options.push_back(*parse_options(setup.metric, info->options, texts, nullptr));
  const auto metric = info->create({format, false, options});
  ASSERT_TRUE(metric.ok()) << metric.status().message();

  const test::PicturePair pair = test::make_pair(format, content, 0);
  const std::shared_ptr<const Frame> frame =
      std::make_shared<Frame>(0, pair.reference->picture(), pair.distorted->picture());
  const SerialRunner runner;
  ScratchPool pool;
  std::vector<Measured> expected(options.size());
  ASSERT_TRUE(
      (*metric)->measure(MeasureContext(std::span(&frame, 1), runner, pool), expected).ok());

  HostExecutor executor(hardware_fp64);
  const Uploaded reference(executor, pair.reference->picture());
  const Uploaded distorted(executor, pair.distorted->picture());
  kernel::DeviceFrame device_frame;
  for (int p = 0; p < format.plane_count(); ++p) {
    device_frame.reference[p] = reference.planes[p];
    device_frame.distorted[p] = distorted.planes[p];
  }
  std::vector<std::vector<std::byte>> configs;
  for (std::size_t set = 0; set < options.size(); ++set)
    configs.push_back((*metric)->device_config(set));
  const std::vector<kernel::DeviceConfig> views(configs.begin(), configs.end());
  const auto device = Device<HostExecutor>::create(executor, format, views);
  ASSERT_TRUE(device.ok()) << device.status().message();
  std::vector<std::int64_t> raw(static_cast<std::size_t>((*device)->raw_words()));
  ASSERT_TRUE((*device)->enqueue(device_frame, raw.data()).ok());
  std::vector<std::vector<std::uint64_t>> words(options.size());
  ASSERT_TRUE((*device)->collect(raw.data(), words).ok());
  for (std::size_t set = 0; set < options.size(); ++set)
    EXPECT_EQ(words[set], expected[set].words) << "set " << set;
}

constexpr int kDepths[] = {8, 10, 12, 16};
constexpr ChromaFormat kChromas[] = {ChromaFormat::k444, ChromaFormat::k420, ChromaFormat::k422,
                                     ChromaFormat::k400};

TEST(SsimDevice, FloatSsimEqualsTheCpu) {
  std::vector<OptionTexts> sets = {{{"enable_chroma", "true"}}};
  for (int scale = 1; scale <= 10; ++scale) sets.push_back({{"scale", std::to_string(scale)}});
  sets.push_back({{"scale", "3"}, {"enable_chroma", "true"}});
  const int sizes[][2] = {{1, 1},   {9, 40},   {11, 11},   {35, 37},
                          {36, 45}, {131, 66}, {217, 219}, {220, 219}};
  int rotation = 0;
  for (const auto& [width, height] : sizes)
    for (const int depth : kDepths)
      for (const Content content : {Content::kNatural, Content::kNoise, Content::kNearBlack,
                                    Content::kMinAgainstMax, Content::kAllMax})
        compare<SsimDevice>({"float_ssim", sets}, {width, height, kChromas[rotation++ % 4], depth},
                            content, true);
}

// Rows longer than one work-group, and factors that only large pictures ask for.
TEST(SsimDevice, WidePicturesAndLargeFactors) {
  for (const auto& [width, height, depth] :
       {std::tuple{4701, 641, 8}, std::tuple{9001, 385, 16}, std::tuple{4356, 4220, 8}})
    compare<SsimDevice>({"float_ssim", {{}}}, {width, height, ChromaFormat::k400, depth},
                        Content::kNatural, true);
}

TEST(SsimDevice, FloatMsSsimEqualsTheCpu) {
  const std::vector<OptionTexts> sets = {{}, {{"variant", "separable"}}, {{"enable_lcs", "true"}}};
  const int sizes[][2] = {{176, 176}, {179, 181}, {325, 243}};
  int rotation = 0;
  for (const auto& [width, height] : sizes)
    for (const int depth : kDepths)
      for (const Content content : {Content::kNatural, Content::kNoise, Content::kNearBlack})
        compare<MsSsimDevice>({"float_ms_ssim", sets},
                              {width, height, kChromas[rotation++ % 4], depth}, content, true);
  compare<MsSsimDevice>({"float_ms_ssim", {{{"enable_chroma", "true"}}, {}}},
                        {353, 355, ChromaFormat::k420, 10}, Content::kNatural, true);
}

TEST(SsimDevice, SoftwareBinary64GivesTheSameBits) {
  for (const int depth : {8, 16}) {
    compare<SsimDevice>({"float_ssim", {{{"scale", "1"}}, {{"scale", "3"}}}},
                        {131, 66, ChromaFormat::k400, depth}, Content::kNatural, false);
    compare<MsSsimDevice>({"float_ms_ssim", {{}, {{"variant", "separable"}}}},
                          {179, 181, ChromaFormat::k400, depth}, Content::kNearBlack, false);
  }
}

TEST(SsimDevice, LeavesHugeFactorsToTheCpu) {
  const MetricInfo* info = find_metric("float_ssim");
  const Result<Options> options = parse_options("float_ssim", info->options, {}, nullptr);
  const auto factor_128 = info->create({{40000, 32800}, true, std::span(&*options, 1)});
  const auto factor_129 = info->create({{40000, 33000}, true, std::span(&*options, 1)});
  EXPECT_FALSE((*factor_128)->device_config(0).empty());
  EXPECT_TRUE((*factor_129)->device_config(0).empty());
}

}  // namespace
}  // namespace vqx::ssim
