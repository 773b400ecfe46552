#include "input/ffmpeg_module/decoder.hpp"

extern "C" {
#include <libavutil/display.h>
#include <libavutil/pixdesc.h>
}

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

#include "input/ffmpeg_module/container_size.hpp"

namespace vqx::input::ffmpeg {
namespace {

std::string reason(int error) {
  char text[AV_ERROR_MAX_STRING_SIZE] = {};
  av_strerror(error, text, sizeof text);
  return text;
}

bool fail(Failure& failure, int code, std::string text) {
  failure = {code, std::move(text)};
  return false;
}

template <std::size_t Size>
void set_text(char (&target)[Size], const std::string& text) {
  std::snprintf(target, Size, "%s", text.c_str());
}

std::string name_of(const char* name) {
  return name != nullptr ? name : "unknown";
}
std::string format_name(AVPixelFormat format) {
  return name_of(av_get_pix_fmt_name(format));
}
AVPixelFormat format_of(const AVFrame& frame) {
  return static_cast<AVPixelFormat>(frame.format);
}

bool is_interlaced(const AVFrame& frame) {
#if LIBAVUTIL_VERSION_INT >= AV_VERSION_INT(58, 7, 100)
  return (frame.flags & AV_FRAME_FLAG_INTERLACED) != 0;
#else
  return frame.interlaced_frame != 0;
#endif
}

bool is_top_field_first(const AVFrame& frame) {
#if LIBAVUTIL_VERSION_INT >= AV_VERSION_INT(58, 7, 100)
  return (frame.flags & AV_FRAME_FLAG_TOP_FIELD_FIRST) != 0;
#else
  return frame.top_field_first != 0;
#endif
}

const std::uint8_t* stream_display_matrix(const AVStream& stream) {
#if LIBAVFORMAT_VERSION_MAJOR >= 61
  const AVPacketSideData* data =
      av_packet_side_data_get(stream.codecpar->coded_side_data, stream.codecpar->nb_coded_side_data,
                              AV_PKT_DATA_DISPLAYMATRIX);
  return data != nullptr ? data->data : nullptr;
#else
  return av_stream_get_side_data(&stream, AV_PKT_DATA_DISPLAYMATRIX, nullptr);
#endif
}

const std::int32_t* display_matrix(const AVStream& stream, const AVFrame& frame) {
  const AVFrameSideData* data = av_frame_get_side_data(&frame, AV_FRAME_DATA_DISPLAYMATRIX);
  const std::uint8_t* matrix = data != nullptr ? data->data : stream_display_matrix(stream);
  return reinterpret_cast<const std::int32_t*>(matrix);
}

// How much shorter a file is than it says.
std::uint64_t bytes_missing(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string start(kContainerStart, '\0');
  file.read(start.data(), kContainerStart);
  start.resize(static_cast<std::size_t>(file.gcount()));
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  const auto declared = declared_size(start);
  return !error && declared && *declared > size ? *declared - size : 0;
}

// Still images have no rate of their own; FFmpeg makes one up.
bool is_still_image(const AVFormatContext& file) {
  const std::string name = file.iformat->name;
  return name == "image2" || name.ends_with("_pipe");
}

}  // namespace

std::unique_ptr<Decoder> Decoder::open(const VqxFfmpegOptions& options, VqxFfmpegInfo& info,
                                       Failure& failure) {
  auto decoder = std::make_unique<Decoder>();
  decoder->allow_interlaced_ = options.allow_interlaced != 0;
  decoder->packet_.reset(av_packet_alloc());
  decoder->first_.reset(av_frame_alloc());
  decoder->current_.reset(av_frame_alloc());
  decoder->scaled_.reset(av_frame_alloc());
  if (!decoder->packet_ || !decoder->first_ || !decoder->current_ || !decoder->scaled_) {
    fail(failure, kVqxNoMemory, "not enough memory");
    return nullptr;
  }
  if (!decoder->open_file(options.path, failure) || !decoder->open_codec(options.threads, failure))
    return nullptr;
  const int found = decoder->decode(*decoder->first_, failure);
  if (found == kVqxEnd) fail(failure, kVqxRefused, "holds no frame; at least 1 is needed");
  if (found != kVqxFrame) return nullptr;
  if (!decoder->choose_rotation(failure) || !decoder->choose_conversion(options.target, failure))
    return nullptr;
  decoder->describe(info);
  return decoder;
}

bool Decoder::open_file(const std::string& path, Failure& failure) {
  missing_bytes_ = bytes_missing(path);
  AVDictionary* settings = nullptr;
  // A file, and only a file: a playlist must not make a metric open network connections.
  av_dict_set(&settings, "protocol_whitelist", "file", 0);
  AVFormatContext* file = nullptr;
  const int opened = avformat_open_input(&file, ("file:" + path).c_str(), nullptr, &settings);
  av_dict_free(&settings);
  if (opened < 0)
    return fail(failure, kVqxRefused,
                "neither YUV4MPEG2 nor a video that FFmpeg can open (" + reason(opened) +
                    "); headerless video needs --raw-size");
  file_.reset(file);
  const int examined = avformat_find_stream_info(file, nullptr);
  if (examined < 0) return fail(failure, kVqxRefused, "cannot be examined: " + reason(examined));
  const int index = av_find_best_stream(file, AVMEDIA_TYPE_VIDEO, -1, -1, nullptr, 0);
  if (index < 0 || (file->streams[index]->disposition & AV_DISPOSITION_ATTACHED_PIC) != 0)
    return fail(failure, kVqxRefused, "holds no video stream");
  stream_ = file->streams[index];
  for (unsigned i = 0; i < file->nb_streams; ++i)
    if (static_cast<int>(i) != index) file->streams[i]->discard = AVDISCARD_ALL;
  return true;
}

bool Decoder::open_codec(int threads, Failure& failure) {
  const AVCodec* codec = avcodec_find_decoder(stream_->codecpar->codec_id);
  if (codec == nullptr)
    return fail(
        failure, kVqxRefused,
        std::string("FFmpeg has no decoder for ") + avcodec_get_name(stream_->codecpar->codec_id));
  codec_.reset(avcodec_alloc_context3(codec));
  if (!codec_ || avcodec_parameters_to_context(codec_.get(), stream_->codecpar) < 0)
    return fail(failure, kVqxNoMemory, "not enough memory for a decoder");
  codec_->pkt_timebase = stream_->time_base;
  codec_->thread_count = threads;
  codec_->thread_type = FF_THREAD_FRAME | FF_THREAD_SLICE;
  // The exact inverse transforms, cropping to the sample, damaged frames reported and not hidden.
  codec_->flags |= AV_CODEC_FLAG_BITEXACT | AV_CODEC_FLAG_UNALIGNED | AV_CODEC_FLAG_OUTPUT_CORRUPT;
  codec_->err_recognition = AV_EF_EXPLODE | AV_EF_CRCCHECK;
  // To this decoder a tag that it does not know is an error, too.
  if (codec->id == AV_CODEC_ID_TIFF) codec_->err_recognition = AV_EF_CRCCHECK;
  const int opened = avcodec_open2(codec_.get(), codec, nullptr);
  if (opened < 0)
    return fail(
        failure, kVqxRefused,
        std::string("the decoder for ") + codec->name + " does not start: " + reason(opened));
  return true;
}

bool Decoder::choose_rotation(Failure& failure) {
  const std::int32_t* matrix = display_matrix(*stream_, *first_);
  if (matrix == nullptr) return true;
  const double angle = -av_display_rotation_get(matrix);
  const auto quarter = std::isnan(angle) ? 0L : std::lround(angle / 90);
  const double determinant =
      static_cast<double>(matrix[0]) * matrix[4] - static_cast<double>(matrix[1]) * matrix[3];
  if (std::isnan(angle) || std::abs(angle - 90.0 * static_cast<double>(quarter)) > 0.5 ||
      determinant <= 0)
    return fail(failure, kVqxRefused,
                "is to be shown mirrored or turned by an odd angle; turns by 90, 180 and 270 "
                "degrees are accepted");
  rotation_ = static_cast<int>((quarter % 4 + 4) % 4) * 90;
  return true;
}

bool Decoder::choose_conversion(const VqxFfmpegTarget& target, Failure& failure) {
  const AVFrame& frame = *first_;
  layout_ = pixel_layout(format_of(frame));
  if (!layout_ && target.chroma < 0)
    return fail(failure, kVqxRefused,
                "pixel format " + format_name(format_of(frame)) +
                    " is not measured as it is; --pixel-format yuv420p (or yuv444p10, ...) "
                    "converts it");
  format_.width = target.width > 0 ? target.width : sideways() ? frame.height : frame.width;
  format_.height = target.width > 0 ? target.height : sideways() ? frame.width : frame.height;
  format_.chroma = target.chroma >= 0 ? target.chroma : layout_->chroma;
  format_.bit_depth = target.chroma >= 0 ? target.bit_depth : layout_->bit_depth;
  if (sideways() && format_.chroma == kVqxChroma422)
    return fail(failure, kVqxRefused,
                "4:2:2 that is to be turned by 90 degrees has no 4:2:2 chroma; --pixel-format "
                "yuv444p (or yuv420p, ...) converts it");
  const bool same_size = (sideways() ? format_.height : format_.width) == frame.width &&
                         (sideways() ? format_.width : format_.height) == frame.height;
  if (!same_size || !layout_ || format_.chroma != layout_->chroma ||
      format_.bit_depth != layout_->bit_depth)
    return make_scaler(target, failure);
  in_place_ = layout_->planar && rotation_ == 0;
  return true;
}

bool Decoder::make_scaler(const VqxFfmpegTarget& target, Failure& failure) {
  const Scaler::Picture from{first_->width, first_->height, format_of(*first_)};
  Scaler::Picture to{format_.width, format_.height,
                     planar_format(format_.chroma, format_.bit_depth)};
  if (sideways()) std::swap(to.width, to.height);
  scaler_ = Scaler::create(from, to, target.filter, full_range());
  if (!scaler_)
    return fail(
        failure, kVqxRefused,
        "FFmpeg cannot convert " + format_name(from.format) + " to " + format_name(to.format));
  scaled_format_ = to.format;
  scaled_->format = to.format;
  scaled_->width = to.width;
  scaled_->height = to.height;
  if (av_frame_get_buffer(scaled_.get(), 0) < 0)
    return fail(failure, kVqxNoMemory, "not enough memory to convert");
  return true;
}

bool Decoder::full_range() const {
  const AVPixelFormat format = format_of(*first_);
  return first_->color_range == AVCOL_RANGE_JPEG || format == AV_PIX_FMT_YUVJ420P ||
         format == AV_PIX_FMT_YUVJ422P || format == AV_PIX_FMT_YUVJ444P ||
         format == AV_PIX_FMT_YUVJ440P || format == AV_PIX_FMT_YUVJ411P;
}

void Decoder::describe_colour(VqxFfmpegInfo& info) const {
  const AVPixFmtDescriptor* descriptor = av_pix_fmt_desc_get(format_of(*first_));
  if ((descriptor->flags & (AV_PIX_FMT_FLAG_RGB | AV_PIX_FMT_FLAG_PAL)) != 0) {
    info.range = 0;
    set_text(info.matrix, "bt709");
  } else {
    info.range = full_range() ? 1 : first_->color_range == AVCOL_RANGE_MPEG ? 0 : -1;
    if (first_->colorspace != AVCOL_SPC_UNSPECIFIED)
      set_text(info.matrix, name_of(av_color_space_name(first_->colorspace)));
  }
  if (first_->color_trc != AVCOL_TRC_UNSPECIFIED)
    set_text(info.transfer, name_of(av_color_transfer_name(first_->color_trc)));
  if (first_->color_primaries != AVCOL_PRI_UNSPECIFIED)
    set_text(info.primaries, name_of(av_color_primaries_name(first_->color_primaries)));
}

void Decoder::describe(VqxFfmpegInfo& info) const {
  info = {};
  info.format = format_;
  info.in_place = in_place_ ? 1 : 0;
  info.rotation = rotation_;
  info.estimated_frames = -1;
  describe_colour(info);
  info.scan = -1;
  if (is_interlaced(*first_)) {
    info.scan = is_top_field_first(*first_) ? 1 : 2;
  } else if (stream_->codecpar->field_order != AV_FIELD_UNKNOWN) {
    info.scan = 0;
  }
  set_text(info.container, file_->iformat->name);
  const char* profile = avcodec_profile_name(codec_->codec_id, codec_->profile);
  set_text(info.codec, std::string(avcodec_get_name(codec_->codec_id)) +
                           (profile != nullptr ? " (" + std::string(profile) + ")" : ""));
  set_text(info.pixel_format, format_name(format_of(*first_)));

  if (!is_still_image(*file_)) {
    const AVRational rate = av_guess_frame_rate(file_.get(), stream_, nullptr);
    info.rate_num = rate.num;
    info.rate_den = rate.den;
    const AVRational mean = stream_->avg_frame_rate;
    const AVRational base = stream_->r_frame_rate;
    if (mean.num > 0 && mean.den > 0 && base.num > 0 && base.den > 0) {
      // Field rates count twice.
      const double ratio = av_q2d(base) / av_q2d(mean);
      const bool fields = stream_->codecpar->field_order != AV_FIELD_PROGRESSIVE;
      const bool steady = std::abs(ratio - 1) <= 0.01 || (fields && std::abs(ratio - 2) <= 0.02);
      info.variable_rate = steady ? 0 : 1;
    }
    if (stream_->nb_frames > 0) {
      info.estimated_frames = stream_->nb_frames;
    } else if (file_->duration > 0 && rate.num > 0 && rate.den > 0) {
      info.estimated_frames =
          av_rescale(file_->duration, rate.num, static_cast<std::int64_t>(rate.den) * AV_TIME_BASE);
    }
  }
  AVRational aspect = av_guess_sample_aspect_ratio(file_.get(), stream_, first_.get());
  if (sideways()) std::swap(aspect.num, aspect.den);
  info.aspect_num = aspect.num;
  info.aspect_den = aspect.den;

  std::string notes;
  if (rotation_ != 0) notes += "turned by " + std::to_string(rotation_) + " degrees\n";
  if (scaler_)
    notes += "converted from " + std::to_string(first_->width) + " x " +
             std::to_string(first_->height) + " " + format_name(format_of(*first_)) +
             " by swscale\n";
  set_text(info.notes, notes);
}

// Ends the input; what the decoder still holds comes out before the error does.
void Decoder::finish_input(std::string error, Failure& failure) {
  drained_ = true;
  input_error_ = std::move(error);
  // With several threads this may be where an earlier packet turns out to be broken.
  const int sent = avcodec_send_packet(codec_.get(), nullptr);
  if (sent < 0) fail(failure, kVqxBroken, "the decoder fails (" + reason(sent) + ")");
}

void Decoder::feed(Failure& failure) {
  for (;;) {
    const int got = av_read_frame(file_.get(), packet_.get());
    if (got == AVERROR_EOF) {
      if (file_->pb != nullptr && file_->pb->error < 0)
        return finish_input("cannot be read: " + reason(file_->pb->error), failure);
      if (missing_bytes_ > 0)
        return finish_input("the file ends " + std::to_string(missing_bytes_) +
                                " bytes before the end that it declares",
                            failure);
      return finish_input({}, failure);
    }
    if (got < 0) return finish_input("the file ends or breaks here (" + reason(got) + ")", failure);
    const bool ours = packet_->stream_index == stream_->index;
    const bool corrupt = (packet_->flags & AV_PKT_FLAG_CORRUPT) != 0;
    const int sent = ours && !corrupt ? avcodec_send_packet(codec_.get(), packet_.get()) : 0;
    av_packet_unref(packet_.get());
    if (ours && corrupt) return finish_input("the file ends or breaks within a packet", failure);
    if (sent < 0) fail(failure, kVqxBroken, "the decoder fails (" + reason(sent) + ")");
    if (ours) return;
  }
}

int Decoder::decode(AVFrame& frame, Failure& failure) {
  for (;;) {
    av_frame_unref(&frame);
    const int got = avcodec_receive_frame(codec_.get(), &frame);
    if (got == 0) return check_frame(frame, failure) ? kVqxFrame : failure.code;
    if (got == AVERROR_EOF) {
      if (input_error_.empty()) return kVqxEnd;
      fail(failure, kVqxBroken, input_error_);
      return kVqxBroken;
    }
    if (got != AVERROR(EAGAIN) || drained_) {
      fail(failure, kVqxBroken, "the decoder fails (" + reason(got) + ")");
      return kVqxBroken;
    }
    feed(failure);
    if (failure.code != kVqxFrame) return failure.code;
  }
}

bool Decoder::check_frame(const AVFrame& frame, Failure& failure) const {
  if (frame.decode_error_flags != 0 || (frame.flags & AV_FRAME_FLAG_CORRUPT) != 0)
    return fail(failure, kVqxBroken, "the frame is damaged, or a frame that it needs is missing");
  if (frame.width < 1 || frame.height < 1)
    return fail(failure, kVqxBroken, "the frame has no size");
  if (first_->width == 0 || &frame == first_.get()) return true;
  if (frame.width != first_->width || frame.height != first_->height ||
      frame.format != first_->format)
    return fail(failure, kVqxRefused,
                "the frame is " + std::to_string(frame.width) + " x " +
                    std::to_string(frame.height) + " " + format_name(format_of(frame)) +
                    ", the first one " + std::to_string(first_->width) + " x " +
                    std::to_string(first_->height) + " " + format_name(format_of(*first_)) +
                    "; one size and format is accepted");
  if (is_interlaced(frame) && !is_interlaced(*first_) && !allow_interlaced_)
    return fail(failure, kVqxRefused,
                "the frame is interlaced, the first one is not; --allow-interlaced compares the "
                "frames as they are");
  return true;
}

int Decoder::next(VqxFfmpegPlanes* planes, void** owner, Failure& failure) {
  if (first_pending_) {
    first_pending_ = false;
    av_frame_unref(current_.get());
    if (av_frame_ref(current_.get(), first_.get()) < 0) {
      fail(failure, kVqxNoMemory, "not enough memory");
      return kVqxNoMemory;
    }
  } else if (const int found = decode(*current_, failure); found != kVqxFrame) {
    return found;
  }
  if (!in_place_) return kVqxFrame;
  AVFrame* lent = av_frame_clone(current_.get());
  if (lent == nullptr) {
    fail(failure, kVqxNoMemory, "not enough memory");
    return kVqxNoMemory;
  }
  for (int p = 0; p < layout_->component_count(); ++p) {
    planes->data[p] = lent->data[p];
    planes->stride[p] = lent->linesize[p];
  }
  *owner = lent;
  return kVqxFrame;
}

int Decoder::unpack(const VqxFfmpegPlanes& target, Failure& failure) {
  if (!scaler_) {
    ffmpeg::unpack(*current_, *layout_, rotation_, target);
    return kVqxFrame;
  }
  if (!scaler_->scale(current_->data, current_->linesize, scaled_->data, scaled_->linesize)) {
    fail(failure, kVqxBroken, "the conversion fails");
    return kVqxBroken;
  }
  PixelLayout layout = *pixel_layout(scaled_format_);
  layout.chroma = format_.chroma;  // drops the chroma where luma alone is wanted
  ffmpeg::unpack(*scaled_, layout, rotation_, target);
  return kVqxFrame;
}

}  // namespace vqx::input::ffmpeg
