// YUV4MPEG2: every chroma tag, header and frame oddity, and every way a file can be broken.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "input/testing.hpp"
#include "input/y4m_header.hpp"

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

const std::string kHeader = "YUV4MPEG2 W4 H2 F25:1 Ip A1:1";

std::string with_tag(const std::string& tag) {
  return kHeader + " C" + tag + "\n";
}

// ---- chroma tags ----

struct TagCase {
  const char* tag;
  std::size_t frame_bytes;  // of a 5 x 3 picture
  ChromaFormat chroma;
  int depth;
  bool libvmaf;  // known to libvmaf
};
constexpr TagCase kTags[] = {
    {"420", 15 + 12, ChromaFormat::k420, 8, true},
    {"420jpeg", 15 + 12, ChromaFormat::k420, 8, true},
    {"420mpeg2", 15 + 12, ChromaFormat::k420, 8, true},
    {"420paldv", 15 + 12, ChromaFormat::k420, 8, true},
    {"420p10", 2 * 27, ChromaFormat::k420, 10, true},
    {"420p12", 2 * 27, ChromaFormat::k420, 12, true},
    {"420p16", 2 * 27, ChromaFormat::k420, 16, false},
    {"422", 15 + 18, ChromaFormat::k422, 8, true},
    {"422p10", 2 * 33, ChromaFormat::k422, 10, true},
    {"422p12", 2 * 33, ChromaFormat::k422, 12, true},
    {"422p16", 2 * 33, ChromaFormat::k422, 16, false},
    {"411", 15 + 12, ChromaFormat::k422, 8, true},
    {"444", 45, ChromaFormat::k444, 8, true},
    {"444p10", 90, ChromaFormat::k444, 10, true},
    {"444p12", 90, ChromaFormat::k444, 12, true},
    {"444p16", 90, ChromaFormat::k444, 16, false},
    {"444alpha", 60, ChromaFormat::k444, 8, true},
    {"mono", 15, ChromaFormat::k400, 8, true},
    {"mono10", 30, ChromaFormat::k400, 10, false},
    {"mono12", 30, ChromaFormat::k400, 12, false},
    {"mono16", 30, ChromaFormat::k400, 16, false},
};

// Two frames: unless the plane sizes are right, the second is not found.
std::string tag_file(const TagCase& c) {
  const std::string frame = "FRAME\n" + std::string(c.frame_bytes, '\1');
  std::string deep = frame;
  if (c.depth > 8 && c.depth < 16)
    for (std::size_t i = 7; i < deep.size(); i += 2) deep[i] = 0;
  return "YUV4MPEG2 W5 H3 F25:1 Ip C" + std::string(c.tag) + "\n" + deep + deep;
}

TEST(InputY4m, EveryChromaTagHasItsLayout) {
  const TempDir dir;
  for (const TagCase& c : kTags) {
    SCOPED_TRACE(c.tag);
    const auto source = open_or_fail(dir.write("a.y4m", tag_file(c)));
    ASSERT_NE(source, nullptr);
    EXPECT_EQ(source->format(), (VideoFormat{5, 3, c.chroma, c.depth}));
    EXPECT_EQ(source->info().pixel_format, c.tag);
    EXPECT_EQ(source->info().frame_count, 2);
    const auto all = drain(*source);
    EXPECT_TRUE(all.status.ok()) << all.status.message();
    ASSERT_EQ(all.pictures.size(), 2U);
    EXPECT_EQ(all.pictures[1].plane(0).width, 5);
    if (c.chroma == ChromaFormat::k420) {
      EXPECT_EQ(all.pictures[1].plane(1).width, 2);
      EXPECT_EQ(all.pictures[1].plane(2).height, 1);
    }
  }
}

TEST(InputY4m, TheDropInKnowsLibvmafsTagsOnly) {
  const TempDir dir;
  for (const TagCase& c : kTags) {
    SCOPED_TRACE(c.tag);
    const std::string path = dir.write("a.y4m", tag_file(c));
    const auto source = open_source(path, drop_in());
    EXPECT_EQ(source.ok(), c.libvmaf);
    if (!source.ok()) {
      EXPECT_EQ(source.status().message(), "Unknown chroma sampling type: " + std::string(c.tag) +
                                               "\nError opening y4m file.\nUnknown file type.");
    }
  }
  for (const char* tag : {"420p14", "422jpeg", "440", "420p9", "", "420p100", "mono8"}) {
    SCOPED_TRACE(tag);
    const std::string path = dir.write("a.y4m", with_tag(tag));
    const auto source = open_source(path, drop_in());
    ASSERT_FALSE(source.ok());
    EXPECT_TRUE(source.status().message().starts_with(
        "Unknown chroma sampling type: " + std::string(tag) + "\n"));
    const auto strict = open_source(path);
    ASSERT_FALSE(strict.ok());
    EXPECT_EQ(strict.status().code(), ErrorCode::kInput);
    EXPECT_TRUE(contains(strict.status().message(), path));
    EXPECT_TRUE(contains(strict.status().message(), "420jpeg")) << strict.status().message();
  }
}

TEST(InputY4m, SamplesComeOutUnchanged) {
  const TempDir dir;
  const std::string y = ramp(8), cb = ramp(2, 100), cr = ramp(2, 200);
  const auto source = open_or_fail(
      dir.write("a.y4m", with_tag("420jpeg") + "FRAME\n" + y + cb + cr + "FRAME\n" + cr + y + cb));
  const auto all = drain(*source);
  ASSERT_EQ(all.pictures.size(), 2U);
  EXPECT_EQ(samples(all.pictures[0], 0), bytes(y));
  EXPECT_EQ(samples(all.pictures[0], 1), bytes(cb));
  EXPECT_EQ(samples(all.pictures[0], 2), bytes(cr));
  EXPECT_EQ(samples(all.pictures[1], 0), bytes(cr + y.substr(0, 6)));
}

TEST(InputY4m, DeepSamplesAreLittleEndian) {
  const TempDir dir;
  const std::vector<int> luma = {0, 1, 255, 256, 511, 512, 1022, 1023};
  const auto source =
      open_or_fail(dir.write("a.y4m", with_tag("422p10") + "FRAME\n" + words(luma) +
                                          words({1, 2, 3, 4}) + words({1000, 1001, 1002, 1003})));
  const auto all = drain(*source);
  ASSERT_EQ(all.pictures.size(), 1U) << all.status.message();
  EXPECT_EQ(samples(all.pictures[0], 0), luma);
  EXPECT_EQ(samples(all.pictures[0], 2), (std::vector<int>{1000, 1001, 1002, 1003}));
}

TEST(InputY4m, OddSizesDropTheLastChromaColumnAndRow) {
  const TempDir dir;
  // 3 x 3: chroma is 2 x 2 in the file, 1 x 1 in memory.
  const std::string frame = "FRAME\n" + ramp(9) + "\x0a\x0b\x0c\x0d" + "\x14\x15\x16\x17";
  const std::string text = "YUV4MPEG2 W3 H3 F25:1 Ip C420\n" + frame + frame;
  for (const OpenOptions& options : {OpenOptions{}, drop_in()}) {
    const auto all = drain(*open_or_fail(dir.write("a.y4m", text), options));
    ASSERT_EQ(all.pictures.size(), 2U) << all.status.message();
    for (const Picture& picture : all.pictures) {
      EXPECT_EQ(samples(picture, 0), bytes(ramp(9)));
      EXPECT_EQ(samples(picture, 1), std::vector<int>{10});
      EXPECT_EQ(samples(picture, 2), std::vector<int>{20});
    }
  }
}

TEST(InputY4m, OnePixelPicturesHaveEmptyChroma) {
  const TempDir dir;
  const std::string text = "YUV4MPEG2 W1 H1 F25:1 Ip C420\nFRAME\n\x21\x22\x23";
  const auto all = drain(*open_or_fail(dir.write("a.y4m", text)));
  ASSERT_EQ(all.pictures.size(), 1U) << all.status.message();
  EXPECT_EQ(samples(all.pictures[0], 0), std::vector<int>{0x21});
  EXPECT_TRUE(samples(all.pictures[0], 1).empty());
}

// ---- conversions ----

int filtered(const std::vector<int>& a, int x, const std::vector<int>& taps, int first) {
  int sum = 64;
  for (std::size_t i = 0; i < taps.size(); ++i)
    sum += taps[i] * a[static_cast<std::size_t>(std::clamp(x + first + static_cast<int>(i), 0,
                                                           static_cast<int>(a.size()) - 1))];
  return std::clamp(sum >> 7, 0, 255);
}
const std::vector<int> kForward = {4, -17, 114, 35, -9, 1};
const std::vector<int> kBackward = {1, -9, 35, 114, -17, 4};

TEST(InputY4m, Converts422) {
  const TempDir dir;
  const std::string y = ramp(26), cb = "\x10\xf0\x20\xff\x01\x80\x33", cr = ramp(7, 3);
  const std::string text =
      "YUV4MPEG2 W13 H2 F25:1 Ip C422\nFRAME\n" + y + cb + ramp(7) + cr + ramp(7, 9);
  const auto source = open_or_fail(dir.write("a.y4m", text), drop_in());
  EXPECT_TRUE(source->info().chroma_resited);
  const auto all = drain(*source);
  ASSERT_EQ(all.pictures.size(), 1U) << all.status.message();
  EXPECT_EQ(samples(all.pictures[0], 0), bytes(y));
  for (int x = 0; x < 6; ++x) {
    EXPECT_EQ(samples(all.pictures[0], 1)[x], filtered(bytes(cb), x, kForward, -2));
    EXPECT_EQ(samples(all.pictures[0], 2)[x], filtered(bytes(cr), x, kForward, -2));
  }
}

TEST(InputY4m, Converts411) {
  const TempDir dir;
  const std::string y = ramp(11), cb = "\x10\xf0\x20", cr = "\xff\x01\xfe";
  const std::string text = "YUV4MPEG2 W11 H1 F25:1 Ip C411\nFRAME\n" + y + cb + cr;
  const auto all = drain(*open_or_fail(dir.write("a.y4m", text)));
  ASSERT_EQ(all.pictures.size(), 1U) << all.status.message();
  for (int x = 0; x < 5; ++x) {
    const std::vector<int> taps =
        x % 2 == 0 ? std::vector<int>{1, 110, 18, -1} : std::vector<int>{-3, 50, 86, -5};
    EXPECT_EQ(samples(all.pictures[0], 1)[x], filtered(bytes(cb), x / 2, taps, -1));
    EXPECT_EQ(samples(all.pictures[0], 2)[x], filtered(bytes(cr), x / 2, taps, -1));
  }
}

TEST(InputY4m, Converts420Paldv) {
  const TempDir dir;
  const std::string y = ramp(4 * 11), cb = ramp(12, 200), cr = ramp(12, 5);
  const std::string text = "YUV4MPEG2 W4 H11 F25:1 Ip C420paldv\nFRAME\n" + y + cb + cr;
  const auto all = drain(*open_or_fail(dir.write("a.y4m", text)));
  ASSERT_EQ(all.pictures.size(), 1U) << all.status.message();
  for (int plane = 1; plane <= 2; ++plane) {
    const std::vector<int> source = bytes(plane == 1 ? cb : cr);
    for (int x = 0; x < 2; ++x) {
      std::vector<int> column;
      column.reserve(6);
      for (int row = 0; row < 6; ++row)
        column.push_back(filtered({source[row * 2], source[row * 2 + 1]}, x, kForward, -2));
      for (int row = 0; row < 5; ++row)
        EXPECT_EQ(samples(all.pictures[0], plane)[row * 2 + x],
                  plane == 1 ? filtered(column, row, kBackward, -3)
                             : filtered(column, row, kForward, -2));
    }
  }
}

TEST(InputY4m, MonoIsLumaOnlyOrHasFlatChroma) {
  const TempDir dir;
  const std::string path = dir.write("a.y4m", with_tag("mono") + "FRAME\n" + ramp(8));
  const auto plain = drain(*open_or_fail(path));
  ASSERT_EQ(plain.pictures.size(), 1U);
  EXPECT_EQ(plain.pictures[0].format().plane_count(), 1);
  const auto all = drain(*open_or_fail(path, drop_in()));
  ASSERT_EQ(all.pictures.size(), 1U);
  EXPECT_EQ(samples(all.pictures[0], 0), bytes(ramp(8)));
  EXPECT_EQ(samples(all.pictures[0], 1), (std::vector<int>{128, 128}));
  EXPECT_EQ(samples(all.pictures[0], 2), (std::vector<int>{128, 128}));
}

TEST(InputY4m, AlphaIsSkippedInEveryFrame) {
  const TempDir dir;
  std::string text = with_tag("444alpha");
  for (unsigned i = 0; i < 3; ++i) text += "FRAME\n" + ramp(24, i) + std::string(8, 'F');
  const auto all = drain(*open_or_fail(dir.write("a.y4m", text)));
  ASSERT_EQ(all.pictures.size(), 3U) << all.status.message();
  EXPECT_EQ(samples(all.pictures[2], 0), bytes(ramp(8, 2)));
  EXPECT_EQ(samples(all.pictures[2], 2), bytes(ramp(24, 2).substr(16)));
}

// ---- headers ----

TEST(InputY4m, ReadsWhatTheHeaderSays) {
  const auto header = parse_y4m_header(
      "YUV4MPEG2 W1920 H1080 F60000:2002 It A4:2 C420jpeg XYSCSS=420JPEG XCOLORRANGE=FULL",
      Dialect::kVqx, false);
  ASSERT_TRUE(header.ok()) << header.status().message();
  EXPECT_EQ(header->info.frame_rate, (Rational{30000, 1001}));
  EXPECT_EQ(header->info.sample_aspect, (Rational{2, 1}));
  EXPECT_EQ(header->info.scan, Scan::kTopFieldFirst);
  EXPECT_EQ(header->info.range, ColourRange::kFull);
}

TEST(InputY4m, AcceptsOddButValidHeaders) {
  for (const char* text : {
           "YUV4MPEG2 H2 W4 F0:0",          // any order, no I, A, C
           "YUV4MPEG2   W4    H2 F25:1  ",  // several spaces
           "YUV4MPEG2 W9 H2 W4 F25:1",      // the last of a kind counts
           "YUV4MPEG2 W4abc H2xyz F25:1q",  // trailing characters
           "YUV4MPEG2 W 4 H 2 F 25:1",      // numbers apart from their letters
           "YUV4MPEG2 W4 H2 F25:1 A0:0 C420jpeg w17 Xhello",
           "YUV4MPEG2 W4 H2 C420 Ip F25:1 I?",
       }) {
    for (const Dialect dialect : {Dialect::kVqx, Dialect::kLibvmaf}) {
      const auto header = parse_y4m_header(text, dialect, false);
      ASSERT_TRUE(header.ok()) << text << ": " << header.status().message();
      EXPECT_EQ(header->format, (VideoFormat{4, 2, ChromaFormat::k420, 8})) << text;
    }
  }
}

TEST(InputY4m, DropInWarnsLikeLibvmaf) {
  const auto header = parse_y4m_header("YUV4MPEG3 W4 H2 F25:1", Dialect::kLibvmaf, true);
  ASSERT_TRUE(header.ok());
  EXPECT_EQ(header->info.warnings,
            (std::vector<std::string>{
                "Incorrect YUV input file version; YUV4MPEG2 required.",
                "Warning: Input video interlacing format unknown; assuming progressive scan."}));
  EXPECT_FALSE(parse_y4m_header("YUV4MPEG3 W4 H2 F25:1", Dialect::kVqx, true).ok());
}

TEST(InputY4m, RefusesBadHeaders) {
  const std::string end = "\nError opening y4m file.\nUnknown file type.";
  const struct {
    const char* text;
    const char* libvmaf;  // the first line
    const char* vqx;      // a part
  } kCases[] = {
      {"YUV4MPEG2", "Error parsing YUV4MPEG2 header.", "width (W) is missing"},
      {"YUV4MPEG2 H2 F25:1", "Error parsing YUV4MPEG2 header.", "width (W) is missing"},
      {"YUV4MPEG2 W4 F25:1", "Error parsing YUV4MPEG2 header.", "height (H) is missing"},
      {"YUV4MPEG2 W4 H2", "Error parsing YUV4MPEG2 header.", "frame rate (F) is missing"},
      {"YUV4MPEG2 Wx H2 F25:1", "Error parsing YUV4MPEG2 header.", "\"Wx\" needs an integer"},
      {"YUV4MPEG2 W4 H2 F25", "Error parsing YUV4MPEG2 header.", "\"F25\" needs two integers"},
      {"YUV4MPEG2 W4 H2 F25:1 A1", "Error parsing YUV4MPEG2 header.", "\"A1\" needs two"},
      {"YUV4MPEG2 W4 H2 F25:1 C420aaaaaaaaaaaaa", "Error parsing YUV4MPEG2 header.", "too long"},
      {"YUV4MPEG2\tW4\tH2\tF25:1", "Error parsing YUV4MPEG2 header.", "missing"},
      {"YUV4MPEX2 W4 H2 F25:1", "Incomplete magic for YUV4MPEG file.", "no YUV4MPEG2"},
  };
  for (const auto& c : kCases) {
    SCOPED_TRACE(c.text);
    const auto drop_in_result = parse_y4m_header(c.text, Dialect::kLibvmaf, true);
    ASSERT_FALSE(drop_in_result.ok());
    EXPECT_EQ(drop_in_result.status().message(), c.libvmaf + end);
    const auto strict = parse_y4m_header(c.text, Dialect::kVqx, false);
    ASSERT_FALSE(strict.ok());
    EXPECT_TRUE(contains(strict.status().message(), c.vqx)) << strict.status().message();
  }
  const auto interlaced =
      parse_y4m_header("YUV4MPEG2 W4 H2 F25:1 It C420", Dialect::kLibvmaf, true);
  ASSERT_FALSE(interlaced.ok());
  EXPECT_EQ(interlaced.status().message(),
            "Input video is interlaced; Theora only handles progressive scan." + end);
}

TEST(InputY4m, CarriageReturnBelongsToTheLastTag) {
  const TempDir dir;
  const std::string path = dir.write("a.y4m", kHeader + " C420\r\n");
  const auto source = open_source(path, drop_in());
  ASSERT_FALSE(source.ok());
  EXPECT_TRUE(source.status().message().starts_with("Unknown chroma sampling type: 420\r\n"));
}

TEST(InputY4m, RefusesHostileSizesWithoutAllocating) {
  for (const char* size :
       {"W0 H2", "W4 H0", "W-4 H2", "W4 H-2147483648", "W2147483648 H2", "W4 H4294967300",
        "W65536 H1", "W40000 H40000", "W99999999999999999999999 H2", "W-99999999999999999999 H2"}) {
    SCOPED_TRACE(size);
    const auto strict =
        parse_y4m_header("YUV4MPEG2 " + std::string(size) + " F25:1", Dialect::kVqx, false);
    ASSERT_FALSE(strict.ok());
    EXPECT_EQ(strict.status().code(), ErrorCode::kInput);
    EXPECT_TRUE(contains(strict.status().message(), "picture size"));
    EXPECT_FALSE(
        parse_y4m_header("YUV4MPEG2 " + std::string(size) + " F25:1", Dialect::kLibvmaf, true)
            .ok());
  }
  // The largest size of all is allowed, but a short file is found out before memory is asked for.
  const TempDir dir;
  const auto source =
      open_or_fail(dir.write("a.y4m", "YUV4MPEG2 W16384 H16384 F1:1 C444p16\nFRAME\nabc"));
  ASSERT_NE(source, nullptr);
  const auto all = drain(*source);
  EXPECT_EQ(all.status.code(), ErrorCode::kTruncated);
}

TEST(InputY4m, OverlongHeaders) {
  const TempDir dir;
  const std::string start = kHeader + " C420 ";
  const std::string longer = start + "X" + std::string(400, 'x');
  const std::string frame = "FRAME\n" + ramp(12);
  // vqx reads it; libvmaf cuts it at 255 bytes and takes the rest for a frame.
  const std::string path = dir.write("a.y4m", longer + "\n" + frame);
  EXPECT_EQ(drain(*open_or_fail(path)).pictures.size(), 1U);
  const auto all = drain(*open_or_fail(path, drop_in()));
  EXPECT_EQ(all.pictures.size(), 0U);
  EXPECT_TRUE(all.status.message().starts_with("Loss of framing in YUV input data\n"));
  // Exactly 255 bytes are read by both.
  const std::string exact = start + "X" + std::string(254 - start.size(), 'x');
  ASSERT_EQ(exact.size(), 255U);
  EXPECT_EQ(
      drain(*open_or_fail(dir.write("b.y4m", exact + "\n" + frame), drop_in())).pictures.size(),
      1U);
  const auto endless = open_source(dir.write("c.y4m", start + std::string(5000, 'x')));
  ASSERT_FALSE(endless.ok());
  EXPECT_TRUE(contains(endless.status().message(), "no line feed"));
}

// ---- frames ----

TEST(InputY4m, FrameParametersAreSkipped) {
  const TempDir dir;
  std::string text = with_tag("420");
  text += "FRAME\n" + ramp(12, 1);
  text += "FRAME Ip Xhello\n" + ramp(12, 2);
  text += "FRAME" + std::string(79, 'x') + "\n" + ramp(12, 3);
  text += "FRAMEX\n" + ramp(12, 4);
  const auto source = open_or_fail(dir.write("a.y4m", text), drop_in());
  EXPECT_FALSE(source->info().frame_count.has_value());
  const auto all = drain(*source);
  ASSERT_EQ(all.pictures.size(), 4U) << all.status.message();
  for (unsigned i = 0; i < 4; ++i)
    EXPECT_EQ(samples(all.pictures[i], 0), bytes(ramp(8, i + 1))) << i;
}

TEST(InputY4m, BrokenFramesEndTheRunAfterTheWholeOnes) {
  const TempDir dir;
  const std::string good = with_tag("420") + "FRAME\n" + ramp(12) + "FRAME\n" + ramp(12);
  const struct {
    std::string tail;
    const char* libvmaf;
    const char* vqx;
  } kCases[] = {
      {"FRAME\n" + ramp(5), "Error reading YUV frame data.\n", "after 5 of the frame's 12 bytes"},
      {"FRAME\n", "Error reading YUV frame data.\n", "after 0 of the frame's 12 bytes"},
      {"FRAMX\n" + ramp(12), "Loss of framing in YUV input data\n", "framing lost"},
      {"frame\n" + ramp(12), "Loss of framing in YUV input data\n", "framing lost"},
      {"FRAME" + std::string(80, 'x') + "\n" + ramp(12), "Error parsing YUV frame header\n",
       "does not end"},
      {"FRAMEx", "Error parsing YUV frame header\n", "does not end"},
      {"xyz", "Loss of framing in YUV input data\n", "3 stray bytes"},
  };
  for (const auto& c : kCases) {
    SCOPED_TRACE(c.libvmaf + c.tail.substr(0, 8));
    const std::string path = dir.write("a.y4m", good + c.tail);
    for (const OpenOptions& options : {OpenOptions{}, drop_in()}) {
      const auto source = open_or_fail(path, options);
      const auto all = drain(*source);
      EXPECT_EQ(all.pictures.size(), 2U);
      EXPECT_EQ(all.status.code(), ErrorCode::kTruncated);
      const std::string message = all.status.message();
      EXPECT_TRUE(contains(message, path + ": frame 2: ")) << message;
      EXPECT_TRUE(contains(message, c.vqx)) << message;
      EXPECT_EQ(message.starts_with(c.libvmaf), options.dialect == Dialect::kLibvmaf) << message;
      EXPECT_EQ(source->read().status().message(), message) << "the error stays";
    }
  }
}

TEST(InputY4m, NoFramesIsACleanEnd) {
  const TempDir dir;
  const auto source = open_or_fail(dir.write("a.y4m", with_tag("420")));
  EXPECT_EQ(source->info().frame_count, 0);
  const auto all = drain(*source);
  EXPECT_TRUE(all.status.ok());
  EXPECT_TRUE(all.pictures.empty());
}

TEST(InputY4m, SkipsFrames) {
  const TempDir dir;
  std::string text = with_tag("420");
  for (unsigned i = 0; i < 4; ++i) text += "FRAME\n" + ramp(12, i);
  const std::string path = dir.write("a.y4m", text);
  const auto source = open_or_fail(path);
  EXPECT_TRUE(source->skip(3).ok());
  const auto all = drain(*source);
  ASSERT_EQ(all.pictures.size(), 1U);
  EXPECT_EQ(samples(all.pictures[0], 0), bytes(ramp(8, 3)));
  EXPECT_TRUE(open_or_fail(path)->skip(9).ok());
  const auto broken = open_or_fail(dir.write("b.y4m", text + "FRAME\nab"));
  EXPECT_EQ(broken->skip(9).code(), ErrorCode::kTruncated);
}

TEST(InputY4m, SamplesAboveTheDepthAreRefused) {
  const TempDir dir;
  const std::string frame = "FRAME\n" + words(std::vector<int>(12, 1023));
  std::string bad = frame;
  bad.replace(6 + 2 * 6, 2, words({1024}));
  const auto all = drain(*open_or_fail(dir.write("a.y4m", with_tag("420p10") + frame + bad)));
  EXPECT_EQ(all.pictures.size(), 1U);
  EXPECT_EQ(all.status.code(), ErrorCode::kSampleRange);
  EXPECT_TRUE(contains(all.status.message(), "frame 1: sample 1024 at plane Y, column 2, row 1"))
      << all.status.message();
}

TEST(InputY4m, SurplusSamplesMayBeAnything) {
  const TempDir dir;
  const std::string path =
      dir.write("a.y4m", "YUV4MPEG2 W1 H1 F1:1 C420p10\nFRAME\n" + words({1023, 65535, 65535}));
  EXPECT_EQ(drain(*open_or_fail(path)).pictures.size(), 1U);
}

TEST(InputY4m, ReadsPipes) {
  const TempDir dir;
  const std::string path = dir.path("fifo");
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  // Larger than the buffer of a pipe, written in pieces.
  const std::string frame = "FRAME Xy\n" + ramp(400 * 300 * 3 / 2);
  std::thread writer([&] {
    const int fd = open(path.c_str(), O_WRONLY);
    for (const std::string& part :
         {std::string("YUV4MP"), std::string("EG2 W400 H300 F1:1 C420\nFR"), frame.substr(2),
          frame})
      EXPECT_EQ(write(fd, part.data(), part.size()), static_cast<ssize_t>(part.size()));
    close(fd);
  });
  const auto source = open_or_fail(path);
  EXPECT_FALSE(source->info().frame_count.has_value());
  const auto all = drain(*source);
  writer.join();
  EXPECT_TRUE(all.status.ok()) << all.status.message();
  ASSERT_EQ(all.pictures.size(), 2U);
  EXPECT_EQ(samples(all.pictures[1], 0), bytes(ramp(400 * 300)));
}

TEST(InputY4m, PicturesOutliveTheSourceAndMemoryIsRecycled) {
  const TempDir dir;
  std::string text = with_tag("420");
  for (unsigned i = 0; i < 10; ++i) text += "FRAME\n" + ramp(12, i);
  auto source = open_or_fail(dir.write("a.y4m", text));
  Picture kept = **source->read();
  const void* second = (**source->read()).plane(0).data;
  for (int i = 2; i < 10; ++i) EXPECT_EQ((**source->read()).plane(0).data, second);
  source.reset();
  EXPECT_EQ(samples(kept, 0), bytes(ramp(8)));
}

}  // namespace
}  // namespace vqx::input
