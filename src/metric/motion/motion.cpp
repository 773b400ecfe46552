#include "metric/motion/motion.hpp"

#include <algorithm>
#include <atomic>

#include <fmt/format.h>

namespace vqx {
namespace motion {
namespace {

constexpr int kBandRows = 64;

constexpr OptionSpec kOptions[] = {
    {"motion_force_zero", "force_0", OptionType::kBool, true, "false", 0, 0, "",
     "every score is 0; pictures are not read"},
    {"motion_blend_factor", "mbf", OptionType::kReal, true, "1", 0, 1, "",
     "slope of motion3 above the knee"},
    {"motion_blend_offset", "mbo", OptionType::kReal, true, "40", 0, 1000, "", "knee of motion3"},
    {"motion_fps_weight", "mfw", OptionType::kReal, true, "1", 0, 5, "",
     "factor on the frame score"},
    {"motion_max_val", "mmxv", OptionType::kReal, true, "10000", 0, 10000, "", "cap on the scores"},
    {"motion_five_frame_window", "mffw", OptionType::kBool, true, "false", 0, 0, "",
     "compare with the frame two back instead of one back"},
    {"motion_moving_average", "mma", OptionType::kBool, true, "false", 0, 0, "",
     "motion3 averages with the frame before"},
    {"debug", "", OptionType::kBool, false, "false", 0, 0, "", "also output the frame score"},
};

constexpr std::string_view kModelFeatures[] = {
    "VMAF_integer_feature_motion_sad_score",
    "VMAF_integer_feature_motion_score",
    "VMAF_integer_feature_motion2_score",
    "VMAF_integer_feature_motion3_score",
};

struct Settings {
  explicit Settings(const Options& options)
      : force_zero(options.flag("motion_force_zero")),
        distance(options.flag("motion_five_frame_window") ? 2 : 1),
        average(options.flag("motion_moving_average")),
        debug(options.flag("debug")),
        blend_factor(options.real("motion_blend_factor")),
        blend_offset(options.real("motion_blend_offset")),
        weight(options.real("motion_fps_weight")),
        max(options.real("motion_max_val")) {}

  bool force_zero;
  int distance;  // to the earlier frame of the comparison
  bool average;
  bool debug;
  double blend_factor;
  double blend_offset;
  double weight;
  double max;
};

// The scores of one frame, from the SADs around it.
class FrameScores {
 public:
  FrameScores(const Settings& settings, const MeasuredWindow& window, double area)
      : settings_(settings), window_(window), area_(area) {}

  // Score of the frame `offset` away; it must exist.
  double score(int offset) const {
    if (settings_.force_zero || window_.index() + offset < settings_.distance) return 0.0;
    const auto sad = static_cast<double>(window_.at(offset)->as<Words>().sad);
    return std::min(sad / 256.0 / area_ * settings_.weight, settings_.max);
  }

  double motion2(int offset = 0) const {
    const int index = window_.index() + offset;
    if (index < settings_.distance) return 0.0;
    if (window_.at(offset + 1) == nullptr) return score(offset);
    const int back = settings_.distance - 1;
    if (index - back < settings_.distance) return score(offset + 1);
    return std::min(score(offset - back), score(offset + 1));
  }

  double motion3() const {
    const int beyond_start = window_.index() - settings_.distance;
    if (beyond_start < 0) return stamp();
    const double now = capped(motion2());
    if (!settings_.average) return now;
    // The unaveraged value of the frame before.
    const double before = beyond_start == 0 ? stamp() : capped(motion2(-1));
    return (now + before) / 2.0;
  }

 private:
  double capped(double score) const {
    const double f = settings_.blend_factor;
    return std::min(score * f + (1.0 - f) * std::min(settings_.blend_offset, score), settings_.max);
  }

  // Stands for the frames that have nothing to be compared with: from the first that has.
  double stamp() const {
    const int offset = settings_.distance - window_.index();
    return window_.at(offset) == nullptr ? 0.0 : capped(score(offset));
  }

  const Settings& settings_;
  const MeasuredWindow& window_;
  double area_;
};

class Motion final : public Metric {
 public:
  explicit Motion(const MetricSetup& setup)
      : format_(setup.format), sets_(setup.sets.begin(), setup.sets.end()) {}

  Needs needs(std::size_t set) const override {
    const Settings& s = sets_[set];
    Needs needs;
    needs.pictures_before = s.force_zero ? 0 : s.distance;
    needs.measured_before = s.average ? s.distance : s.distance - 1;
    needs.measured_after = s.distance;
    needs.contiguous = true;
    return needs;
  }

  std::vector<Output> outputs(std::size_t set) const override {
    std::vector<Output> out = {{"VMAF_integer_feature_motion_sad_score"}};
    if (sets_[set].debug) out.push_back({"VMAF_integer_feature_motion_score"});
    out.push_back({"VMAF_integer_feature_motion2_score", true, Appearance::kFlush});
    out.push_back({"VMAF_integer_feature_motion3_score", true, Appearance::kFlush});
    return out;
  }

  Status measure(const MeasureContext& context, std::span<Measured> out) const override {
    std::uint64_t sads[3] = {};
    bool done[3] = {};
    for (std::size_t set = 0; set < sets_.size(); ++set) {
      const int distance = sets_[set].distance;
      const Frame* earlier = sets_[set].force_zero ? nullptr : context.earlier(distance);
      if (earlier != nullptr && !done[distance]) {
        sads[distance] = sad(context, *earlier);
        done[distance] = true;
      }
      out[set] = Measured::of(Words{earlier != nullptr ? sads[distance] : 0});
    }
    return {};
  }

  Status finish_frame(std::size_t set, const MeasuredWindow& window,
                      std::span<double> scores) const override {
    const Settings& settings = sets_[set];
    const double area = static_cast<double>(std::int64_t{format_.width} * format_.height);
    const FrameScores frame(settings, window, area);
    std::size_t next = 0;
    scores[next++] = frame.score(0);
    if (settings.debug) scores[next++] = frame.score(0);
    scores[next++] = frame.motion2();
    scores[next++] = frame.motion3();
    return {};
  }

 private:
  std::uint64_t sad(const MeasureContext& context, const Frame& earlier) const {
    const Plane& before = earlier.reference().plane(0);
    const Plane& now = context.frame().reference().plane(0);
    const int bits = format_.bit_depth;
    const int height = format_.height;
    if (simd_is_scalar()) return sad_reference(before, now, bits, 0, height);
    std::atomic<std::uint64_t> total{0};
    context.parallel((height + kBandRows - 1) / kBandRows, [&](int band) {
      const int first = band * kBandRows;
      const int last = std::min(height, first + kBandRows);
      total += sad_simd(before, now, bits, first, last, context.scratch());
    });
    return total;
  }

  VideoFormat format_;
  std::vector<Settings> sets_;
};

Result<std::unique_ptr<Metric>> create(const MetricSetup& setup) {
  const VideoFormat& f = setup.format;
  if (f.width < kSmallestSide || f.height < kSmallestSide)
    return Status(ErrorCode::kUnsupportedSize,
                  fmt::format("motion needs at least {0}x{0} luma samples, not {1}x{2}",
                              kSmallestSide, f.width, f.height));
  return std::unique_ptr<Metric>(std::make_unique<Motion>(setup));
}

}  // namespace
}  // namespace motion

extern const MetricInfo kMotionInfo;
const MetricInfo kMotionInfo = {"motion", "temporal activity of the reference", motion::kOptions,
                                motion::kModelFeatures, motion::create};

}  // namespace vqx
