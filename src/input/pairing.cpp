#include "input/pairing.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace vqx::input {
namespace {

int libvmaf_chroma(ChromaFormat chroma) {
  switch (chroma) {
    case ChromaFormat::k400:
    case ChromaFormat::k420:
      return 0;
    case ChromaFormat::k422:
      return 2;
    case ChromaFormat::k444:
      return 3;
  }
  return 0;
}

// Containers round time stamps: 24000/1001 may come back as 2997/125.  Real rates differ by more.
bool rates_differ(Rational a, Rational b) {
  const double x = static_cast<double>(a.num) / static_cast<double>(a.den);
  const double y = static_cast<double>(b.num) / static_cast<double>(b.den);
  return std::abs(x - y) > 1e-4 * std::max(x, y);
}

class Checker {
 public:
  Checker(const VideoSource& reference, const VideoSource& distorted, const PairingRules& rules)
      : ref_(reference), dis_(distorted), rules_(rules) {}

  PairCheck run() {
    check_formats();
    check_rates();
    check_aspects();
    check_colours();
    check_scans();
    check_lengths();
    return std::move(result_);
  }

 private:
  void differ(const std::string& what, const std::string& ref, const std::string& dis,
              const std::string& remedy, bool accepted) {
    const std::string text = fmt::format("{} differ: {} in {}, {} in {}", what, ref,
                                         ref_.info().path, dis, dis_.info().path);
    report(text, remedy, accepted);
  }

  void report(const std::string& text, const std::string& remedy, bool accepted) {
    if (accepted) {
      result_.notes.push_back(text + " (accepted)");
      return;
    }
    result_.problems.push_back(text + "; " + remedy);
    if (result_.code == ErrorCode::kOk) result_.code = ErrorCode::kMismatch;
  }

  // Then one complaint is enough.
  bool same_file() const { return ref_.info().path == dis_.info().path; }

  void check_formats() {
    const VideoFormat& a = ref_.format();
    const VideoFormat& b = dis_.format();
    if (a.width != b.width || a.height != b.height)
      differ("picture sizes", fmt::format("{} x {}", a.width, a.height),
             fmt::format("{} x {}", b.width, b.height),
             "--scale-distorted bicubic|lanczos|bilinear brings the distorted video to the "
             "reference's size",
             false);
    if (a.chroma == b.chroma && a.bit_depth == b.bit_depth) return;
    const auto name = [](const VideoFormat& format) {
      return fmt::format("{} of {} bits", chroma_name(format.chroma), format.bit_depth);
    };
    differ("chroma formats or bit depths", name(a), name(b),
           fmt::format("--pixel-format {} converts to one format",
                       pixel_format_name({a.chroma, std::max(a.bit_depth, b.bit_depth)})),
           false);
  }

  void check_rates() {
    bool variable = false;
    for (const VideoSource* source : {&ref_, &dis_}) {
      if (!source->info().variable_frame_rate) continue;
      variable = true;
      result_.notes.push_back(fmt::format(
          "{} has a variable frame rate: frames are paired by their index", source->info().path));
    }
    const auto& a = ref_.info().frame_rate;
    const auto& b = dis_.info().frame_rate;
    if (variable || !a || !b || !rates_differ(*a, *b)) return;
    differ("frame rates", to_string(*a), to_string(*b),
           "--allow-rate-mismatch pairs the frames by their index", rules_.allow_rate_mismatch);
  }

  void check_aspects() {
    const auto& a = ref_.info().sample_aspect;
    const auto& b = dis_.info().sample_aspect;
    if (!a || !b || *a == *b) return;
    const auto name = [](Rational r) { return fmt::format("{}:{}", r.num, r.den); };
    differ("sample aspect ratios", name(*a), name(*b), "--allow-aspect-mismatch accepts it",
           rules_.allow_aspect_mismatch);
  }

  void check_colour(const char* what, const std::optional<std::string>& a,
                    const std::optional<std::string>& b) {
    if (a && b && *a != *b)
      differ(what, *a, *b, "--allow-colour-mismatch accepts it", rules_.allow_colour_mismatch);
  }

  void check_colours() {
    const SourceInfo& a = ref_.info();
    const SourceInfo& b = dis_.info();
    if (a.range && b.range && *a.range != *b.range)
      differ("colour ranges", range_name(*a.range), range_name(*b.range),
             "--allow-colour-mismatch compares the samples as they are",
             rules_.allow_colour_mismatch);
    // Who says nothing usually means limited range.
    if (a.range.has_value() != b.range.has_value() &&
        (a.range ? *a.range : *b.range) == ColourRange::kFull)
      result_.notes.push_back(
          fmt::format("{} has full colour range, {} does not say: taken to be the same",
                      (a.range ? a : b).path, (a.range ? b : a).path));
    check_colour("colour matrices", a.matrix, b.matrix);
    check_colour("transfer functions", a.transfer, b.transfer);
    check_colour("colour primaries", a.primaries, b.primaries);
    if (a.chroma_resited != b.chroma_resited)
      differ("chroma sitings", a.chroma_resited ? "filtered from " + a.pixel_format : "as stored",
             b.chroma_resited ? "filtered from " + b.pixel_format : "as stored",
             "--allow-colour-mismatch accepts it", rules_.allow_colour_mismatch);
  }

  void check_scans() {
    const auto interlaced = [](const VideoSource& source) {
      return source.info().scan && *source.info().scan != Scan::kProgressive;
    };
    if (interlaced(ref_) && interlaced(dis_) && *ref_.info().scan != *dis_.info().scan)
      differ("field orders", scan_name(*ref_.info().scan), scan_name(*dis_.info().scan),
             "--allow-interlaced compares the frames as they are", rules_.allow_interlaced);
    for (const VideoSource* source : {&ref_, &dis_})
      if (interlaced(*source) && !(source == &dis_ && same_file()))
        report(fmt::format("{} is {}", source->info().path, scan_name(*source->info().scan)),
               "progressive video is accepted; --allow-interlaced compares the frames as they are",
               rules_.allow_interlaced);
  }

  // Frames that will be compared, where the file says how many it has.
  std::optional<std::int64_t> usable(const VideoSource& source, std::int64_t skip) const {
    const auto& count = source.info().frame_count;
    if (!count) return std::nullopt;
    const std::int64_t left = std::max<std::int64_t>(*count - skip, 0);
    return rules_.frame_limit > 0 ? std::min(left, rules_.frame_limit) : left;
  }

  void check_lengths() {
    const auto a = usable(ref_, rules_.skip_reference);
    const auto b = usable(dis_, rules_.skip_distorted);
    for (const auto& [source, frames] : {std::pair(&ref_, a), std::pair(&dis_, b)}) {
      if (!frames || *frames > 0 || (source == &dis_ && a == b && same_file())) continue;
      result_.code = ErrorCode::kInput;
      result_.problems.push_back(
          *source->info().frame_count == 0
              ? fmt::format("{}: holds no frame; at least 1 is needed", source->info().path)
              : fmt::format("{}: no frame is left after skipping; it holds {}", source->info().path,
                            *source->info().frame_count));
    }
    if (a && b && *a > 0 && *b > 0 && *a != *b)
      differ("numbers of frames", fmt::format("{}", *a), fmt::format("{}", *b),
             "--allow-shorter stops where the shorter one ends", rules_.allow_shorter);
  }

  const VideoSource& ref_;
  const VideoSource& dis_;
  const PairingRules& rules_;
  PairCheck result_;
};

}  // namespace

std::vector<std::string> check_pair_like_libvmaf(const VideoFormat& reference,
                                                 const VideoFormat& distorted, bool any_depth) {
  std::vector<std::string> problems;
  if (reference.width != distorted.width || reference.height != distorted.height)
    problems.push_back(fmt::format("dimensions do not match: {}x{}, {}x{}", reference.width,
                                   reference.height, distorted.width, distorted.height));
  if (reference.chroma != distorted.chroma)
    problems.push_back(fmt::format("pixel formats do not match: {}, {}",
                                   libvmaf_chroma(reference.chroma),
                                   libvmaf_chroma(distorted.chroma)));
  if (reference.bit_depth != distorted.bit_depth && !any_depth)
    problems.push_back(
        fmt::format("bitdepths do not match: {}, {}", reference.bit_depth, distorted.bit_depth));
  for (const VideoFormat* format : {&reference, &distorted})
    if (format->bit_depth < 8 || format->bit_depth > 16)
      problems.push_back(fmt::format("unsupported bitdepth: {}", format->bit_depth));
  return problems;
}

Status PairCheck::status() const {
  if (ok()) return {};
  std::string message;
  for (const std::string& problem : problems) message += (message.empty() ? "" : "\n") + problem;
  return Status(code, std::move(message));
}

PairCheck check_pair(const VideoSource& reference, const VideoSource& distorted,
                     const PairingRules& rules) {
  return Checker(reference, distorted, rules).run();
}

Status ended_early(const VideoSource& shorter, std::int64_t shorter_frames,
                   const VideoSource& longer) {
  return Status(ErrorCode::kMismatch,
                fmt::format("{} ended after {} frames, before {}; --allow-shorter stops there "
                            "without an error",
                            shorter.info().path, shorter_frames, longer.info().path));
}

}  // namespace vqx::input
