// Files that FFmpeg reads: real clips, layouts that are unpacked here, conversions, damage, and the
// module being absent.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/module_loader.hpp"
#include "input/ffmpeg_source.hpp"
#include "input/pairing.hpp"
#include "input/testing.hpp"

namespace vqx::input {
namespace {

using testing::bytes;
using testing::contains;
using testing::drain;
using testing::drop_in;
using testing::open_or_fail;
using testing::ramp;
using testing::samples;
using testing::TempDir;
using testing::words;

const std::string kClips = std::string(VQX_SHARED_DIR) + "/clips/";

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class InputFfmpeg : public ::testing::Test {
 protected:
  void SetUp() override {
    setenv("VQX_MODULE_PATH", VQX_TEST_MODULE_DIR, 1);
    if (const auto versions = ffmpeg_versions(); !versions.ok())
      GTEST_SKIP() << "the FFmpeg module was not built: " << versions.status().message();
  }
  TempDir dir;
};

// Those that read the shared clips.
class InputFfmpegClips : public InputFfmpeg {
 protected:
  void SetUp() override {
    InputFfmpeg::SetUp();
    if (!std::filesystem::exists(kClips)) GTEST_SKIP() << "no clips in " << kClips;
  }
};

// FNV-1a over all samples as 16-bit little endian.
std::uint64_t hash_of(const std::vector<Picture>& pictures) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const Picture& picture : pictures)
    for (int p = 0; p < picture.format().plane_count(); ++p)
      for (const int sample : samples(picture, p))
        for (const int byte : {sample & 255, sample >> 8})
          hash = (hash ^ static_cast<std::uint64_t>(byte)) * 0x100000001b3;
  return hash;
}

// ---- a minimal AVI file of uncompressed frames ----

std::string number(std::uint32_t value, int size = 4) {
  std::string text;
  for (int i = 0; i < size; ++i) text += static_cast<char>(value >> (8 * i));
  return text;
}

std::string chunk(const std::string& name, const std::string& body) {
  const std::string padding(body.size() % 2, '\0');
  return name + number(static_cast<std::uint32_t>(body.size())) + body + padding;
}

std::string avi(const std::string& fourcc, std::uint32_t width, std::uint32_t height, int bits,
                const std::vector<std::string>& frames) {
  const auto size = static_cast<std::uint32_t>(frames[0].size());
  const auto count = static_cast<std::uint32_t>(frames.size());
  const std::string avih = number(40000) + number(0) + number(0) + number(16) + number(count) +
                           number(0) + number(1) + number(size) + number(width) + number(height) +
                           std::string(16, '\0');
  const std::string strh = "vids" + fourcc + number(0) + number(0) + number(0) + number(1) +
                           number(25) + number(0) + number(count) + number(size) + number(0) +
                           number(0) + std::string(8, '\0');
  const std::string strf = number(40) + number(width) + number(height) + number(1, 2) +
                           number(static_cast<std::uint32_t>(bits), 2) + fourcc + number(size) +
                           std::string(16, '\0');
  const std::string strl = chunk("LIST", "strl" + chunk("strh", strh) + chunk("strf", strf));
  std::string movi = "movi";
  for (const std::string& frame : frames) movi += chunk("00dc", frame);
  return chunk("RIFF",
               "AVI " + chunk("LIST", "hdrl" + chunk("avih", avih) + strl) + chunk("LIST", movi));
}

// ---- clips ----

TEST_F(InputFfmpegClips, DecodesH264) {
  const auto source = open_or_fail(kClips + "seeking_720x480_x264_crf36.mp4");
  ASSERT_NE(source, nullptr);
  EXPECT_EQ(source->format(), (VideoFormat{720, 480, ChromaFormat::k420, 8}));
  const SourceInfo& info = source->info();
  EXPECT_EQ(info.container, "mov,mp4,m4a,3gp,3g2,mj2");
  EXPECT_TRUE(contains(info.codec, "h264")) << info.codec;
  EXPECT_EQ(info.pixel_format, "yuv420p");
  EXPECT_EQ(info.scan, Scan::kProgressive);
  EXPECT_FALSE(info.variable_frame_rate);
  EXPECT_EQ(info.estimated_frame_count, 150);
  EXPECT_TRUE(info.frame_rate.has_value());
  const auto all = drain(*source);
  EXPECT_TRUE(all.status.ok()) << all.status.message();
  EXPECT_EQ(all.pictures.size(), 150U);
  EXPECT_EQ(hash_of(all.pictures), 6516772352472665468ULL);
}

TEST_F(InputFfmpegClips, DecodesTenBitHevcWithAnyNumberOfThreads) {
  for (const int threads : {1, 3}) {
    OpenOptions options;
    options.decode_threads = threads;
    const auto source = open_or_fail(kClips + "seeking_480x320_x265_10bit.mkv", options);
    ASSERT_NE(source, nullptr);
    EXPECT_EQ(source->format(), (VideoFormat{480, 320, ChromaFormat::k420, 10}));
    const auto all = drain(*source);
    EXPECT_TRUE(all.status.ok()) << all.status.message();
    EXPECT_EQ(all.pictures.size(), 50U);
    EXPECT_EQ(hash_of(all.pictures), 15576992149164356544ULL);
  }
}

TEST_F(InputFfmpegClips, PairsOfClipsPass) {
  const auto ref = open_or_fail(kClips + "seeking_720x480.mp4");
  const auto dis = open_or_fail(kClips + "seeking_720x480_x264_crf36.mp4");
  const PairCheck check = check_pair(*ref, *dis, {});
  EXPECT_TRUE(check.ok()) << check.status().message();
}

TEST_F(InputFfmpegClips, SkipsAndOutlives) {
  const std::string path = kClips + "seeking_480x320_x265_10bit.mkv";
  auto source = open_or_fail(path);
  ASSERT_TRUE(source->skip(48).ok());
  const auto all = drain(*source);
  ASSERT_EQ(all.pictures.size(), 2U);
  source.reset();  // the decoder goes, its frames stay
  const auto whole = drain(*open_or_fail(path));
  EXPECT_EQ(samples(all.pictures[1], 1), samples(whole.pictures[49], 1));
  EXPECT_TRUE(open_or_fail(path)->skip(99).ok());
}

TEST_F(InputFfmpegClips, TruncatedFilesEndWithAnError) {
  for (const char* name : {"seeking_480x320_x265_10bit.mkv", "seeking_720x480.mp4"}) {
    const std::string whole = contents(kClips + name);
    for (const std::size_t size : {whole.size() * 3 / 4, whole.size() / 2 + 77}) {
      SCOPED_TRACE(name + std::string(" cut to ") + std::to_string(size));
      const std::string path = dir.write(name, whole.substr(0, size));
      const auto source = open_source(path);
      if (!source.ok()) {  // an index at the end is gone
        EXPECT_EQ(source.status().code(), ErrorCode::kInput);
        EXPECT_TRUE(contains(source.status().message(), path));
        continue;
      }
      const auto all = drain(**source);
      EXPECT_GT(all.pictures.size(), 5U);
      EXPECT_EQ(all.status.code(), ErrorCode::kTruncated);
      EXPECT_TRUE(contains(all.status.message(), path + ": frame ")) << all.status.message();
    }
  }
}

TEST_F(InputFfmpegClips, DamageInTheMiddleIsAnError) {
  std::string file = contents(kClips + "seeking_720x480_x264_crf36.mp4");
  for (std::size_t i = file.size() / 2; i < file.size() / 2 + 3000; ++i)
    file[i] = static_cast<char>(i * 37);
  const std::string path = dir.write("damaged.mp4", file);
  const auto source = open_or_fail(path);
  const auto all = drain(*source);
  EXPECT_GT(all.pictures.size(), 5U);
  EXPECT_LT(all.pictures.size(), 150U);
  EXPECT_EQ(all.status.code(), ErrorCode::kTruncated) << all.status.message();
  const auto other = open_or_fail(path, drop_in());
  EXPECT_TRUE(drain(*other).status.message().starts_with("Error reading YUV frame data.\n"));
}

// Writes a turn into the display matrix of an mp4 file.
std::string turned(std::string file, const std::vector<std::int32_t>& matrix) {
  for (std::size_t at = file.find("tkhd"); at != std::string::npos;
       at = file.find("tkhd", at + 4)) {
    const bool wide = file[at + 4] == 1;
    const std::size_t start = at + 4 + (wide ? 52 : 40);
    for (std::size_t i = 0; i < 9; ++i)
      for (std::size_t b = 0; b < 4; ++b)
        file[start + 4 * i + b] =
            static_cast<char>(static_cast<std::uint32_t>(matrix[i]) >> (24 - 8 * b));
  }
  return file;
}

TEST_F(InputFfmpegClips, TurnsAsTheFileAsks) {
  constexpr std::int32_t k1 = 65536, kW = 1 << 30;
  const std::string file = contents(kClips + "seeking_720x480_x264_crf36.mp4");
  const Picture plain = **open_or_fail(kClips + "seeking_720x480_x264_crf36.mp4")->read();
  const struct {
    int rotation;
    std::vector<std::int32_t> matrix;
  } kTurns[] = {{90, {0, k1, 0, -k1, 0, 0, 0, 0, kW}},
                {180, {-k1, 0, 0, 0, -k1, 0, 0, 0, kW}},
                {270, {0, -k1, 0, k1, 0, 0, 0, 0, kW}}};
  for (const auto& turn : kTurns) {
    SCOPED_TRACE(turn.rotation);
    const auto source = open_or_fail(dir.write("turned.mp4", turned(file, turn.matrix)));
    ASSERT_NE(source, nullptr);
    EXPECT_EQ(source->info().rotation, turn.rotation);
    const Picture picture = **source->read();
    for (int p = 0; p < 3; ++p) {
      const Plane& from = plain.plane(p);
      const Plane& to = picture.plane(p);
      ASSERT_EQ(to.width, turn.rotation == 180 ? from.width : from.height);
      for (int y = 0; y < to.height; ++y)
        for (int x = 0; x < to.width; ++x) {
          int fx = to.width - 1 - x, fy = to.height - 1 - y;
          if (turn.rotation == 90) fx = y, fy = to.width - 1 - x;
          if (turn.rotation == 270) fx = to.height - 1 - y, fy = x;
          ASSERT_EQ(to.row<std::uint8_t>(y)[x], from.row<std::uint8_t>(fy)[fx]) << p;
        }
    }
  }
  const auto mirrored =
      open_source(dir.write("mirrored.mp4", turned(file, {-k1, 0, 0, 0, k1, 0, 0, 0, kW})));
  ASSERT_FALSE(mirrored.ok());
  EXPECT_TRUE(contains(mirrored.status().message(), "mirrored")) << mirrored.status().message();
}

TEST_F(InputFfmpegClips, ScalesToTheReference) {
  OpenOptions options;
  for (const ScaleFilter filter :
       {ScaleFilter::kBilinear, ScaleFilter::kBicubic, ScaleFilter::kLanczos}) {
    options.scale = ScaleTarget{361, 241, filter};
    options.pixel_format = PixelFormat{ChromaFormat::k444, 10};
    const auto source = open_or_fail(kClips + "seeking_720x480_x264_crf36.mp4", options);
    ASSERT_NE(source, nullptr);
    EXPECT_EQ(source->format(), (VideoFormat{361, 241, ChromaFormat::k444, 10}));
    ASSERT_EQ(source->info().notes.size(), 1U);
    const Picture picture = **source->read();
    EXPECT_EQ(picture.format(), source->format());
    const std::vector<int> luma = samples(picture, 0);
    EXPECT_GT(*std::max_element(luma.begin(), luma.end()), 300);
  }
}

// ---- layouts ----

TEST_F(InputFfmpeg, UnpacksWhatDiffersInLayoutOnly) {
  const std::vector<int> y = {16, 20, 30, 40, 50, 60, 70, 235};
  const std::vector<int> cb = {100, 110}, cr = {200, 210};
  const auto text = [](const std::vector<int>& values) {
    std::string result;
    for (const int value : values) result += static_cast<char>(value);
    return result;
  };
  const auto scaled = [](std::vector<int> values, int shift) {
    for (int& value : values) value <<= shift;
    return values;
  };
  const std::vector<int> cbcr = {100, 200, 110, 210}, crcb = {200, 100, 210, 110};
  const struct {
    const char* fourcc;
    const char* name;
    int bits;
    std::string frame;
    int depth;
    int scale;  // of the samples above
    bool halved;
  } kCases[] = {
      {"I420", "yuv420p", 12, text(y) + text(cb) + text(cr), 8, 0, true},
      {"YV12", "yuv420p", 12, text(y) + text(cr) + text(cb), 8, 0, true},
      {"NV12", "nv12", 12, text(y) + text(cbcr), 8, 0, true},
      {"NV21", "nv21", 12, text(y) + text(crcb), 8, 0, true},
      {"YUY2", "yuyv422", 16,
       text({16, 100, 20, 200, 30, 110, 40, 210, 50, 100, 60, 200, 70, 110, 235, 210}), 8, 0,
       false},
      {"UYVY", "uyvy422", 16,
       text({100, 16, 200, 20, 110, 30, 210, 40, 100, 50, 200, 60, 110, 70, 210, 235}), 8, 0,
       false},
  };
  for (const auto& c : kCases) {
    SCOPED_TRACE(c.fourcc);
    const auto source =
        open_or_fail(dir.write("a.avi", avi(c.fourcc, 4, 2, c.bits, {c.frame, c.frame})));
    ASSERT_NE(source, nullptr);
    EXPECT_EQ(source->info().pixel_format, c.name);
    EXPECT_EQ(source->format().bit_depth, c.depth);
    EXPECT_EQ(source->format().chroma, c.halved ? ChromaFormat::k420 : ChromaFormat::k422);
    const auto all = drain(*source);
    ASSERT_EQ(all.pictures.size(), 2U) << all.status.message();
    for (const Picture& picture : all.pictures) {
      EXPECT_EQ(samples(picture, 0), scaled(y, c.scale));
      std::vector<int> expected_cb = scaled(cb, c.scale), expected_cr = scaled(cr, c.scale);
      if (!c.halved) {
        expected_cb.insert(expected_cb.end(), cb.begin(), cb.end());
        expected_cr.insert(expected_cr.end(), cr.begin(), cr.end());
      }
      EXPECT_EQ(samples(picture, 1), expected_cb);
      EXPECT_EQ(samples(picture, 2), expected_cr);
    }
  }
}

TEST_F(InputFfmpeg, GreyImages) {
  const std::string path = dir.write("a.pgm", "P5\n5 3\n255\n" + ramp(15));
  const auto source = open_or_fail(path);
  ASSERT_NE(source, nullptr);
  EXPECT_EQ(source->format(), (VideoFormat{5, 3, ChromaFormat::k400, 8}));
  EXPECT_FALSE(source->info().frame_rate.has_value()) << "an image has none";
  const auto all = drain(*source);
  ASSERT_EQ(all.pictures.size(), 1U) << all.status.message();
  EXPECT_EQ(samples(all.pictures[0], 0), bytes(ramp(15)));
  // Big endian, and flat chroma for the drop-in.
  const std::string deep =
      dir.write("b.pgm", "P5\n2 2\n65535\n" + std::string("\x01\x02\x03\x04\x05\x06\x07\x08"));
  for (const auto& [file, luma, middle] :
       {std::tuple(path, bytes(ramp(15)), 128),
        std::tuple(deep, std::vector<int>{0x102, 0x304, 0x506, 0x708}, 32768)}) {
    const auto filled = drain(*open_or_fail(file, drop_in()));
    ASSERT_EQ(filled.pictures.size(), 1U) << filled.status.message();
    EXPECT_EQ(filled.pictures[0].format().chroma, ChromaFormat::k420);
    EXPECT_EQ(samples(filled.pictures[0], 0), luma);
    EXPECT_EQ(samples(filled.pictures[0], 1)[0], middle);
  }
}

TEST_F(InputFfmpeg, RgbNeedsAConversion) {
  const std::string white(12, '\xff');
  const std::string path = dir.write("a.ppm", "P6\n2 2\n255\n" + white);
  const auto refused = open_source(path);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.status().code(), ErrorCode::kInput);
  EXPECT_TRUE(contains(refused.status().message(), path + ": pixel format rgb24"))
      << refused.status().message();
  EXPECT_TRUE(contains(refused.status().message(), "--pixel-format"));
  OpenOptions options;
  options.pixel_format = PixelFormat{ChromaFormat::k444, 8};
  const auto source = open_or_fail(path, options);
  ASSERT_NE(source, nullptr);
  EXPECT_EQ(source->info().range, ColourRange::kLimited);
  EXPECT_EQ(source->info().matrix, "bt709");
  const Picture picture = **source->read();
  EXPECT_EQ(samples(picture, 0), (std::vector<int>{235, 235, 235, 235}));
  EXPECT_EQ(samples(picture, 1), (std::vector<int>{128, 128, 128, 128}));
  options.pixel_format = PixelFormat{ChromaFormat::k400, 10};
  const Picture grey = **open_or_fail(path, options)->read();
  EXPECT_EQ(samples(grey, 0), (std::vector<int>{940, 940, 940, 940}));
}

// ---- conversions of files that need no FFmpeg to be read ----

TEST_F(InputFfmpeg, ConvertsY4m) {
  const std::string path =
      dir.write("a.y4m", "YUV4MPEG2 W5 H3 F25:1 C420\nFRAME\n" + std::string(27, 'd'));
  OpenOptions options;
  options.pixel_format = PixelFormat{ChromaFormat::k444, 10};
  const auto deep = open_or_fail(path, options);
  ASSERT_NE(deep, nullptr);
  EXPECT_EQ(deep->format(), (VideoFormat{5, 3, ChromaFormat::k444, 10}));
  const auto all = drain(*deep);
  ASSERT_EQ(all.pictures.size(), 1U) << all.status.message();
  for (int p = 0; p < 3; ++p)
    EXPECT_EQ(samples(all.pictures[0], p), std::vector<int>(15, 400)) << p;
  options.pixel_format.reset();
  options.scale = ScaleTarget{7, 9, ScaleFilter::kLanczos};
  const auto large = open_or_fail(path, options);
  const Picture picture = **large->read();
  EXPECT_EQ(samples(picture, 0), std::vector<int>(63, 100));
  EXPECT_EQ(samples(picture, 2), std::vector<int>(12, 100));
  options.scale = ScaleTarget{5, 3, ScaleFilter::kBicubic};
  EXPECT_TRUE(open_or_fail(path, options)->info().notes.empty()) << "nothing to convert";
}

TEST_F(InputFfmpeg, LumaOnlyConversionsKeepTheRange) {
  const std::string mono =
      dir.write("m.y4m", "YUV4MPEG2 W4 H2 F25:1 Cmono\nFRAME\n" + std::string(8, 'd'));
  OpenOptions options;
  options.pixel_format = PixelFormat{ChromaFormat::k420, 8};
  Picture picture = **open_or_fail(mono, options)->read();
  EXPECT_EQ(samples(picture, 0), std::vector<int>(8, 100));
  EXPECT_EQ(samples(picture, 1), std::vector<int>(2, 128));
  const std::string colour =
      dir.write("c.y4m", "YUV4MPEG2 W4 H2 F25:1 C420\nFRAME\n" + std::string(12, 'd'));
  options.pixel_format = PixelFormat{ChromaFormat::k400, 12};
  picture = **open_or_fail(colour, options)->read();
  EXPECT_EQ(picture.format().plane_count(), 1);
  EXPECT_EQ(samples(picture, 0), std::vector<int>(8, 1600));
}

// ---- refusals ----

TEST_F(InputFfmpeg, WhatIsNoVideo) {
  const auto refuse = [&](const std::string& name, const std::string& file, const char* part) {
    const std::string path = dir.write(name, file);
    const auto source = open_source(path);
    ASSERT_FALSE(source.ok()) << name;
    EXPECT_EQ(source.status().code(), ErrorCode::kInput);
    EXPECT_TRUE(source.status().message().starts_with(path + ": ")) << source.status().message();
    EXPECT_TRUE(contains(source.status().message(), part)) << source.status().message();
  };
  refuse("empty", "", "is empty");
  refuse("text.mp4", "hello, world\n", "neither YUV4MPEG2 nor a video");
  refuse("noise.mkv", ramp(5000, 3), "");
  const std::string wav = "RIFF" + number(44) + "WAVE" +
                          chunk("fmt ", number(1, 2) + number(1, 2) + number(8000) + number(8000) +
                                            number(1, 2) + number(8, 2)) +
                          chunk("data", "abcdefgh");
  refuse("sound.wav", wav, "holds no video stream");
}

TEST(InputModules, AMissingModuleIsNamed) {
  const TempDir dir;
  setenv("VQX_MODULE_PATH", (dir.path("one") + ":" + dir.path("two")).c_str(), 1);
  const auto missing = base::load_module_entry("vqx_nothing", "entry");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.status().code(), ErrorCode::kBackend);
  for (const char* part : {"libvqx_nothing.so is not installed", "/one", "/two", "VQX_MODULE_PATH"})
    EXPECT_TRUE(contains(missing.status().message(), part)) << missing.status().message();
  std::filesystem::create_directory(dir.path("two"));
  dir.write("two/libvqx_nothing.so", "not a library");
  const auto broken = base::load_module_entry("vqx_nothing", "entry");
  ASSERT_FALSE(broken.ok());
  EXPECT_TRUE(contains(broken.status().message(), "does not load"));
  unsetenv("VQX_MODULE_PATH");
  const auto folders = base::module_folders();
  EXPECT_GE(folders.size(), 3U) << "beside the program, and where it installs";
}

}  // namespace
}  // namespace vqx::input
