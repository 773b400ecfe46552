// Backends: loading, self-test, pipelines; the parity gate on the host backend.
#include "backend/backend.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "backend/device_run.hpp"
#include "backend/pinned_memory.hpp"
#include "input/picture_pool.hpp"
#include "kernel/host_executor.hpp"
#include "kernel/probes.hpp"
#include "metric/registry.hpp"
#include "support/case_stride.hpp"
#include "verify/cases.hpp"
#include "verify/verify.hpp"

namespace vqx::backend {
namespace {

TEST(Backend, HostGivesTheKnownResultsOfTheProbes) {
  kernel::HostExecutor executor;
  std::vector<int64_t> words(kernel::kProbeCount);
  ASSERT_TRUE(kernel::launch_probes(executor, words.data()).ok());
  for (int i = 0; i < kernel::kProbeCount; ++i) {
    EXPECT_EQ(words[static_cast<std::size_t>(i)], kernel::kProbes[i].expected)
        << kernel::kProbes[i].name;
  }
  // Software binary64 is tested on the same operands as hardware.
  EXPECT_EQ(words[kernel::kMultiplyAdd64], words[kernel::kSoftMultiplyAdd64]);
  EXPECT_EQ(words[kernel::kDivide64], words[kernel::kSoftDivide64]);
  EXPECT_EQ(words[kernel::kConvert64], words[kernel::kSoftConvert64]);
  // The probes can tell: a fused form gives another result.
  EXPECT_NE(words[kernel::kMultiplyAdd], words[kernel::kFusedMultiplyAdd]);
}

TEST(Backend, HostPassesTheSelfTest) {
  for (const abi::Fp64 fp64 : {abi::kFp64Auto, abi::kFp64Hardware, abi::kFp64Software}) {
    abi::Error error;
    host_backend()->self_test(0, fp64, &error);
    EXPECT_TRUE(to_status(error).ok()) << error.text;
  }
}

TEST(Backend, NamesWhatIsMissing) {
  const auto unknown = load_backend("metal");
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.status().code(), ErrorCode::kUnknownName);

  ASSERT_EQ(setenv("VQX_BACKEND_PATH", "/nonexistent/backends", 1), 0);
  const auto missing = load_backend("sycl");
  unsetenv("VQX_BACKEND_PATH");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.status().code(), ErrorCode::kBackend);
  EXPECT_NE(missing.status().message().find("/nonexistent/backends"), std::string::npos);
}

TEST(Backend, ListsTheHost) {
  bool found = false;
  for (const BackendDevices& entry : list_devices()) {
    if (entry.backend != "host") continue;
    found = true;
    ASSERT_EQ(entry.devices.size(), 1u);
    EXPECT_TRUE(entry.devices[0].self_test.ok());
    EXPECT_GT(entry.devices[0].memory, 0u);
  }
  EXPECT_TRUE(found);
}

class DeviceRunTest : public testing::Test {
 protected:
  void SetUp() override {
    const MetricInfo* info = find_metric("psnr");
    ASSERT_NE(info, nullptr);
    options_.push_back(parse_options("psnr", info->options, {}, nullptr).value());
    metric_ = info->create({format_, true, options_}).value();
  }
  DeviceRequest request() const { return {"psnr", metric_.get(), 1}; }

  VideoFormat format_{131, 67, ChromaFormat::k420, 8};
  std::vector<Options> options_;
  std::unique_ptr<Metric> metric_;
};

TEST_F(DeviceRunTest, RefusesMissingDevices) {
  const DeviceRequest psnr = request();
  DeviceRunOptions options;
  options.devices = {3};
  const auto run = DeviceRun::open(options, format_, std::span(&psnr, 1));
  ASSERT_FALSE(run.ok());
  EXPECT_EQ(run.status().code(), ErrorCode::kBackend);
}

TEST_F(DeviceRunTest, ManyThreadsShareTheSlots) {
  constexpr int kThreads = 5;
  constexpr int kFramesEach = 8;
  const DeviceRequest psnr = request();
  DeviceRunOptions options;
  options.frames_in_flight = 2;
  options.profile = true;
  const auto run = DeviceRun::open(options, format_, std::span(&psnr, 1)).value();
  EXPECT_EQ(run->frames_in_flight(), 2);
  EXPECT_GT(run->device_bytes(), 0u);
  std::vector<std::vector<Measured>> device(kThreads * kFramesEach);
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = t * kFramesEach; i < (t + 1) * kFramesEach; ++i) {
        const auto pair = verify::make_pair(format_, verify::Content::kNatural, i);
        const Frame frame(i, pair.reference->picture(), pair.distorted->picture());
        std::vector<std::vector<Measured>> out(1);
        ASSERT_TRUE(run->measure(frame, SerialRunner(), out).ok());
        device[static_cast<std::size_t>(i)] = out[0];
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  ScratchPool scratch;
  const SerialRunner runner;
  for (int i = 0; i < kThreads * kFramesEach; ++i) {
    const auto pair = verify::make_pair(format_, verify::Content::kNatural, i);
    const std::shared_ptr<const Frame> window[] = {
        std::make_shared<Frame>(i, pair.reference->picture(), pair.distorted->picture())};
    std::vector<Measured> cpu(1);
    ASSERT_TRUE(metric_->measure(MeasureContext(window, runner, scratch), cpu).ok());
    EXPECT_EQ(device[static_cast<std::size_t>(i)], cpu) << "frame " << i;
  }
  const std::vector<ProfileEntry> profile = run->profile().value();
  ASSERT_EQ(profile.size(), 2u);
  EXPECT_EQ(profile[0].name, "psnr");
  EXPECT_GT(profile[0].frames, 0u);
  EXPECT_GT(profile[0].seconds, 0);
  EXPECT_EQ(profile[1].name, "upload");
  EXPECT_EQ(profile[1].frames, std::uint64_t{kThreads} * kFramesEach);
}

// The samples of `from` in a picture of the pool.
Picture copy_into(input::PicturePool& pool, const Picture& from) {
  Picture copy = pool.acquire().value();
  for (int p = 0; p < from.format().plane_count(); ++p) {
    const Plane& plane = from.plane(p);
    for (int y = 0; y < plane.height; ++y) {
      std::memcpy(copy.mutable_row<std::uint8_t>(p, y), plane.row<std::uint8_t>(y),
                  static_cast<std::size_t>(plane.width));
    }
  }
  return copy;
}

TEST_F(DeviceRunTest, TakesPicturesFromPinnedMemory) {
  const DeviceRequest psnr = request();
  DeviceRunOptions options;
  options.frames_in_flight = 1;
  options.pinned = std::make_shared<PinnedMemory>();
  const auto run = DeviceRun::open(options, format_, std::span(&psnr, 1)).value();
  // Rows as files have them, without padding, and rows padded to 64 bytes.
  const input::PlaneLayout tight[3] = {{131, 67}, {66, 34}, {66, 34}};
  input::PicturePool tight_pool(format_, tight, options.pinned);
  const input::PlaneLayout padded[3] = {input::padded_layout(format_, 0),
                                        input::padded_layout(format_, 1),
                                        input::padded_layout(format_, 2)};
  input::PicturePool padded_pool(format_, padded, options.pinned);
  for (int i = 0; i < 4; ++i) {
    const auto pair = verify::make_pair(format_, verify::Content::kNatural, i);
    const Frame ordinary(i, pair.reference->picture(), pair.distorted->picture());
    const Frame pinned(i, copy_into(tight_pool, ordinary.reference()),
                       copy_into(padded_pool, ordinary.distorted()));
    EXPECT_TRUE(options.pinned->holds(pinned.reference().plane(2).data));
    EXPECT_FALSE(options.pinned->holds(ordinary.reference().plane(0).data));
    std::vector<std::vector<Measured>> direct(1), staged(1);
    ASSERT_TRUE(run->measure(pinned, SerialRunner(), direct).ok());
    ASSERT_TRUE(run->measure(ordinary, SerialRunner(), staged).ok());
    EXPECT_EQ(direct, staged) << "frame " << i;
  }
}

TEST(Verify, HostEqualsTheCpu) {
  verify::VerifyOptions options;
  options.large = false;
  options.stride = test::case_stride();
  int lines = 0;
  const auto results = verify::verify(options, [&](const verify::MetricResult& result) {
    ++lines;
    EXPECT_EQ(result.difference, "") << verify::to_text(result);
    EXPECT_GT(result.words, 0u);
  });
  ASSERT_TRUE(results.ok()) << results.status().message();
  EXPECT_GT(lines, 0);
}

}  // namespace
}  // namespace vqx::backend
