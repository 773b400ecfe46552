// speed_chroma and speed_temporal against values of their executable specification: random,
// textured and extreme contents, planes without information, every resampling, at every SIMD level.
#include "metric/speed/speed.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

#include "base/simd.hpp"
#include "verify/cases.hpp"

namespace vqx::speed {
namespace {

using verify::GuardedPicture;

// A picture's sample; `f` is even for references and odd for distorted pictures.
using Pattern = std::uint32_t (*)(std::uint32_t x, std::uint32_t y, std::uint32_t plane,
                                  std::uint32_t f, int bits);

std::uint32_t hash(std::uint32_t x, std::uint32_t y, std::uint32_t plane, std::uint32_t f) {
  std::uint32_t v = x * 374761393U + y * 668265263U + plane * 2246822519U + f * 3266489917U;
  v ^= v >> 13;
  v *= 1274126177U;
  return v ^ v >> 16;
}
std::uint32_t top(int bits) {
  return (1U << bits) - 1;
}

std::uint32_t noise(std::uint32_t x, std::uint32_t y, std::uint32_t plane, std::uint32_t f,
                    int bits) {
  return hash(x, y, plane, f) & top(bits);
}
// Tiles as large as the decimation at random levels, with ripple; coarser levels when distorted.
std::uint32_t texture(std::uint32_t x, std::uint32_t y, std::uint32_t plane, std::uint32_t f,
                      int bits) {
  const std::uint32_t level = hash(x / 16, y / 16, plane, f / 2) & (f % 2 == 0 ? 255U : 240U);
  const std::uint32_t ripple = (x * 3 + y * 5 + f) % 7;
  return std::min(top(bits), ((level * 3 / 4 + 32 + ripple) << (bits - 8)) +
                                 (hash(x, y, plane, f) & top(bits - 8)));
}
std::uint32_t checker(std::uint32_t x, std::uint32_t y, std::uint32_t /*plane*/, std::uint32_t f,
                      int bits) {
  return (x / 16 + y / 16 + f) % 2 == 1 ? top(bits) : 0;
}
std::uint32_t contrast(std::uint32_t x, std::uint32_t y, std::uint32_t plane, std::uint32_t f,
                       int bits) {
  return hash(x / 16, y / 16, plane, f) % 2 == 1 ? top(bits) : 0;
}
std::uint32_t dots(std::uint32_t x, std::uint32_t y, std::uint32_t plane, std::uint32_t f,
                   int bits) {
  const std::uint32_t v = hash(x, y, plane, f);
  return v % 97 == 0 ? top(bits) : v % 2;
}
std::uint32_t flat(std::uint32_t /*x*/, std::uint32_t /*y*/, std::uint32_t /*plane*/,
                   std::uint32_t /*f*/, int bits) {
  return 1U << (bits - 1);
}

struct Expected {
  const char* metric;
  Pattern reference;
  Pattern distorted;
  VideoFormat format;
  OptionTexts options;
  std::vector<double> scores;
};

std::vector<Expected> expectations() {
  return {
      {"speed_chroma",
       noise,
       noise,
       {163, 161, ChromaFormat::k444, 8},
       {},
       {49.25321578979492, 24.464061737060547, 36.858638763427734}},
      {"speed_chroma",
       texture,
       texture,
       {163, 161, ChromaFormat::k444, 8},
       {},
       {2.823589324951172, 2.63543701171875, 2.729513168334961}},
      {"speed_chroma",
       texture,
       texture,
       {340, 213, ChromaFormat::k422, 10},
       {{"speed_nn_floor", "0.1"},
        {"speed_sigma_nn", "0.19"},
        {"speed_weight_var_mode", "5"},
        {"speed_max_val", "45"}},
       {1.5674667358398438, 1.0693511962890625, 1.3184089660644531}},
      {"speed_chroma",
       texture,
       noise,
       {200, 171, ChromaFormat::k444, 12},
       {{"speed_weight_var_mode", "3"}, {"speed_kernelscale", "0.5"}},
       {20.676891326904297, 21.14114761352539, 20.909019470214844}},
      {"speed_chroma",
       contrast,
       contrast,
       {331, 323, ChromaFormat::k420, 8},
       {},
       {28.995132446289062, 47.32530975341797, 38.160221099853516}},
      {"speed_chroma",
       contrast,
       texture,
       {326, 322, ChromaFormat::k420, 16},
       {{"speed_weight_var_mode", "6"}},
       {66.94837951660156, 83.50592041015625, 75.2271499633789}},
      {"speed_chroma", checker, checker, {163, 161, ChromaFormat::k444, 8}, {}, {0.0, 0.0, 0.0}},
      {"speed_chroma",
       dots,
       noise,
       {176, 161, ChromaFormat::k444, 8},
       {{"speed_weight_var_mode", "4"}},
       {89.18085479736328, 69.13954162597656, 79.16020202636719}},
      {"speed_chroma", flat, texture, {176, 161, ChromaFormat::k444, 8}, {}, {0.0, 0.0, 0.0}},
      {"speed_chroma", texture, flat, {176, 161, ChromaFormat::k444, 10}, {}, {0.0, 0.0, 0.0}},
      {"speed_chroma", flat, flat, {160, 160, ChromaFormat::k444, 8}, {}, {0.0, 0.0, 0.0}},
      {"speed_chroma",
       texture,
       texture,
       {330, 300, ChromaFormat::k444, 8},
       {{"speed_prescale", "0.6"}, {"speed_prescale_method", "bilinear"}},
       {5.7197723388671875, 4.912559509277344, 5.316165924072266}},
      {"speed_chroma",
       texture,
       texture,
       {330, 300, ChromaFormat::k444, 10},
       {{"speed_prescale", "0.7"},
        {"speed_prescale_method", "bicubic"},
        {"speed_kernelscale", "2.4"}},
       {3.4696083068847656, 3.4244918823242188, 3.447050094604492}},
      {"speed_chroma",
       texture,
       texture,
       {150, 130, ChromaFormat::k444, 8},
       {{"speed_prescale", "1.25"}, {"speed_prescale_method", "lanczos4"}},
       {7.342292785644531, 7.421630859375, 7.381961822509766}},
      {"speed_chroma",
       texture,
       texture,
       {330, 300, ChromaFormat::k444, 8},
       {{"speed_prescale", "0.5"}},
       {0.0, 0.0, 0.0}},
      {"speed_temporal",
       texture,
       texture,
       {325, 243, ChromaFormat::k420, 8},
       {},
       {5.671366214752197}},
      {"speed_temporal",
       noise,
       noise,
       {176, 161, ChromaFormat::k444, 10},
       {{"speed_use_ref_diff", "true"}},
       {37.32203674316406}},
      {"speed_temporal",
       contrast,
       contrast,
       {176, 161, ChromaFormat::k444, 16},
       {},
       {74.42012023925781}},
      {"speed_temporal",
       dots,
       texture,
       {176, 161, ChromaFormat::k444, 12},
       {{"speed_nn_floor", "0.5"}, {"speed_sigma_nn", "0.1"}},
       {131.1191864013672}},
      {"speed_temporal", flat, flat, {160, 160, ChromaFormat::k444, 8}, {}, {0.0}},
  };
}

GuardedPicture picture(Pattern pattern, const VideoFormat& format, std::uint32_t f) {
  GuardedPicture out(format, 3, 0xC3);
  for (int plane = 0; plane < 3; ++plane)
    for (int y = 0; y < format.plane_height(plane); ++y)
      for (int x = 0; x < format.plane_width(plane); ++x)
        out.set(
            plane, x, y,
            static_cast<int>(pattern(static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y),
                                     static_cast<std::uint32_t>(plane), f, format.bit_depth)));
  return out;
}

// Scores of the last frame: the first one of speed_chroma, the second one of speed_temporal.
std::vector<double> scores(const Expected& e) {
  const MetricInfo* info = find_metric(e.metric);
  const Options options = parse_options(e.metric, info->options, e.options, nullptr).value();
  const auto metric = info->create({e.format, true, std::span(&options, 1)}).value();
  const int frames = info == &kSpeedTemporalInfo ? 2 : 1;
  std::vector<GuardedPicture> pictures;
  for (int i = 0; i < frames; ++i) {
    const auto f = static_cast<std::uint32_t>(2 * i);
    pictures.push_back(picture(e.reference, e.format, f));
    pictures.push_back(picture(e.distorted, e.format, f + 1));
  }
  std::vector<std::shared_ptr<const Frame>> sequence;
  for (std::size_t at = 0; at < pictures.size(); at += 2)
    sequence.push_back(std::make_shared<Frame>(static_cast<int>(at / 2), pictures[at].picture(),
                                               pictures[at + 1].picture()));
  const SerialRunner runner;
  ScratchPool scratch;
  const MeasureContext context(sequence, runner, scratch);
  Measured measured;
  EXPECT_TRUE(metric->measure(context, std::span(&measured, 1)).ok());
  for (const GuardedPicture& p : pictures) EXPECT_TRUE(p.guards_intact());
  std::vector<double> out(metric->outputs(0).size());
  const MeasuredWindow window(frames - 1,
                              [&](int i) { return i == frames - 1 ? &measured : nullptr; });
  EXPECT_TRUE(metric->finish_frame(0, window, out).ok());
  return out;
}

TEST(Speed, ScoresOfTheSpecification) {
  for (const SimdLevel level : supported_simd_levels()) {
    ASSERT_TRUE(select_simd_level(level).ok());
    std::size_t row = 0;
    for (const Expected& e : expectations())
      EXPECT_EQ(e.scores, scores(e)) << simd_level_name(level) << ", row " << row++;
  }
  ASSERT_TRUE(select_simd_level(supported_simd_levels().back()).ok());
}

TEST(Speed, PlanesWithoutABlockAreRefusedBeforeAnyFrame) {
  const auto create = [](const char* metric, int width, int height, const OptionTexts& texts) {
    const MetricInfo* info = find_metric(metric);
    const Options options = parse_options(metric, info->options, texts, nullptr).value();
    return info->create({{width, height, ChromaFormat::k420, 8}, true, std::span(&options, 1)})
        .status();
  };
  EXPECT_TRUE(create("speed_chroma", 160, 160, {}).ok());
  const Status small = create("speed_chroma", 158, 160, {});
  EXPECT_EQ(small.code(), ErrorCode::kUnsupportedSize);
  EXPECT_NE(small.message().find("79x80"), std::string::npos) << small.message();
  EXPECT_TRUE(create("speed_temporal", 80, 80, {}).ok());
  EXPECT_EQ(create("speed_temporal", 80, 79, {}).code(), ErrorCode::kUnsupportedSize);
  EXPECT_EQ(create("speed_temporal", 100, 100, {{"speed_prescale", "0.5"}}).code(),
            ErrorCode::kUnsupportedSize);
  EXPECT_EQ(create("speed_temporal", 100, 100, {{"speed_kernelscale", "0.9"}}).code(),
            ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace vqx::speed
