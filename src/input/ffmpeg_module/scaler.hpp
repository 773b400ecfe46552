// swscale with the flags that make its result the same on every CPU, and with colour left alone.
#pragma once

extern "C" {
#include <libavutil/frame.h>
#include <libswscale/swscale.h>
}

#include <memory>

#include "input/ffmpeg_module/module_abi.h"

namespace vqx::input::ffmpeg {

struct FrameDeleter {
  void operator()(AVFrame* frame) const { av_frame_free(&frame); }
};
using FramePointer = std::unique_ptr<AVFrame, FrameDeleter>;

class Scaler {
 public:
  struct Picture {
    int width = 0;
    int height = 0;
    AVPixelFormat format = AV_PIX_FMT_NONE;
  };
  // From and to YCbCr keeps matrix and range; RGB becomes BT.709 of limited range.  Null where
  // swscale cannot do it.
  static std::unique_ptr<Scaler> create(const Picture& from, const Picture& to, int filter,
                                        bool full_range);
  bool scale(const std::uint8_t* const* from, const int* from_stride, std::uint8_t* const* to,
             const int* to_stride);

 private:
  struct Deleter {
    void operator()(SwsContext* context) const { sws_freeContext(context); }
  };
  std::unique_ptr<SwsContext, Deleter> context_;
  int rows_ = 0;
  int target_rows_ = 0;
};

}  // namespace vqx::input::ffmpeg
