#include "input/y4m_header.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <utility>

namespace vqx::input {
namespace {

constexpr const char* kAcceptedTags =
    "420, 420jpeg, 420mpeg2, 420paldv, 411, 422, 444, 444alpha, mono, and 420pN, 422pN, 444pN, "
    "monoN with N = 10, 12 or 16";

struct Tags {
  std::int64_t width = 0;
  std::int64_t height = 0;
  bool has_width = false;
  bool has_height = false;
  std::optional<Rational> frame_rate;
  std::optional<Rational> sample_aspect;
  char interlacing = '?';
  std::string chroma = "420";
  std::optional<ColourRange> range;
};

// An integer as scanf's %d reads it: leading white space and a sign are fine, what follows is left.
// Values beyond any sense saturate.
std::optional<std::int64_t> take_integer(std::string_view& text) {
  const std::size_t start = text.find_first_not_of(" \t\v\f\r");
  if (start == std::string_view::npos) return std::nullopt;
  text.remove_prefix(start);
  if (text.front() == '+') {
    text.remove_prefix(1);
    if (text.empty() || text.front() == '-') return std::nullopt;
  }
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::invalid_argument) return std::nullopt;
  if (error == std::errc::result_out_of_range) value = text.front() == '-' ? INT64_MIN : INT64_MAX;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

std::optional<Rational> take_ratio(std::string_view text) {
  const auto num = take_integer(text);
  if (!num || text.empty() || text.front() != ':') return std::nullopt;
  text.remove_prefix(1);
  const auto den = take_integer(text);
  if (!den) return std::nullopt;
  return Rational{*num, *den};
}

// Stores one tag; the reason where it does not parse.  `rest` runs to the end of the header, since
// numbers may stand apart from their letter.
std::optional<std::string> read_tag(std::string_view tag, std::string_view rest, Tags& tags) {
  rest.remove_prefix(1);
  switch (tag.front()) {
    case 'W':
    case 'H': {
      const auto value = take_integer(rest);
      if (!value) return fmt::format("tag \"{}\" needs an integer", tag);
      (tag.front() == 'W' ? tags.width : tags.height) = *value;
      (tag.front() == 'W' ? tags.has_width : tags.has_height) = true;
      return std::nullopt;
    }
    case 'F':
    case 'A': {
      const auto value = take_ratio(rest);
      if (!value) return fmt::format("tag \"{}\" needs two integers, n:d", tag);
      (tag.front() == 'F' ? tags.frame_rate : tags.sample_aspect) = *value;
      return std::nullopt;
    }
    case 'I':
      tags.interlacing = tag.size() > 1 ? tag[1] : '?';
      return std::nullopt;
    case 'C':
      if (tag.size() > 16) return fmt::format("chroma tag \"{}\" is too long", tag);
      tags.chroma = tag.substr(1);
      return std::nullopt;
    default:
      // FFmpeg's extension; every other tag is a comment.
      if (tag == "XCOLORRANGE=FULL") tags.range = ColourRange::kFull;
      if (tag == "XCOLORRANGE=LIMITED") tags.range = ColourRange::kLimited;
      return std::nullopt;
  }
}

std::optional<std::string> read_tags(std::string_view text, Tags& tags) {
  for (;;) {
    const std::size_t start = text.find_first_not_of(' ');
    if (start == std::string_view::npos) break;
    text.remove_prefix(start);
    const std::string_view tag = text.substr(0, text.find(' '));
    if (auto problem = read_tag(tag, text, tags)) return problem;
    text.remove_prefix(tag.size());
  }
  if (!tags.has_width) return "the width (W) is missing";
  if (!tags.has_height) return "the height (H) is missing";
  if (!tags.frame_rate) return "the frame rate (F) is missing";
  return std::nullopt;
}

// What a chroma tag says of the file.
struct Chroma {
  ChromaFormat format = ChromaFormat::k420;
  int bit_depth = 8;
  Resite resite = Resite::kNone;
  bool alpha = false;
};

std::optional<Chroma> known_to_libvmaf(std::string_view tag) {
  static constexpr std::pair<std::string_view, Chroma> kTags[] = {
      {"420", {}},
      {"420jpeg", {}},
      {"420mpeg2", {}},
      {"420p10", {ChromaFormat::k420, 10}},
      {"420p12", {ChromaFormat::k420, 12}},
      {"422p10", {ChromaFormat::k422, 10}},
      {"422p12", {ChromaFormat::k422, 12}},
      {"444", {ChromaFormat::k444}},
      {"444p10", {ChromaFormat::k444, 10}},
      {"444p12", {ChromaFormat::k444, 12}},
      {"422", {ChromaFormat::k422, 8, Resite::k422}},
      {"411", {ChromaFormat::k422, 8, Resite::k411}},
      {"420paldv", {ChromaFormat::k420, 8, Resite::k420Paldv}},
      {"mono", {ChromaFormat::k400}},
      {"444alpha", {ChromaFormat::k444, 8, Resite::kNone, true}},
  };
  for (const auto& [name, chroma] : kTags)
    if (name == tag) return chroma;
  return std::nullopt;
}

std::optional<Chroma> parse_chroma(std::string_view tag, Dialect dialect) {
  if (auto known = known_to_libvmaf(tag)) return known;
  if (dialect == Dialect::kLibvmaf) return std::nullopt;
  static constexpr std::pair<std::string_view, ChromaFormat> kFamilies[] = {
      {"420p", ChromaFormat::k420},
      {"422p", ChromaFormat::k422},
      {"444p", ChromaFormat::k444},
      {"mono", ChromaFormat::k400},
  };
  static constexpr std::pair<std::string_view, int> kDepths[] = {
      {"10", 10}, {"12", 12}, {"16", 16}};
  for (const auto& [prefix, format] : kFamilies)
    for (const auto& [suffix, depth] : kDepths)
      if (tag.size() == prefix.size() + suffix.size() && tag.starts_with(prefix) &&
          tag.ends_with(suffix))
        return Chroma{format, depth};
  return std::nullopt;
}

FileLayout layout_of(const VideoFormat& file_format, const Chroma& chroma) {
  FileLayout layout = planar_layout(file_format);
  layout.resite = chroma.resite;
  if (chroma.alpha) layout.ignored = layout.plane_bytes(0);
  if (chroma.resite == Resite::k411)
    for (std::size_t p = 1; p < layout.planes.size(); ++p)
      layout.planes[p].width = (static_cast<std::uint64_t>(file_format.width) + 3) / 4;
  return layout;
}

std::optional<Scan> parse_scan(char letter) {
  switch (letter) {
    case 'p':
      return Scan::kProgressive;
    case 't':
      return Scan::kTopFieldFirst;
    case 'b':
      return Scan::kBottomFieldFirst;
    case 'm':
      return Scan::kMixed;
    default:
      return std::nullopt;
  }
}

std::optional<Rational> if_positive(std::optional<Rational> value) {
  if (!value || value->num <= 0 || value->den <= 0) return std::nullopt;
  return reduced(*value);
}

SourceInfo describe_source(const Tags& tags, const Chroma& chroma, bool mono_as_420) {
  SourceInfo info;
  info.container = "YUV4MPEG2";
  info.codec = "uncompressed";
  info.pixel_format = tags.chroma;
  info.range = tags.range;
  info.scan = parse_scan(tags.interlacing);
  info.frame_rate = if_positive(tags.frame_rate);
  info.sample_aspect = if_positive(tags.sample_aspect);
  info.chroma_resited = chroma.resite != Resite::kNone;
  if (info.chroma_resited)
    info.notes.push_back(fmt::format("chroma of {} filtered to {} with MPEG-2 siting", tags.chroma,
                                     chroma_name(chroma.format)));
  if (chroma.alpha) info.notes.emplace_back("alpha plane ignored");
  if (chroma.format == ChromaFormat::k400 && mono_as_420)
    info.notes.emplace_back("luma-only input given flat 4:2:0 chroma");
  return info;
}

// Words of a failed parse in either dialect.
class Reasons {
 public:
  explicit Reasons(Dialect dialect) : dialect_(dialect) {}

  std::vector<std::string> warnings;

  // `libvmaf_line` may be empty where libvmaf has nothing to say.
  Status fail(const std::string& libvmaf_line, const std::string& reason) const {
    if (dialect_ == Dialect::kVqx) return Status(ErrorCode::kInput, reason);
    std::string message;
    for (const std::string& warning : warnings) message += warning + "\n";
    message += libvmaf_line + "\nError opening y4m file.\nUnknown file type.";
    return Status(ErrorCode::kInput, std::move(message));
  }

 private:
  Dialect dialect_;
};

}  // namespace

std::size_t max_y4m_header(Dialect dialect) {
  return dialect == Dialect::kLibvmaf ? 255 : 4096;
}

Result<Y4mHeader> parse_y4m_header(std::string_view line, Dialect dialect, bool mono_as_420) {
  const bool strict = dialect == Dialect::kVqx;
  Reasons reasons(dialect);
  if (!line.starts_with(kY4mMagic))
    return reasons.fail("Incomplete magic for YUV4MPEG file.", "is no YUV4MPEG2 file");
  line.remove_prefix(kY4mMagic.size());
  if (!line.starts_with('2')) {
    if (strict) return reasons.fail({}, "unknown version of YUV4MPEG; only YUV4MPEG2 is accepted");
    reasons.warnings.emplace_back("Incorrect YUV input file version; YUV4MPEG2 required.");
  }
  // The version belongs to the magic, and so does all up to the first space.
  line.remove_prefix(std::min(line.find(' '), line.size()));

  Tags tags;
  if (const auto problem = read_tags(line, tags))
    return reasons.fail("Error parsing YUV4MPEG2 header.", "bad YUV4MPEG2 header: " + *problem);
  if (!strict && tags.interlacing == '?') {
    reasons.warnings.emplace_back(
        "Warning: Input video interlacing format unknown; assuming progressive scan.");
  } else if (!strict && tags.interlacing != 'p') {
    return reasons.fail("Input video is interlaced; Theora only handles progressive scan.", {});
  }
  const auto chroma = parse_chroma(tags.chroma, dialect);
  if (!chroma)
    return reasons.fail(
        "Unknown chroma sampling type: " + tags.chroma,
        fmt::format("unknown chroma tag \"{}\"; accepted are {}", tags.chroma, kAcceptedTags));
  if (const Status size = check_size(tags.width, tags.height); !size.ok())
    return reasons.fail(size.message(), size.message());

  VideoFormat format{static_cast<int>(tags.width), static_cast<int>(tags.height), chroma->format,
                     chroma->bit_depth};
  Y4mHeader header;
  header.layout = layout_of(format, *chroma);
  header.info = describe_source(tags, *chroma, mono_as_420);
  header.info.warnings = std::move(reasons.warnings);
  if (mono_as_420 && format.chroma == ChromaFormat::k400) format.chroma = ChromaFormat::k420;
  header.format = format;
  return header;
}

}  // namespace vqx::input
