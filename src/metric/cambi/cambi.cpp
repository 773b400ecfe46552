#include "metric/cambi/cambi.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/simd.hpp"
#include "exact/functions.hpp"
#include "metric/cambi/cambi_heatmap.hpp"
#include "metric/cambi/cambi_math.hpp"

namespace vqx::cambi {
namespace {

constexpr double kTopkDefault = 0.6;
constexpr int kFoot = 64;  // limited range at 10 bits
constexpr int kHead = 940;
constexpr int kSmallestSide = 216;

// Luminance (cd/m2) of a code value scaled to 0..1.
struct Transfer {
  double (*luminance)(double);
};

double bt1886(double v) {
  const double peak_root = exact::pow(300.0, 1.0 / 2.4);
  const double black_root = exact::pow(0.01, 1.0 / 2.4);
  const double span = peak_root - black_root;
  return exact::pow(span, 2.4) * exact::pow(std::max(v + black_root / span, 0.0), 2.4);
}

double pq(double v) {
  constexpr double m1 = 0.1593017578125, m2 = 78.84375;
  constexpr double c1 = 0.8359375, c2 = 18.8515625, c3 = 18.6875;
  const double root = exact::pow(v, 1.0 / m2);
  return 10000.0 * exact::pow(std::max(root - c1, 0.0) / (c2 - c3 * root), 1.0 / m1);
}

double luminance(int code, Transfer transfer) {
  const int clamped = std::clamp(code, kFoot, kHead);
  return transfer.luminance(static_cast<double>(clamped - kFoot) / (kHead - kFoot));
}

// The order of the tests is part of the definition: visibility is not monotonic with pq.
int highest_visible_level(int step, double threshold, Transfer transfer) {
  const auto visible = [&](int level) {
    const double base = luminance(level, transfer);
    return luminance(level + step, transfer) - base > threshold * base;
  };
  int low = kFoot;
  int high = kHead - step - 1;
  if (!visible(low)) return 0;
  if (!visible(low + 1)) return low;
  if (visible(high)) return visible(high + 1) ? 1023 : high;
  for (;;) {
    const int middle = low + (high - low) / 2;
    if (!visible(middle))
      high = middle;
    else if (visible(middle + 1))
      low = middle;
    else
      return middle;
  }
}

// Ends above kHead when no code reaches the threshold.
int darkest_visible_level(double threshold, Transfer transfer) {
  int level = kFoot;
  while (level <= kHead && luminance(level, transfer) < threshold) ++level;
  return level == kFoot ? 0 : level;
}

int scaled_window(int window, Size size, bool speedup) {
  int side = ((window * (size.width + size.height)) / 375) >> 4;
  if (speedup) side = (side + 1) >> 1;
  return side | 1;
}

std::string text_of(Size size) {
  return fmt::format("{}x{}", size.width, size.height);
}

Status too_small(Size size) {
  return Status(ErrorCode::kUnsupportedSize,
                fmt::format("cambi: {} is too small; one side must be at least {}", text_of(size),
                            kSmallestSide));
}

bool both_small(Size size) {
  return size.width < kSmallestSide && size.height < kSmallestSide;
}

Status check_window(const Analysis& analysis) {
  if (analysis.window * analysis.window < kTableSize) return {};
  return Status(
      ErrorCode::kUnsupportedSize,
      fmt::format("cambi: {} with this window_size needs a window of {}x{}; at most 65x65 "
                  "is possible (a smaller window_size, or cambi_high_res_speedup, helps)",
                  text_of(analysis.size), analysis.window, analysis.window));
}

// Upstream reads stale memory where a scale is smaller than the window's radius.
Status check_proportions(const Analysis& analysis) {
  const int halvings = analysis.halve_first ? kScales : kScales - 1;
  const int side = std::min(analysis.size.width, analysis.size.height);
  const int smallest = (side + (1 << halvings) - 1) >> halvings;
  if (smallest >= analysis.radius()) return {};
  return Status(ErrorCode::kUnsupportedSize,
                fmt::format("cambi: {} is too elongated for a window of {}x{}; the shorter side "
                            "must be at least {} (or window_size smaller)",
                            text_of(analysis.size), analysis.window, analysis.window,
                            ((analysis.radius() - 1) << halvings) + 1));
}

bool speedup_applies(int asked, Size size) {
  switch (asked) {
    case 1080:
      return size.pixels() >= 1920 * 1080;
    case 1440:
      return size.pixels() >= 2560 * 1440;
    case 2160:
      return size.pixels() >= 3840 * 2160;
    default:
      return false;
  }
}

Result<Transfer> transfer_of(const Options& options) {
  const std::string& own = options.text("cambi_eotf");
  const std::string& name = own != "bt1886" ? own : options.text("eotf");
  if (name == "bt1886") return Transfer{bt1886};
  if (name == "pq") return Transfer{pq};
  return Status(ErrorCode::kInvalidArgument,
                fmt::format("cambi: {} is not a transfer function; accepted: bt1886, pq", name));
}

}  // namespace

int step_weight(int step) {
  constexpr int kWeights[kMaxSteps] = {1, 2, 3, 4, 4, 5, 5, 6, 6, 6, 6, 7, 7, 7, 7, 8,
                                       8, 8, 8, 8, 8, 8, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9};
  return kWeights[step - 1];
}

const std::vector<float>& reciprocals() {
  static const std::vector<float> table = make_reciprocals();
  return table;
}

Size Analysis::scale_size(int scale) const {
  Size at = size;
  for (int i = halve_first ? -1 : 0; i < scale; ++i) at = at.halved();
  return at;
}

std::int64_t Analysis::pool_count(int scale) const {
  const std::int64_t n = scale_size(scale).pixels();
  const auto k = static_cast<std::int64_t>(topk * static_cast<double>(n));
  return std::clamp<std::int64_t>(k, 1, n);
}

int Analysis::mask_threshold() const {
  const unsigned blocks =
      static_cast<unsigned>(size.width >> 6) * static_cast<unsigned>(size.height >> 6);
  const int ceil_log2 = blocks > 1 ? static_cast<int>(std::bit_width(blocks - 1)) : 0;
  return (15 + 3 * ceil_log2) >> 1;
}

Result<Plan> make_plan(const VideoFormat& format, const Options& options) {
  const Size picture{format.width, format.height};
  Size encoded{options.integer("enc_width"), options.integer("enc_height")};
  Size source{options.integer("src_width"), options.integer("src_height")};
  if (encoded.width == 0 || encoded.height == 0 || encoded.width > picture.width ||
      encoded.height > picture.height)
    encoded = picture;
  if (source.width == 0 || source.height == 0) source = picture;
  if (both_small(encoded)) return too_small(encoded);
  if (both_small(source)) return too_small(source);
  if ((source.width > encoded.width && source.height < encoded.height) ||
      (source.width < encoded.width && source.height > encoded.height))
    return Status(ErrorCode::kInvalidArgument,
                  fmt::format("cambi: source {} and encode {} must not cross: one must be at least "
                              "as wide and as high as the other",
                              text_of(source), text_of(encoded)));
  VQX_ASSIGN_OR_RETURN(const Transfer transfer, transfer_of(options));

  Analysis common;
  common.input = picture;
  common.bit_depth = format.bit_depth;
  const int encode_depth = options.integer("enc_bitdepth");
  common.antidither = (encode_depth == 0 ? format.bit_depth : encode_depth) < 10;
  common.halve_first = speedup_applies(options.integer("cambi_high_res_speedup"), encoded);
  const double topk = options.real("topk");
  common.topk = topk != kTopkDefault ? topk : options.real("cambi_topk");
  common.upstream_pooling = options.text("pooling") == "upstream";
  for (int step = 1; step <= 1 << options.integer("max_log_contrast"); ++step)
    common.limits.push_back(highest_visible_level(step, options.real("tvi_threshold"), transfer));
  common.dark = darkest_visible_level(options.real("cambi_vis_lum_threshold"), transfer);

  Plan plan{common, common, options.flag("full_ref"), options.real("cambi_max_val")};
  const int window = options.integer("window_size");
  plan.distorted.size = encoded;
  plan.distorted.window = scaled_window(window, encoded, common.halve_first);
  plan.reference.size = source;
  plan.reference.window = scaled_window(window, source, common.halve_first);
  VQX_RETURN_IF_ERROR(check_window(plan.distorted));
  VQX_RETURN_IF_ERROR(check_window(plan.reference));
  VQX_RETURN_IF_ERROR(check_proportions(plan.distorted));
  if (plan.full_reference) VQX_RETURN_IF_ERROR(check_proportions(plan.reference));
  return plan;
}

Levels::Levels(const Analysis& analysis) {
  if (!analysis.antidither && analysis.bit_depth < 10) unit = 1 << (10 - analysis.bit_depth);
  steps = analysis.steps() / unit;
  for (int i = 0; i < steps; ++i)
    weight[static_cast<std::size_t>(i)] = static_cast<float>(step_weight((i + 1) * unit));
  const auto visible_at = [&](int level) {
    std::uint32_t bits = 0;
    for (int i = 0; i < steps; ++i)
      if (analysis.visible(level * unit, (i + 1) * unit)) bits |= std::uint32_t{1} << i;
    return bits;
  };
  const int top = kMaxLevel / unit;
  int last = top;
  while (first_scored <= top && visible_at(first_scored) == 0) ++first_scored;
  while (last >= first_scored && visible_at(last) == 0) --last;
  scored = last - first_scored + 1;
  for (int level = first_scored; level <= last; ++level) visible.push_back(visible_at(level));
}

double score(const Analysis& analysis, const PooledSums& sums) {
  double total = 0;
  for (int scale = 0; scale < kScales; ++scale) {
    const std::uint64_t word = sums[static_cast<std::size_t>(scale)];
    const double sum = analysis.upstream_pooling
                           ? std::bit_cast<double>(word)
                           : std::ldexp(static_cast<double>(word), -kUnitExponent);
    const double mean = sum / static_cast<double>(analysis.pool_count(scale));
    total += mean * (1 << (kScales - 1 - scale));
  }
  return total / (analysis.window * analysis.window);
}

double upstream_sum(std::vector<float> values, std::int64_t k) {
  float* a = values.data();
  const auto n = static_cast<std::int64_t>(values.size());
  for (std::int64_t low = 0, high = n - 1; k < n && low < high;) {
    const float pivot = a[k];
    std::int64_t i = low, j = high;
    do {
      while (a[i] > pivot) ++i;
      while (a[j] < pivot) --j;
      if (i <= j) std::swap(a[i++], a[j--]);
    } while (i <= j);
    if (j < k) low = i;
    if (k < i) high = j;
  }
  double sum = 0;
  for (std::int64_t i = 0; i < k; ++i) sum += static_cast<double>(a[i]);
  return sum;
}

Status check_samples(const Plane& luma, int bit_depth, Side side) {
  if (bit_depth == 8 || bit_depth == 16) return {};
  for (int y = 0; y < luma.height; ++y) {
    const auto* row = luma.row<std::uint16_t>(y);
    for (int x = 0; x < luma.width; ++x)
      if (row[x] >> bit_depth != 0)
        return bad_sample_status(encode_bad_sample(x, y, row[x]), bit_depth,
                                 side == Side::kReference);
  }
  return {};
}

namespace {

DeviceAnalysis device_analysis(const Analysis& analysis) {
  const Levels levels(analysis);
  DeviceAnalysis out{};
  out.width = analysis.size.width;
  out.height = analysis.size.height;
  out.antidither = analysis.antidither ? 1 : 0;
  out.halve_first = analysis.halve_first ? 1 : 0;
  out.window = analysis.window;
  out.mask_threshold = analysis.mask_threshold();
  out.unit = levels.unit;
  out.steps = levels.steps;
  out.first_scored = levels.first_scored;
  out.scored = levels.scored;
  for (int scale = 0; scale < kScales; ++scale) {
    const Size size = analysis.scale_size(scale);
    out.scales[scale] = {size.width, size.height};
    out.pooled[scale] = analysis.pool_count(scale);
  }
  std::copy(levels.weight.begin(), levels.weight.end(), out.weight);
  std::copy(levels.visible.begin(), levels.visible.end(), out.visible);
  return out;
}

}  // namespace

DeviceSet device_set(const Plan& plan) {
  DeviceSet set{device_analysis(plan.distorted), {}, plan.full_reference ? 1 : 0};
  if (plan.full_reference) set.reference = device_analysis(plan.reference);
  return set;
}

namespace {

class Cambi final : public Metric {
 public:
  static Result<std::unique_ptr<Metric>> create(const MetricSetup& setup) {
    auto metric = std::make_unique<Cambi>();
    for (const Options& options : setup.sets) VQX_RETURN_IF_ERROR(metric->add(setup, options));
    return std::unique_ptr<Metric>(std::move(metric));
  }

  std::vector<Output> outputs(std::size_t set) const override {
    std::vector<Output> names = {{"Cambi_feature_cambi_score"}};
    if (sets_[set].full_reference) {
      names.push_back({"cambi_source", false});
      names.push_back({"cambi_full_reference", false});
    }
    return names;
  }

  Status measure(const MeasureContext& context, std::span<Measured> out) const override {
    std::vector<PooledSums> sums;
    for (const Job& job : jobs_) {
      VQX_ASSIGN_OR_RETURN(PooledSums pooled, run(job, context));
      sums.push_back(pooled);
    }
    for (std::size_t set = 0; set < sets_.size(); ++set) {
      CambiMeasured measured{sums[sets_[set].distorted], {}};
      if (sets_[set].full_reference) measured.reference = sums[sets_[set].reference];
      out[set] = Measured::of(measured);
    }
    return {};
  }

  // Heat maps and upstream's pooling order need the c-values on the host.
  std::vector<std::byte> device_config(std::size_t set) const override {
    const Set& own = sets_[set];
    const Job& job = jobs_[own.distorted];
    if (job.heatmaps || job.analysis.upstream_pooling) return {};
    Plan plan{job.analysis, {}, own.full_reference, own.max_value};
    if (own.full_reference) plan.reference = jobs_[own.reference].analysis;
    return plain_bytes(device_set(plan));
  }

  Status finish_frame(std::size_t set, const MeasuredWindow& window,
                      std::span<double> scores) const override {
    const Set& own = sets_[set];
    const auto measured = window.here().as<CambiMeasured>();
    const double distorted = score(jobs_[own.distorted].analysis, measured.distorted);
    scores[0] = std::min(distorted, own.max_value);
    if (own.full_reference) {
      const double reference = score(jobs_[own.reference].analysis, measured.reference);
      scores[1] = std::min(reference, own.max_value);
      scores[2] = std::min(std::max(0.0, distorted - reference), own.max_value);
    }
    return {};
  }

 private:
  struct Job {
    Analysis analysis;
    Side side;
    std::unique_ptr<HeatmapFiles> heatmaps;
  };
  struct Set {
    std::size_t distorted = 0;
    std::size_t reference = 0;
    bool full_reference = false;
    double max_value = 0;
  };

  // Sets that differ only in what they make of the sums share the analysis.
  std::size_t job_of(const Analysis& analysis, Side side, bool shareable) {
    for (std::size_t i = 0; shareable && i < jobs_.size(); ++i)
      if (jobs_[i].side == side && jobs_[i].analysis == analysis) return i;
    jobs_.push_back({analysis, side, nullptr});
    return jobs_.size() - 1;
  }

  Status add(const MetricSetup& setup, const Options& options) {
    VQX_ASSIGN_OR_RETURN(const Plan plan, make_plan(setup.format, options));
    const std::string& folder = options.text("heatmaps_path");
    Set set{job_of(plan.distorted, Side::kDistorted, folder.empty()), 0, plan.full_reference,
            plan.max_value};
    if (set.full_reference) set.reference = job_of(plan.reference, Side::kReference, true);
    if (!folder.empty()) {
      VQX_ASSIGN_OR_RETURN(jobs_[set.distorted].heatmaps,
                           HeatmapFiles::open(folder, plan.distorted));
    }
    sets_.push_back(set);
    return {};
  }

  static Result<PooledSums> run(const Job& job, const MeasureContext& context) {
    const Frame& frame = context.frame();
    const Plane& luma = frame.picture(job.side).plane(0);
    const int depth = job.analysis.bit_depth;
    MapSink sink;
    if (job.heatmaps)
      sink = [&](int scale, const float* values, std::ptrdiff_t stride) {
        return job.heatmaps->write(frame.index(), scale, values, stride);
      };
    if (simd_is_scalar()) {
      VQX_RETURN_IF_ERROR(check_samples(luma, depth, job.side));
      return analyse_reference(job.analysis, luma, sink);
    }
    const bool checked = depth != 8 && depth != 16;
    if (checked && any_sample_above(luma, (1 << depth) - 1, context))
      return check_samples(luma, depth, job.side);
    return analyse_simd(job.analysis, luma, context, sink);
  }

  std::vector<Job> jobs_;
  std::vector<Set> sets_;
};

// clang-format off
constexpr OptionSpec kOptions[] = {
    {"cambi_max_val", "cmxv", OptionType::kReal, true, "1000", 0, 1000, "", "clip of the scores"},
    {"enc_width", "encw", OptionType::kInt, true, "0", 180, 7680, "", "width at which the distorted picture is analysed (0: its own)"},
    {"enc_height", "ench", OptionType::kInt, true, "0", 150, 7680, "", "height at which the distorted picture is analysed (0: its own)"},
    {"enc_bitdepth", "encbd", OptionType::kInt, true, "0", 6, 16, "", "bit depth of the encode; below 10 dither is filtered out (0: that of the picture)"},
    {"src_width", "srcw", OptionType::kInt, true, "0", 320, 7680, "", "width at which the reference is analysed (0: its own)"},
    {"src_height", "srch", OptionType::kInt, true, "0", 200, 4320, "", "height at which the reference is analysed (0: its own)"},
    {"window_size", "ws", OptionType::kInt, true, "65", 15, 127, "", "side of the window at 3840x2160"},
    {"topk", "topk", OptionType::kReal, true, "0.6", 0.0001, 1, "", "fraction of the pixels that is pooled"},
    {"cambi_topk", "ctpk", OptionType::kReal, true, "0.6", 0.0001, 1, "", "the same; used when topk is 0.6"},
    {"tvi_threshold", "tvit", OptionType::kReal, true, "0.019", 0.0001, 1, "", "Weber fraction above which a step of luminance is visible"},
    {"cambi_vis_lum_threshold", "vlt", OptionType::kReal, true, "0", 0, 300, "", "luminance (cd/m2) under which banding is invisible"},
    {"max_log_contrast", "mlc", OptionType::kInt, true, "2", 0, 5, "", "log2 of the number of contrast steps"},
    {"heatmaps_path", "", OptionType::kText, false, "", 0, 0, "", "folder that receives the c-values of every scale"},
    {"full_ref", "", OptionType::kBool, false, "false", 0, 0, "", "also score the reference and the difference"},
    {"eotf", "eotf", OptionType::kText, true, "bt1886", 0, 0, "", "transfer function: bt1886 or pq"},
    {"cambi_eotf", "ceot", OptionType::kText, true, "bt1886", 0, 0, "", "the same; wins unless it is bt1886"},
    {"cambi_high_res_speedup", "hrs", OptionType::kInt, true, "0", 0, 2160, "", "1080, 1440 or 2160: analyse at half size from that picture size up"},
    {"pooling", "", OptionType::kText, false, "exact", 0, 0, "exact|upstream", "sum of the largest c-values: exact, or rounded in libvmaf's order (CPU only)"},
};
// clang-format on

constexpr std::string_view kModelFeatures[] = {"Cambi_feature_cambi_score"};

}  // namespace
}  // namespace vqx::cambi

namespace vqx {
const MetricInfo kCambiInfo{"cambi", "banding visibility (no reference needed)", cambi::kOptions,
                            cambi::kModelFeatures, cambi::Cambi::create};
}  // namespace vqx
