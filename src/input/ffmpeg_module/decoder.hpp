// One video stream of a file, decoded bit-exactly and in order on FFmpeg's own threads.
#pragma once

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
}

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "input/ffmpeg_module/module_abi.h"
#include "input/ffmpeg_module/pixel_layout.hpp"
#include "input/ffmpeg_module/scaler.hpp"

namespace vqx::input::ffmpeg {

// What went wrong; empty text: nothing.
struct Failure {
  int code = kVqxFrame;
  std::string text;
};

class Decoder {
 public:
  // Null, and the reason in `failure`.
  static std::unique_ptr<Decoder> open(const VqxFfmpegOptions& options, VqxFfmpegInfo& info,
                                       Failure& failure);

  // kVqxFrame, kVqxEnd or an error; see module_abi.h.
  int next(VqxFfmpegPlanes* planes, void** owner, Failure& failure);
  int unpack(const VqxFfmpegPlanes& target, Failure& failure);

 private:
  struct FormatDeleter {
    void operator()(AVFormatContext* context) const { avformat_close_input(&context); }
  };
  struct CodecDeleter {
    void operator()(AVCodecContext* context) const { avcodec_free_context(&context); }
  };
  struct PacketDeleter {
    void operator()(AVPacket* packet) const { av_packet_free(&packet); }
  };

  bool open_file(const std::string& path, Failure& failure);
  bool open_codec(int threads, Failure& failure);
  bool choose_rotation(Failure& failure);
  bool choose_conversion(const VqxFfmpegTarget& target, Failure& failure);
  bool make_scaler(const VqxFfmpegTarget& target, Failure& failure);
  void describe(VqxFfmpegInfo& info) const;
  void describe_colour(VqxFfmpegInfo& info) const;

  int decode(AVFrame& frame, Failure& failure);
  void feed(Failure& failure);
  void finish_input(std::string error, Failure& failure);
  bool check_frame(const AVFrame& frame, Failure& failure) const;
  bool full_range() const;
  bool sideways() const { return rotation_ == 90 || rotation_ == 270; }

  std::unique_ptr<AVFormatContext, FormatDeleter> file_;
  std::unique_ptr<AVCodecContext, CodecDeleter> codec_;
  std::unique_ptr<AVPacket, PacketDeleter> packet_;
  AVStream* stream_ = nullptr;
  std::uint64_t missing_bytes_ = 0;  // of a file that is shorter than it says
  bool drained_ = false;
  std::string input_error_;  // why the input ended, unless at its end
  bool allow_interlaced_ = false;

  FramePointer first_;    // the first frame, never changed: what all others are compared with
  FramePointer current_;  // found by next()
  bool first_pending_ = true;

  int rotation_ = 0;
  VqxFfmpegFormat format_{};           // of the delivered pictures
  std::optional<PixelLayout> layout_;  // of the decoded frames, where they need no swscale
  std::unique_ptr<Scaler> scaler_;
  AVPixelFormat scaled_format_ = AV_PIX_FMT_NONE;
  FramePointer scaled_;  // swscale's output where it has to be turned or cut
  bool in_place_ = false;
};

}  // namespace vqx::input::ffmpeg
