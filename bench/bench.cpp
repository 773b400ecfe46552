// Times every metric per frame, and whole sessions, on synthetic pictures in memory.
//   vqx_bench                                     all
//   vqx_bench --benchmark_filter=float_ssim       some
//   VQX_SIMD=avx2 vqx_bench ...                   at another SIMD level
#include <benchmark/benchmark.h>

#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "base/simd.hpp"
#include "metric/registry.hpp"
#include "verify/cases.hpp"
#include "vqx/session.hpp"

namespace {

using vqx::VideoFormat;

struct Size {
  int width, height;
};
constexpr Size kSizes[] = {{1920, 1080}, {3840, 2160}};
constexpr int kDepths[] = {8, 10};

// Two consecutive pairs of a format, made once.
const std::vector<vqx::verify::PicturePair>& pictures(const VideoFormat& format) {
  static std::map<std::tuple<int, int>, std::vector<vqx::verify::PicturePair>> made;
  auto& pairs = made[{format.width, format.bit_depth}];
  for (int i = static_cast<int>(pairs.size()); i < 2; ++i)
    pairs.push_back(vqx::verify::make_pair(format, vqx::verify::Content::kNatural, i, 0));
  return pairs;
}

void measure(benchmark::State& state, const vqx::MetricInfo* info, const VideoFormat& format) {
  const auto options = vqx::parse_options(info->name, info->options, {}, nullptr);
  const auto metric = info->create({format, true, std::span(&options.value(), 1)});
  if (!metric.ok()) return state.SkipWithError(metric.status().message().c_str());
  const auto& pairs = pictures(format);
  const vqx::SerialRunner runner;
  vqx::ScratchPool scratch;
  vqx::Measured out;
  for (auto _ : state) {
    // A new frame each time, as in a run: what frames derive is part of the cost.
    const std::shared_ptr<const vqx::Frame> frames[] = {
        std::make_shared<vqx::Frame>(0, pairs[0].reference->picture(),
                                     pairs[0].distorted->picture()),
        std::make_shared<vqx::Frame>(1, pairs[1].reference->picture(),
                                     pairs[1].distorted->picture())};
    const vqx::MeasureContext context(frames, runner, scratch);
    if (!metric.value()->measure(context, std::span(&out, 1)).ok())
      return state.SkipWithError("measure failed");
    benchmark::DoNotOptimize(out.words.data());
  }
}

void session(benchmark::State& state, const vqx::SessionOptions& options,
             const VideoFormat& format) {
  constexpr int kFrames = 4;
  const auto& pairs = pictures(format);
  for (auto _ : state) {
    auto run = vqx::Session::create(format, options);
    if (!run.ok()) return state.SkipWithError(run.status().message().c_str());
    for (int i = 0; i < kFrames; ++i) {
      const auto& pair = pairs[static_cast<std::size_t>(i % 2)];
      if (!run.value()->push(pair.reference->picture(), pair.distorted->picture()).ok())
        return state.SkipWithError("push failed");
    }
    if (!run.value()->finish().ok()) return state.SkipWithError("finish failed");
  }
  state.counters["frames/s"] = benchmark::Counter(static_cast<double>(state.iterations()) * kFrames,
                                                  benchmark::Counter::kIsRate);
}

void register_all() {
  for (const Size& size : kSizes)
    for (const int depth : kDepths) {
      const VideoFormat format{size.width, size.height, vqx::ChromaFormat::k420, depth};
      const std::string suffix = "/" + std::to_string(size.width) + "x" +
                                 std::to_string(size.height) + "/" + std::to_string(depth) + "bit";
      for (const vqx::MetricInfo* info : vqx::metrics())
        benchmark::RegisterBenchmark(
            ("frame/" + std::string(info->name) + suffix).c_str(),
            [info, format](benchmark::State& state) { measure(state, info, format); })
            ->Unit(benchmark::kMillisecond);
      for (const int threads : {0, 2}) {
        vqx::SessionOptions options;
        options.models.push_back({.version = "vmaf_v0.6.1"});
        options.threads = threads;
        benchmark::RegisterBenchmark(
            ("session/vmaf_v0.6.1/threads" + std::to_string(threads) + suffix).c_str(),
            [options, format](benchmark::State& state) { session(state, options, format); })
            ->Unit(benchmark::kMillisecond)
            ->UseRealTime();
      }
    }
}

}  // namespace

int main(int argc, char** argv) {
  const vqx::Status simd = vqx::select_simd_level_from_environment();
  if (!simd.ok()) {
    std::fprintf(stderr, "%s\n", simd.message().c_str());
    return 1;
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  register_all();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
