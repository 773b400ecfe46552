// The engine, driven with a small metric of its own whose scores tell which frames were measured
// and which neighbours its finish step saw.
#include "engine/engine.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <chrono>
#include <limits>
#include <thread>

#include "verify/cases.hpp"

namespace vqx {
namespace {

constexpr VideoFormat kFormat{16, 8, ChromaFormat::k420, 8};

// measured = first luma sample + 1000 * (that of the frame before); score = sum over the window.
class ProbeMetric final : public Metric {
 public:
  Needs needs(std::size_t) const override { return {1, 1, 2, false}; }
  std::vector<Output> outputs(std::size_t) const override {
    return {{"probe", false, Appearance::kFirstFrame}, {"probe_late", false, Appearance::kFlush}};
  }
  Status measure(const MeasureContext& context, std::span<Measured> out) const override {
    const std::uint64_t here = context.frame().reference().plane(0).row<std::uint8_t>(0)[0];
    if (here == 99) return Status(ErrorCode::kSampleRange, "sample 99");
    const Frame* before = context.earlier(1);
    const std::uint64_t earlier =
        before == nullptr ? 0 : before->reference().plane(0).row<std::uint8_t>(0)[0];
    // Later frames finish first: order must not show.
    std::this_thread::sleep_for(std::chrono::microseconds(200 * (7 - here % 8)));
    out[0].words = {here + 1000 * earlier};
    return {};
  }
  Status finish_frame(std::size_t, const MeasuredWindow& window,
                      std::span<double> scores) const override {
    double sum = 0;
    double weight = 1;
    for (int offset = -1; offset <= 2; ++offset, weight *= 3)
      if (const Measured* measured = window.at(offset))
        sum += weight * static_cast<double>(measured->words[0]);
    scores[0] = sum;
    scores[1] = -sum;
    return {};
  }
  void accumulate(std::size_t, const Measured& frame, Measured& total) const override {
    total.words.resize(1);
    total.words[0] = total.words[0] * 31 + frame.words[0];
  }
  std::vector<std::pair<std::string, double>> aggregates(std::size_t,
                                                         const Measured& total) const override {
    return {{"probe_total", static_cast<double>(total.words.empty() ? 0 : total.words[0] % 65536)}};
  }
};

const MetricInfo kProbeInfo{"probe", "", {}, {}, nullptr};

Plan probe_plan() {
  Plan plan;
  plan.format = kFormat;
  plan.instances.push_back(Instance{
      &kProbeInfo, Options({}, {}), 0, 0, ProbeMetric().outputs(0), {"probe", "probe_late"}});
  plan.groups.push_back(
      Group{&kProbeInfo, std::make_unique<ProbeMetric>(), {0}, ProbeMetric().needs(0)});
  return plan;
}

Picture picture_of(int value) {
  Picture picture = Picture::allocate(kFormat).value();
  picture.mutable_row<std::uint8_t>(0, 0)[0] = static_cast<std::uint8_t>(value);
  return picture;
}

std::unique_ptr<Engine> probe_engine(const EngineOptions& options) {
  return std::move(Engine::create(probe_plan(), {}, options)).value();
}

Status push_frames(Engine& engine, int end) {
  for (int i = engine.start(); i < end && engine.wants_more(); ++i)
    VQX_RETURN_IF_ERROR(engine.push(picture_of(i), picture_of(i)));
  return {};
}

TEST(Engine, ScoresAreTheSameForAnyThreadsAndFramesInFlight) {
  auto serial = probe_engine({});
  ASSERT_TRUE(push_frames(*serial, 20).ok());
  ASSERT_TRUE(serial->finish().ok());
  ASSERT_EQ(serial->scores().frame_count(), 20);
  for (const int threads : {1, 2, 5})
    for (const int in_flight : {0, 1, 3, 9}) {
      EngineOptions options;
      options.threads = threads;
      options.frames_in_flight = in_flight;
      auto parallel = probe_engine(options);
      ASSERT_TRUE(push_frames(*parallel, 20).ok());
      ASSERT_TRUE(parallel->finish().ok());
      ASSERT_EQ(parallel->scores().series().size(), 2U);
      EXPECT_EQ(parallel->scores().series()[0].values, serial->scores().series()[0].values);
      EXPECT_EQ(parallel->scores().aggregates(), serial->scores().aggregates());
    }
}

TEST(Engine, WindowEndsWithTheSequence) {
  auto engine = probe_engine({});
  ASSERT_TRUE(push_frames(*engine, 2).ok());
  ASSERT_TRUE(engine->finish().ok());
  // Frame 0: nothing before, itself (0), frame 1 (1 + 1000 * 0), nothing after it.
  EXPECT_EQ(engine->scores().series()[0].values[0], 9.0 * 1);
  EXPECT_EQ(engine->scores().series()[0].values[1], 3.0 * 1);
}

TEST(Engine, EverySliceHasTheScoresOfTheUncutRun) {
  constexpr int kFrames = 9;
  auto whole = probe_engine({});
  ASSERT_TRUE(push_frames(*whole, kFrames).ok());
  ASSERT_TRUE(whole->finish().ok());
  for (int first = 0; first < kFrames; ++first)
    for (int count = 1; first + count <= kFrames; ++count) {
      EngineOptions options;
      options.first = first;
      options.count = count;
      options.threads = 2;
      auto slice = probe_engine(options);
      ASSERT_TRUE(push_frames(*slice, kFrames).ok());
      ASSERT_TRUE(slice->finish().ok());
      ASSERT_EQ(slice->scores().frame_count(), count);
      for (int i = 0; i < count; ++i)
        EXPECT_EQ(slice->scores().series()[0].values[static_cast<std::size_t>(i)],
                  whole->scores().series()[0].values[static_cast<std::size_t>(first + i)])
            << "frame " << first + i << " of a slice from " << first;
    }
}

TEST(Engine, CountMayExceedAnyVideo) {
  EngineOptions options;
  options.first = 2;
  options.count = std::numeric_limits<int>::max();
  auto engine = probe_engine(options);
  ASSERT_TRUE(push_frames(*engine, 5).ok());
  ASSERT_TRUE(engine->finish().ok());
  EXPECT_EQ(engine->scores().frame_count(), 3);
  options.first = std::numeric_limits<int>::max();
  EXPECT_EQ(Engine::create(probe_plan(), {}, options).status().code(), ErrorCode::kInvalidArgument);
}

TEST(Engine, ScoreIsThereOnceItsNeighboursAre) {
  auto engine = probe_engine({});
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(engine->push(picture_of(i), picture_of(i)).ok());
  EXPECT_TRUE(engine->score("probe", 0).ok());
  EXPECT_FALSE(engine->score("probe", 1).ok());
  EXPECT_EQ(engine->score("no such key", 0).status().code(), ErrorCode::kUnknownName);
  ASSERT_TRUE(engine->finish().ok());
  EXPECT_TRUE(engine->score("probe", 2).ok());
}

TEST(Engine, FirstFailingFrameIsNamedAndFinishedOnesStay) {
  for (const int threads : {0, 3}) {
    EngineOptions options;
    options.threads = threads;
    auto engine = probe_engine(options);
    Status status;
    for (int i = 0; i < 12 && status.ok(); ++i)
      status = engine->push(picture_of(i >= 6 ? 99 : i), picture_of(i));
    if (status.ok()) status = engine->finish();
    EXPECT_EQ(status.code(), ErrorCode::kSampleRange);
    EXPECT_NE(status.message().find("frame 6: sample 99"), std::string::npos) << status.message();
    // The last frames before the failure miss their neighbours and stay unfinished.
    engine->drain();
    EXPECT_LE(engine->finished_frames(), 4);
    EXPECT_EQ(engine->push(picture_of(0), picture_of(0)).code(), ErrorCode::kSampleRange);
  }
}

TEST(Engine, CancelEndsTheRun) {
  EngineOptions options;
  options.threads = 2;
  auto engine = probe_engine(options);
  ASSERT_TRUE(push_frames(*engine, 3).ok());
  engine->cancel();
  EXPECT_EQ(engine->finish().code(), ErrorCode::kInterrupted);
}

TEST(Engine, AnotherFormatIsRefused) {
  auto engine = probe_engine({});
  VideoFormat other = kFormat;
  other.width = 18;
  const Picture picture = Picture::allocate(other).value();
  EXPECT_EQ(engine->push(picture, picture).code(), ErrorCode::kMismatch);
}

TEST(Engine, SubsamplingReportsMultiplesOnly) {
  EngineOptions options;
  options.subsample = 3;
  auto engine = probe_engine(options);
  ASSERT_TRUE(push_frames(*engine, 8).ok());
  ASSERT_TRUE(engine->finish().ok());
  const Series& series = engine->scores().series()[0];
  for (int i = 0; i < 8; ++i)
    EXPECT_EQ(series.at(static_cast<std::size_t>(i)).has_value(), i % 3 == 0) << i;
  EXPECT_EQ(engine->scores().frame_count(), 8);
  EXPECT_TRUE(engine->scores().pooled(series).has_value());
}

// Every metric of the registry through the engine: threads and cuts never show.
class EngineMetrics : public testing::TestWithParam<verify::MetricCase> {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(EngineMetrics);

std::vector<std::vector<double>> run_engine(const verify::MetricCase& metric,
                                            const EngineOptions& options, int frames) {
  VideoFormat format{360, 250, ChromaFormat::k420, metric.max_depth >= 10 ? 10 : 8};
  PlanBuilder builder(false);
  EXPECT_TRUE(builder.add(metric.metric, metric.options).ok());
  Result<Plan> plan = std::move(builder).build(format);
  EXPECT_TRUE(plan.ok()) << plan.status().message();
  std::vector<verify::PicturePair> pairs;  // outlive the engine, which borrows them
  auto engine = std::move(Engine::create(std::move(plan).value(), {}, options)).value();
  for (int i = engine->start(); i < frames && engine->wants_more(); ++i) {
    pairs.push_back(verify::make_pair(format, verify::Content::kNatural, i));
    EXPECT_TRUE(
        engine->push(pairs.back().reference->picture(), pairs.back().distorted->picture()).ok());
  }
  EXPECT_TRUE(engine->finish().ok());
  std::vector<std::vector<double>> values;
  for (const Series& series : engine->scores().series()) values.push_back(series.values);
  return values;
}

TEST_P(EngineMetrics, ThreadsDoNotShow) {
  const auto serial = run_engine(GetParam(), {}, 4);
  ASSERT_FALSE(serial.empty());
  for (const int threads : {1, 2, 8}) {
    EngineOptions options;
    options.threads = threads;
    const auto parallel = run_engine(GetParam(), options, 4);
    ASSERT_EQ(serial.size(), parallel.size());
    for (std::size_t s = 0; s < serial.size(); ++s)
      for (std::size_t i = 0; i < serial[s].size(); ++i)
        EXPECT_EQ(std::bit_cast<std::uint64_t>(serial[s][i]),
                  std::bit_cast<std::uint64_t>(parallel[s][i]));
  }
}

TEST_P(EngineMetrics, CutsDoNotShow) {
  constexpr int kFrames = 6;
  const auto whole = run_engine(GetParam(), {}, kFrames);
  for (int cut = 1; cut < kFrames; ++cut) {
    EngineOptions head;
    head.count = cut;
    EngineOptions tail;
    tail.first = cut;
    const auto first = run_engine(GetParam(), head, kFrames);
    const auto second = run_engine(GetParam(), tail, kFrames);
    ASSERT_EQ(first.size(), whole.size());
    for (std::size_t s = 0; s < whole.size(); ++s) {
      std::vector<double> merged = first[s];
      merged.insert(merged.end(), second[s].begin(), second[s].end());
      ASSERT_EQ(merged.size(), whole[s].size());
      for (std::size_t i = 0; i < merged.size(); ++i)
        EXPECT_EQ(std::bit_cast<std::uint64_t>(merged[i]),
                  std::bit_cast<std::uint64_t>(whole[s][i]))
            << "series " << s << ", frame " << i << ", cut at " << cut;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Table, EngineMetrics, testing::ValuesIn(verify::metric_cases()),
                         [](const testing::TestParamInfo<verify::MetricCase>& row) {
                           return row.param.metric + "_" + std::to_string(row.index);
                         });

}  // namespace
}  // namespace vqx
