#include "verify/cases.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

// The address sanitizer also catches reads outside a plane.
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define VQX_POISON_GUARDS
#endif
#endif
#ifdef VQX_POISON_GUARDS
#include <sanitizer/asan_interface.h>
#endif

namespace vqx::verify {
namespace {

void poison(const std::uint8_t* begin, const std::uint8_t* end) {
#ifdef VQX_POISON_GUARDS
  ASAN_POISON_MEMORY_REGION(begin, end - begin);
#else
  (void)begin, (void)end;
#endif
}

void unpoison(const std::vector<std::uint8_t>& bytes) {
#ifdef VQX_POISON_GUARDS
  ASAN_UNPOISON_MEMORY_REGION(bytes.data(), bytes.size());
#else
  (void)bytes;
#endif
}

constexpr std::size_t kMargin = 64;  // guard bytes before and after each plane

std::uint32_t hash(std::uint32_t x) {
  x ^= x >> 16;
  x *= 0x7feb352dU;
  x ^= x >> 15;
  x *= 0x846ca68bU;
  return x ^ (x >> 16);
}

std::uint32_t noise(int x, int y, int plane, int index, std::uint32_t salt) {
  return hash(static_cast<std::uint32_t>(x) * 73856093U ^
              static_cast<std::uint32_t>(y) * 19349663U ^
              static_cast<std::uint32_t>(plane) * 83492791U ^
              static_cast<std::uint32_t>(index) * 2654435761U ^ salt);
}

int natural(int x, int y, int plane, int index, int peak) {
  const int moved = x + 2 * index;
  const int wave = (moved * 5 + y * 3) % 200;
  const int ramp = wave < 100 ? wave : 200 - wave;
  const int texture = static_cast<int>(noise(moved / 3, y / 2, plane, 0, 7) % 40);
  const int edge = ((moved / 17 + y / 23) & 1) != 0 ? 60 : 0;
  return std::min(peak, (ramp + texture + edge + 20) * (peak + 1) / 256);
}

int sample(Content content, Side side, int x, int y, int plane, int index, int peak) {
  const bool distorted = side == Side::kDistorted;
  const std::uint32_t salt = distorted ? 0x9e3779b9U : 0;
  switch (content) {
    case Content::kNatural: {
      if (!distorted) return natural(x, y, plane, index, peak);
      const int coarse = natural(x & ~3, y & ~1, plane, index, peak);
      const int step = std::max(1, (peak + 1) / 64);
      const int jitter = static_cast<int>(noise(x, y, plane, index, 3) % 5) * (peak + 1) / 256;
      return std::clamp(coarse / step * step + jitter, 0, peak);
    }
    case Content::kNoise:
      return static_cast<int>(noise(x, y, plane, index, salt) % (static_cast<unsigned>(peak) + 1));
    case Content::kIdentical:
      return natural(x, y, plane, index, peak);
    case Content::kAllMin:
      return 0;
    case Content::kAllMax:
      return peak;
    case Content::kMinAgainstMax:
      return distorted == ((index & 1) == 0) ? peak : 0;
    case Content::kStripes:
      return (((distorted ? y : x) + index) & 1) != 0 ? peak : 0;
    case Content::kCheckerboard:
      return ((x + y + index + (distorted ? 1 : 0)) & 1) != 0 ? peak : 0;
    case Content::kNearBlack: {
      const std::uint32_t n = noise(x, y, plane, index, salt);
      if (n % 61 == 0) return peak;
      return static_cast<int>((n >> 8) & 1);
    }
    case Content::kBanding: {
      const int unit = std::max(1, (peak + 1) / 256);
      const int step = (x + y + index) / 24;
      return std::min(peak, (40 + (distorted ? step : step / 2)) * unit);
    }
  }
  return 0;
}

}  // namespace

const char* content_name(Content content) {
  switch (content) {
    case Content::kNatural:
      return "natural";
    case Content::kNoise:
      return "noise";
    case Content::kIdentical:
      return "identical";
    case Content::kAllMin:
      return "all_min";
    case Content::kAllMax:
      return "all_max";
    case Content::kMinAgainstMax:
      return "min_against_max";
    case Content::kStripes:
      return "stripes";
    case Content::kCheckerboard:
      return "checkerboard";
    case Content::kNearBlack:
      return "near_black";
    case Content::kBanding:
      return "banding";
  }
  return "unknown";
}

GuardedPicture::GuardedPicture(const VideoFormat& format, int pad_samples, std::uint8_t guard)
    : format_(format), guard_(guard) {
  std::size_t total = kMargin;
  Plane planes[3];
  for (int p = 0; p < format.plane_count(); ++p) {
    strides_[p] =
        static_cast<std::size_t>(format.plane_width(p) + pad_samples) * format.bytes_per_sample();
    offsets_[p] = total;
    total += strides_[p] * static_cast<std::size_t>(format.plane_height(p)) + kMargin;
  }
  bytes_.assign(total, guard);
  for (int p = 0; p < format.plane_count(); ++p)
    planes[p] = Plane{bytes_.data() + offsets_[p], static_cast<std::ptrdiff_t>(strides_[p]),
                      format.plane_width(p), format.plane_height(p)};
  picture_ = Picture::borrow(format, planes);
  poison_guards();
}

void GuardedPicture::poison_guards() const {
  const std::uint8_t* guard = bytes_.data();
  for (int p = 0; p < format_.plane_count(); ++p)
    for (int y = 0; y < format_.plane_height(p); ++y) {
      const std::uint8_t* row =
          bytes_.data() + offsets_[p] + strides_[p] * static_cast<std::size_t>(y);
      poison(guard, row);
      guard = row + static_cast<std::size_t>(format_.plane_width(p)) * format_.bytes_per_sample();
    }
  poison(guard, bytes_.data() + bytes_.size());
}

void GuardedPicture::set(int plane, int x, int y, int value) {
  std::uint8_t* row =
      bytes_.data() + offsets_[plane] + strides_[plane] * static_cast<std::size_t>(y);
  if (format_.bytes_per_sample() == 1) {
    row[x] = static_cast<std::uint8_t>(value);
  } else {
    const auto wide = static_cast<std::uint16_t>(value);
    std::memcpy(row + 2 * x, &wide, 2);
  }
}

bool GuardedPicture::guards_intact() const {
  unpoison(bytes_);
  std::vector<bool> inside(bytes_.size(), false);
  for (int p = 0; p < format_.plane_count(); ++p)
    for (int y = 0; y < format_.plane_height(p); ++y) {
      const std::size_t begin = offsets_[p] + strides_[p] * static_cast<std::size_t>(y);
      const std::size_t length =
          static_cast<std::size_t>(format_.plane_width(p)) * format_.bytes_per_sample();
      std::fill_n(inside.begin() + static_cast<std::ptrdiff_t>(begin), length, true);
    }
  for (std::size_t i = 0; i < bytes_.size(); ++i)
    if (!inside[i] && bytes_[i] != guard_) return false;
  poison_guards();
  return true;
}

PicturePair make_pair(const VideoFormat& format, Content content, int index, int pad_samples,
                      std::uint8_t guard) {
  PicturePair pair{std::make_shared<GuardedPicture>(format, pad_samples, guard),
                   std::make_shared<GuardedPicture>(format, pad_samples, guard)};
  const int peak = (1 << format.bit_depth) - 1;
  for (int p = 0; p < format.plane_count(); ++p)
    for (int y = 0; y < format.plane_height(p); ++y)
      for (int x = 0; x < format.plane_width(p); ++x) {
        pair.reference->set(p, x, y, sample(content, Side::kReference, x, y, p, index, peak));
        pair.distorted->set(p, x, y, sample(content, Side::kDistorted, x, y, p, index, peak));
      }
  return pair;
}

std::string Case::name() const {
  return std::to_string(format.width) + "x" + std::to_string(format.height) + " " +
         chroma_name(format.chroma) + " " + std::to_string(format.bit_depth) + " bit " +
         content_name(content);
}

std::vector<Case> case_table(int min_width, int min_height) {
  constexpr int kSizes[][2] = {{1, 1},     {3, 3},     {8, 9},    {16, 16},   {17, 33},
                               {35, 37},   {64, 48},   {131, 66}, {177, 176}, {179, 181},
                               {217, 219}, {325, 243}, {360, 180}};
  constexpr int kDepths[] = {8, 10, 12, 16};
  constexpr ChromaFormat kChromas[] = {ChromaFormat::k420, ChromaFormat::k422, ChromaFormat::k444,
                                       ChromaFormat::k400};
  std::vector<Case> cases;
  int rotation = 0;
  for (const auto& size : kSizes) {
    if (size[0] < min_width || size[1] < min_height) continue;
    for (const int depth : kDepths)
      for (const Content content : kAllContents) {
        // Chroma formats rotate, so that each meets every depth and content without a full product.
        const ChromaFormat chroma = kChromas[rotation++ % 4];
        cases.push_back({VideoFormat{size[0], size[1], chroma, depth}, content});
      }
    ++rotation;
  }
  return cases;
}

Result<RunResult> run_metric(const MetricCase& metric, const Case& test_case, int frames,
                             const TaskRunner& runner, int pad_samples, std::uint8_t guard) {
  const MetricInfo* info = find_metric(metric.metric);
  if (info == nullptr) return Status(ErrorCode::kUnknownName, "no metric " + metric.metric);
  VQX_ASSIGN_OR_RETURN(const Options options,
                       parse_options(info->name, info->options, metric.options, nullptr));
  const MetricSetup setup{test_case.format, false, std::span(&options, 1)};
  VQX_ASSIGN_OR_RETURN(const std::unique_ptr<Metric> instance, info->create(setup));

  ScratchPool scratch;
  RunResult result;
  std::vector<PicturePair> pairs;
  std::vector<std::shared_ptr<const Frame>> history;
  for (int i = 0; i < frames; ++i) {
    pairs.push_back(make_pair(test_case.format, test_case.content, i, pad_samples, guard));
    history.push_back(std::make_shared<Frame>(i, pairs.back().reference->picture(),
                                              pairs.back().distorted->picture()));
    const std::size_t keep =
        std::min(history.size(), static_cast<std::size_t>(instance->needs(0).pictures_before) + 1);
    const std::span<const std::shared_ptr<const Frame>> all(history);
    const MeasureContext context(all.last(keep), runner, scratch);
    Measured measured;
    VQX_RETURN_IF_ERROR(instance->measure(context, std::span(&measured, 1)));
    result.measured.push_back(std::move(measured));
    if (!pairs.back().reference->guards_intact() || !pairs.back().distorted->guards_intact())
      return Status(ErrorCode::kInternal, "guard bytes were overwritten");
  }
  const auto lookup = [&](int index) -> const Measured* {
    return index < 0 || index >= frames ? nullptr
                                        : &result.measured[static_cast<std::size_t>(index)];
  };
  std::vector<double> scores(instance->outputs(0).size());
  Measured total;
  for (int i = 0; i < frames; ++i) {
    VQX_RETURN_IF_ERROR(instance->finish_frame(0, MeasuredWindow(i, lookup), scores));
    for (const double score : scores)
      result.score_bits.push_back(std::bit_cast<std::uint64_t>(score));
    instance->accumulate(0, *lookup(i), total);
  }
  for (const auto& [name, value] : instance->aggregates(0, total))
    result.score_bits.push_back(std::bit_cast<std::uint64_t>(value));
  return result;
}

}  // namespace vqx::verify
