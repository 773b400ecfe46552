/* What crosses the border to libvqx_ffmpeg.so: plain C data, one versioned entry, no C++ types, so
 * that program and module may come from different compilers.  Nothing in the module exits or throws
 * across this border.  Texts are UTF-8, cut to fit and always terminated. */
#ifndef VQX_FFMPEG_MODULE_ABI_H
#define VQX_FFMPEG_MODULE_ABI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define VQX_FFMPEG_ABI 1
#define VQX_FFMPEG_ENTRY "vqx_ffmpeg_module_v1"

enum { kVqxChroma400 = 0, kVqxChroma420 = 1, kVqxChroma422 = 2, kVqxChroma444 = 3 };
enum { kVqxBilinear = 0, kVqxBicubic = 1, kVqxLanczos = 2 };
enum { kVqxFrame = 1, kVqxEnd = 0, kVqxBroken = -1, kVqxRefused = -2, kVqxNoMemory = -3 };

typedef struct VqxFfmpegFormat {
  int32_t width;
  int32_t height;
  int32_t chroma;
  int32_t bit_depth;
} VqxFfmpegFormat;

/* What to convert to; 0 or -1 in a field keeps the source's. */
typedef struct VqxFfmpegTarget {
  int32_t width; /* 0: keep the size */
  int32_t height;
  int32_t filter;
  int32_t chroma; /* -1: keep chroma and depth */
  int32_t bit_depth;
} VqxFfmpegTarget;

typedef struct VqxFfmpegOptions {
  const char* path;
  int32_t threads;          /* 0: one a core */
  int32_t allow_interlaced; /* else a frame that is interlaced unlike the first is an error */
  VqxFfmpegTarget target;
} VqxFfmpegOptions;

typedef struct VqxFfmpegInfo {
  VqxFfmpegFormat format; /* of the delivered pictures */
  int32_t in_place;       /* frames are lent; else unpack() has to be called for each */
  int32_t range;          /* -1 unknown, 0 limited, 1 full */
  int32_t scan;           /* -1 unknown, 0 progressive, 1 top field first, 2 bottom */
  int32_t variable_rate;
  int32_t rotation;               /* degrees clockwise that were applied */
  int64_t rate_num, rate_den;     /* 0/0: unknown */
  int64_t aspect_num, aspect_den; /* 0/0: unknown */
  int64_t estimated_frames;       /* -1: unknown */
  char container[64];
  char codec[96];
  char pixel_format[32];
  char matrix[32]; /* empty: unknown */
  char transfer[32];
  char primaries[32];
  char notes[512]; /* a line each */
} VqxFfmpegInfo;

/* Planes of one picture; sizes follow from the format, chroma rounded up. */
typedef struct VqxFfmpegPlanes {
  void* data[3];
  ptrdiff_t stride[3];
} VqxFfmpegPlanes;

typedef struct VqxFfmpegModule {
  uint32_t abi;         /* VQX_FFMPEG_ABI */
  const char* versions; /* "FFmpeg 5.1.9 (libavformat 59.27.100, ...)" */

  /* A decoder with its first frame decoded, or NULL and the reason (without the path). */
  void* (*open)(const VqxFfmpegOptions* options, VqxFfmpegInfo* info, char* error,
                size_t error_size);
  /* The next frame: kVqxFrame, kVqxEnd or an error.  Where info.in_place is set `planes` are lent
   * until release(*owner). */
  int (*next)(void* decoder, VqxFfmpegPlanes* planes, void** owner, char* error, size_t error_size);
  /* Writes the frame that next() found into the caller's planes.  kVqxFrame or an error. */
  int (*unpack)(void* decoder, const VqxFfmpegPlanes* target, char* error, size_t error_size);
  void (*release)(void* owner); /* from any thread */
  void (*close)(void* decoder);

  /* Conversion of planar pictures that come from elsewhere. */
  void* (*open_converter)(const VqxFfmpegFormat* from, const VqxFfmpegFormat* to, int32_t filter,
                          int32_t full_range, char* error, size_t error_size);
  int (*convert)(void* converter, const VqxFfmpegPlanes* from, const VqxFfmpegPlanes* to);
  void (*close_converter)(void* converter);
} VqxFfmpegModule;

typedef const VqxFfmpegModule* (*VqxFfmpegEntry)(void);

#ifdef __cplusplus
}
#endif

#endif /* VQX_FFMPEG_MODULE_ABI_H */
