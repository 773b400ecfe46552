// Where pictures come from: YUV4MPEG2 and raw files read here, everything else through the FFmpeg
// module (loaded only when it is needed).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "frame/picture_memory.hpp"
#include "vqx/picture.hpp"
#include "vqx/status.hpp"

namespace vqx::input {

struct Rational {
  std::int64_t num = 0;
  std::int64_t den = 1;  // positive
  friend bool operator==(const Rational&, const Rational&) = default;
};
Rational reduced(Rational value);
std::string to_string(Rational value);  // "30000/1001", "25"

enum class ColourRange { kLimited, kFull };
enum class Scan { kProgressive, kTopFieldFirst, kBottomFieldFirst, kMixed };
const char* range_name(ColourRange range);  // "limited", "full"
const char* scan_name(Scan scan);           // "progressive", "interlaced (top field first)", ...

// What is known of a source besides the format of its pictures.  An empty optional means that the
// file does not say.
struct SourceInfo {
  std::string path;          // as given, or "standard input"
  std::string container;     // "YUV4MPEG2", "raw", or FFmpeg's name
  std::string codec;         // "uncompressed", or FFmpeg's name and profile
  std::string pixel_format;  // of the file, in its own words: "420jpeg", "yuv420p10le", "nv12"
  std::optional<ColourRange> range;
  std::optional<std::string> matrix;  // FFmpeg's names: "bt709", "smpte170m", ...
  std::optional<std::string> transfer;
  std::optional<std::string> primaries;
  std::optional<Scan> scan;
  std::optional<Rational> frame_rate;     // frames a second, reduced
  std::optional<Rational> sample_aspect;  // width : height of a sample, reduced
  bool variable_frame_rate = false;
  int rotation = 0;                         // degrees clockwise, already applied to the pictures
  std::optional<std::int64_t> frame_count;  // only where it is certain
  std::optional<std::int64_t> estimated_frame_count;  // otherwise, for displays of progress
  bool chroma_resited = false;        // chroma was filtered to another siting (see y4m)
  std::vector<std::string> notes;     // conversions that the pictures went through
  std::vector<std::string> warnings;  // to be shown to the user, in order
};

// Whose rules and words apply: vqx's own, or those of Netflix's `vmaf` for its drop-in.
enum class Dialect { kVqx, kLibvmaf };

struct RawParameters {
  std::int64_t width = 0;
  std::int64_t height = 0;
  ChromaFormat chroma = ChromaFormat::k420;
  int bit_depth = 8;  // 8, 10, 12 or 16
};

enum class ScaleFilter { kBilinear, kBicubic, kLanczos };
struct ScaleTarget {
  int width = 0;
  int height = 0;
  ScaleFilter filter = ScaleFilter::kBicubic;
};

struct PixelFormat {
  ChromaFormat chroma = ChromaFormat::k420;
  int bit_depth = 8;
  friend bool operator==(const PixelFormat&, const PixelFormat&) = default;
};
// "yuv420p", "yuv422p10", "gray12", ... (a trailing "le" is fine); kUnknownName lists what exists.
Result<PixelFormat> parse_pixel_format(const std::string& name);
std::string pixel_format_name(PixelFormat format);
Result<ScaleFilter> parse_scale_filter(const std::string& name);

struct OpenOptions {
  Dialect dialect = Dialect::kVqx;
  std::optional<RawParameters> raw;  // given: the file is headerless, whatever it is called
  bool mono_as_420 = false;  // deliver luma-only input as 4:2:0 with flat chroma, as libvmaf does
  std::optional<ScaleTarget> scale;         // convert to this size, ...
  std::optional<PixelFormat> pixel_format;  // ... and this format (needs the FFmpeg module)
  bool allow_interlaced = false;            // take interlaced frames in progressive files
  // Threads that copy a frame of a y4m or raw file side by side: worth while where a device takes
  // frames faster than one thread reads them.
  int read_threads = 1;
  // Where pictures of y4m and raw files lie; null: ordinary memory.
  std::shared_ptr<PictureMemory> memory;
  int decode_threads = 0;  // of the FFmpeg module; 0: as many as there are cores
};

// A sequence of pictures of one format, read in order by one thread at a time.  The pictures may be
// kept and shared freely; their memory is recycled when the last copy is gone, so memory stays
// bounded by what the caller holds.  No sample of a picture is above the format's bit depth.
//
// Errors name the file, the frame (counted from 0) and what would be accepted:
//   kInput        the file cannot be opened, understood or read
//   kTruncated    it ends or breaks in the middle; all whole frames before came out first
//   kSampleRange  a sample is above the declared bit depth
// After an error every further read() returns it again.
class VideoSource {
 public:
  virtual ~VideoSource() = default;
  virtual const VideoFormat& format() const = 0;
  virtual const SourceInfo& info() const = 0;
  // The next picture, or nothing at a clean end.
  virtual Result<std::optional<Picture>> read() = 0;
  // Drops the next `count` frames without delivering them; fewer left is no error.
  virtual Status skip(std::int64_t count) = 0;
};

// Opens `path` as raw video (where options.raw says so), YUV4MPEG2 (by its magic; "-" is standard
// input and must be this), or whatever the FFmpeg module understands.
Result<std::unique_ptr<VideoSource>> open_source(const std::string& path,
                                                 const OpenOptions& options = {});

// The same pictures with samples shifted left to `bit_depth` (above the source's): libvmaf's rule
// for inputs of unequal depth.
std::unique_ptr<VideoSource> shift_to_depth(std::unique_ptr<VideoSource> source, int bit_depth);

// Limits that every input keeps to, so that no header can ask for absurd memory.
inline constexpr std::int64_t kMaxSide = 65535;
inline constexpr std::int64_t kMaxPixels = std::int64_t{1} << 28;

// kInput with the reason (no file name) unless the size is within 1 x 1 and the limits.
Status check_size(std::int64_t width, std::int64_t height);

}  // namespace vqx::input
