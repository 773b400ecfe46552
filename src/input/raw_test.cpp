// Raw video, opening, sample checks and depth shifts.
#include <unistd.h>

#include <cstring>

#include "input/picture_pool.hpp"
#include "input/sample_range.hpp"
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

OpenOptions raw(std::int64_t width, std::int64_t height, ChromaFormat chroma, int depth) {
  OpenOptions options;
  options.raw = RawParameters{width, height, chroma, depth};
  return options;
}

TEST(InputRaw, EveryFormatAndDepth) {
  const TempDir dir;
  const struct {
    ChromaFormat chroma;
    std::size_t samples;  // of 5 x 3
  } kFormats[] = {{ChromaFormat::k400, 15},
                  {ChromaFormat::k420, 27},
                  {ChromaFormat::k422, 33},
                  {ChromaFormat::k444, 45}};
  for (const auto& c : kFormats) {
    for (const int depth : {8, 10, 12, 16}) {
      SCOPED_TRACE(pixel_format_name({c.chroma, depth}));
      std::vector<int> values;
      for (std::size_t i = 0; i < 2 * c.samples; ++i)
        values.push_back(static_cast<int>((i * 2654435761U) % (1U << depth)));
      std::string file;
      if (depth == 8)
        for (const int value : values) file += static_cast<char>(value);
      else
        file = words(values);
      const auto source = open_or_fail(dir.write("a.yuv", file), raw(5, 3, c.chroma, depth));
      EXPECT_EQ(source->info().frame_count, 2);
      const auto all = drain(*source);
      ASSERT_EQ(all.pictures.size(), 2U) << all.status.message();
      const auto second = values.begin() + static_cast<std::ptrdiff_t>(c.samples);
      EXPECT_EQ(samples(all.pictures[1], 0), std::vector<int>(second, second + 15));
      if (c.chroma == ChromaFormat::k420) {
        // Cb of 3 x 2 in the file, 2 x 1 in memory.
        EXPECT_EQ(samples(all.pictures[1], 1), std::vector<int>(second + 15, second + 17));
        EXPECT_EQ(samples(all.pictures[1], 2), std::vector<int>(second + 21, second + 23));
      }
    }
  }
}

TEST(InputRaw, StrayBytesAndTruncation) {
  const TempDir dir;
  for (const std::size_t extra : {1U, 11U}) {
    const std::string path = dir.write("a.yuv", ramp(24 + extra));
    for (OpenOptions options : {raw(4, 2, ChromaFormat::k420, 8), drop_in()}) {
      options.raw = RawParameters{4, 2, ChromaFormat::k420, 8};
      const auto source = open_or_fail(path, options);
      EXPECT_FALSE(source->info().frame_count.has_value());
      const auto all = drain(*source);
      EXPECT_EQ(all.pictures.size(), 2U);
      EXPECT_EQ(all.status.code(), ErrorCode::kTruncated);
      EXPECT_TRUE(contains(all.status.message(), path + ": frame 2: the file ends after " +
                                                     std::to_string(extra) + " of the frame's 12"))
          << all.status.message();
      EXPECT_EQ(all.status.message().starts_with("Error reading YUV frame data.\n"),
                options.dialect == Dialect::kLibvmaf);
    }
  }
}

TEST(InputRaw, AFileThatShrinksWhileItIsReadIsTruncated) {
  const TempDir dir;
  const std::string path = dir.write("a.yuv", ramp(48));
  const auto source = open_or_fail(path, raw(4, 2, ChromaFormat::k420, 8));
  ASSERT_TRUE(source->read().ok());
  ASSERT_EQ(truncate(path.c_str(), 20), 0);
  EXPECT_EQ(drain(*source).status.code(), ErrorCode::kTruncated);
}

// Only large frames are worth several threads.
TEST(InputRaw, SeveralThreadsReadTheSame) {
  const TempDir dir;
  std::string frame(std::size_t{2048} * 1024 * 3, '\0');
  for (std::size_t i = 0; i < frame.size(); ++i)
    frame[i] = static_cast<char>(i * 2654435761U >> 13);
  const std::string path = dir.write("a.yuv", frame + frame.substr(0, frame.size() - 1));
  OpenOptions options = raw(2048, 1024, ChromaFormat::k444, 8);
  options.read_threads = 4;
  const auto source = open_or_fail(path, options);
  const auto all = drain(*source);
  ASSERT_EQ(all.pictures.size(), 1U);
  for (int p = 0; p < 3; ++p)
    for (int y = 0; y < 1024; ++y)
      ASSERT_EQ(std::memcmp(all.pictures[0].plane(p).row<char>(y),
                            frame.data() + (std::size_t{1024} * p + y) * 2048, 2048),
                0)
          << p << " " << y;
  EXPECT_EQ(all.status.code(), ErrorCode::kTruncated);
}

TEST(InputRaw, EmptyFileIsACleanEnd) {
  const TempDir dir;
  const auto source = open_or_fail(dir.write("a.yuv", ""), raw(4, 2, ChromaFormat::k420, 8));
  EXPECT_EQ(source->info().frame_count, 0);
  const auto all = drain(*source);
  EXPECT_TRUE(all.status.ok());
  EXPECT_TRUE(all.pictures.empty());
}

TEST(InputRaw, RefusesBadParameters) {
  const TempDir dir;
  const std::string path = dir.write("a.yuv", ramp(12));
  for (const OpenOptions& options :
       {raw(0, 2, ChromaFormat::k420, 8), raw(4, -1, ChromaFormat::k420, 8),
        raw(std::int64_t{1} << 31, 2, ChromaFormat::k420, 8),
        raw(4, std::int64_t{1} << 62, ChromaFormat::k420, 8), raw(4, 2, ChromaFormat::k420, 9),
        raw(4, 2, ChromaFormat::k420, 0)}) {
    const auto source = open_source(path, options);
    ASSERT_FALSE(source.ok());
    EXPECT_TRUE(contains(source.status().message(), path)) << source.status().message();
  }
}

TEST(InputRaw, Skips) {
  const TempDir dir;
  const std::string path = dir.write("a.yuv", ramp(12, 1) + ramp(12, 2) + ramp(12, 3));
  const auto source = open_or_fail(path, raw(4, 2, ChromaFormat::k420, 8));
  EXPECT_TRUE(source->skip(2).ok());
  EXPECT_EQ(samples(**source->read(), 0), bytes(ramp(8, 3)));
  EXPECT_TRUE(source->skip(5).ok());
  EXPECT_FALSE((*source->read()).has_value());
}

TEST(InputRaw, LumaOnlyForTheDropInGetsFlatChroma) {
  const TempDir dir;
  OpenOptions options = drop_in();
  options.raw = RawParameters{4, 2, ChromaFormat::k400, 10};
  const auto all =
      drain(*open_or_fail(dir.write("a.yuv", words(std::vector<int>(8, 77))), options));
  ASSERT_EQ(all.pictures.size(), 1U);
  EXPECT_EQ(samples(all.pictures[0], 1), (std::vector<int>{512, 512}));
}

TEST(InputOpen, MissingFilesAndFolders) {
  const TempDir dir;
  const std::string missing = dir.path("missing.y4m");
  const auto strict = open_source(missing);
  ASSERT_FALSE(strict.ok());
  EXPECT_EQ(strict.status().code(), ErrorCode::kInput);
  EXPECT_EQ(strict.status().message(), missing + ": cannot open: No such file or directory");
  EXPECT_EQ(open_source(missing, drop_in()).status().message(), "could not open file: " + missing);
  const auto folder = open_source(dir.path(""));
  ASSERT_FALSE(folder.ok());
  EXPECT_TRUE(contains(folder.status().message(), "is a directory"));
}

TEST(InputOpen, StandardInputIsY4mOnly) {
  const auto source = open_source("-", raw(4, 2, ChromaFormat::k420, 8));
  ASSERT_FALSE(source.ok());
  EXPECT_TRUE(contains(source.status().message(), "YUV4MPEG2 only"));
}

TEST(InputOpen, ReadsStandardInput) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const int saved = dup(STDIN_FILENO);
  ASSERT_EQ(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
  const std::string text = "YUV4MPEG2 W4 H2 F1:1 C420\nFRAME\n" + ramp(12);
  ASSERT_EQ(write(ends[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
  close(ends[1]);
  {
    const auto source = open_or_fail("-");
    EXPECT_EQ(source->info().path, "standard input");
    EXPECT_EQ(drain(*source).pictures.size(), 1U);
  }
  dup2(saved, STDIN_FILENO);
  close(saved);
  close(ends[0]);
}

TEST(InputOpen, PixelFormatNames) {
  for (const ChromaFormat chroma :
       {ChromaFormat::k400, ChromaFormat::k420, ChromaFormat::k422, ChromaFormat::k444})
    for (const int depth : {8, 10, 12, 16}) {
      const PixelFormat format{chroma, depth};
      const auto parsed = parse_pixel_format(pixel_format_name(format));
      ASSERT_TRUE(parsed.ok());
      EXPECT_EQ(*parsed, format);
    }
  EXPECT_EQ(*parse_pixel_format("yuv422p10le"), (PixelFormat{ChromaFormat::k422, 10}));
  const auto unknown = parse_pixel_format("yuv420p11");
  ASSERT_FALSE(unknown.ok());
  EXPECT_TRUE(contains(unknown.status().message(), "yuv420p10"));
  EXPECT_FALSE(parse_scale_filter("nearest").ok());
}

TEST(InputSampleRange, FindsTheFirstInOrder) {
  for (const int depth : {9, 10, 12, 14}) {
    VideoFormat format{37, 5, ChromaFormat::k422, depth};
    PicturePool pool(format);
    Picture picture = *pool.acquire();
    const auto fill = [&] {
      for (int p = 0; p < 3; ++p)
        for (int y = 0; y < picture.plane(p).height; ++y) {
          // Padding holds garbage, which is nobody's sample.
          auto* row = picture.mutable_row<std::uint16_t>(p, y);
          std::fill_n(row, pool.layout(p).stride / 2, std::uint16_t{65535});
          std::fill_n(row, picture.plane(p).width, static_cast<std::uint16_t>((1 << depth) - 1));
        }
    };
    fill();
    EXPECT_FALSE(find_sample_above_depth(picture).has_value());
    for (int p = 0; p < 3; ++p)
      for (int y = 0; y < picture.plane(p).height; ++y)
        for (int x = 0; x < picture.plane(p).width; ++x) {
          picture.mutable_row<std::uint16_t>(p, y)[x] = static_cast<std::uint16_t>(1 << depth);
          const auto found = find_sample_above_depth(picture);
          ASSERT_TRUE(found.has_value());
          EXPECT_EQ(found->plane, p);
          EXPECT_EQ(found->x, x);
          EXPECT_EQ(found->y, y);
          EXPECT_EQ(found->value, 1 << depth);
          picture.mutable_row<std::uint16_t>(p, y)[x] = 0;
        }
  }
}

TEST(InputDepthShift, ShiftsTheShallowerInput) {
  const TempDir dir;
  const std::string eight = dir.write("8.yuv", ramp(12));
  const auto wide = shift_to_depth(open_or_fail(eight, raw(4, 2, ChromaFormat::k420, 8)), 10);
  EXPECT_EQ(wide->format().bit_depth, 10);
  const auto picture = wide->read();
  ASSERT_TRUE(picture.ok());
  for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(samples(**picture, 0)[i], bytes(ramp(8))[i] << 2);
  const auto wider =
      shift_to_depth(open_or_fail(dir.write("10.yuv", words(std::vector<int>(12, 1023))),
                                  raw(4, 2, ChromaFormat::k420, 10)),
                     12);
  EXPECT_EQ(samples(**wider->read(), 1), (std::vector<int>{4092, 4092}));
  EXPECT_FALSE((*wider->read()).has_value());
}

}  // namespace
}  // namespace vqx::input
