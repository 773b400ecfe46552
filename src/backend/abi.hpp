// What crosses between the program and a backend module: plain data and function pointers only,
// since the two may be built by different compilers.  The module exports one function,
//
//   extern "C" const vqx::abi::Backend* vqx_backend_v1();
//
// and the program accepts its table only if `size` and `build_hash` are its own: metrics hand plain
// structs of their own to their device side, so both must come from the same sources.
//
// Functions report through Error and neither throw, exit nor print.  A Pipeline's functions may be
// called from several threads, each slot by one thread at a time.
#pragma once

#include <cstdint>

namespace vqx::abi {

inline constexpr const char* kEntryName = "vqx_backend_v1";

struct Error {
  int32_t code = 0;  // vqx::ErrorCode; 0: none
  char text[1020] = {};
};

struct DeviceInfo {
  char name[128];
  char architecture[64];
  uint64_t memory;       // bytes
  uint64_t memory_free;  // bytes
  int32_t compute_units;
  int32_t has_fp64;  // the device computes binary64 in hardware
};

// How kernels get their binary64.
enum Fp64 : int32_t { kFp64Auto = 0, kFp64Hardware = 1, kFp64Software = 2 };

struct Bytes {
  const void* data;
  uint64_t size;
};

struct MetricRequest {
  const char* name;
  const Bytes* sets;  // Metric::device_config() of each option set
  int32_t set_count;
};

struct PipelineSpec {
  int32_t device;
  int32_t fp64;  // Fp64
  int32_t frames_in_flight;
  int32_t profile;  // 1: profile() will be called
  int32_t width;
  int32_t height;
  int32_t chroma;  // vqx::ChromaFormat
  int32_t bit_depth;
  const MetricRequest* metrics;
  int32_t metric_count;
};

struct PipelineInfo {
  int32_t slots;  // frames in flight that memory allowed, at least 1
  uint64_t device_bytes;
};

// Memory that the device reads directly, to copy a plane's rows to; data null: the plane is not
// needed.  Padding stays zero.
struct StagingPlane {
  void* data;
  int64_t pitch;      // bytes from row to row
  int64_t row_bytes;  // bytes to copy of each row
  int32_t rows;
};

struct Staging {
  StagingPlane reference[3];
  StagingPlane distorted[3];
};

// A frame whose planes lie in memory from allocate_pinned().
struct PinnedPlane {
  const void* data;
  int64_t pitch;  // bytes from row to row
};

struct PinnedFrame {
  PinnedPlane reference[3];
  PinnedPlane distorted[3];
};

// Receives the measured words of one option set.
using WordSink = void (*)(void* context, int32_t metric, int32_t set, const uint64_t* words,
                          uint64_t count);

struct ProfileEntry {
  char name[64];
  uint64_t frames;  // that were timed
  double seconds;
  uint64_t bytes;  // least traffic to and from memory, all frames together
};

struct Pipeline;

struct Backend {
  uint32_t size;  // sizeof(Backend)
  const char* build_hash;
  const char* name;  // "cuda", "hip", "sycl", "host"

  int32_t (*device_count)(Error* error);
  void (*device_info)(int32_t device, DeviceInfo* info, Error* error);
  // Runs the arithmetic and language probes; an error names those that failed.
  void (*self_test)(int32_t device, int32_t fp64, Error* error);
  // Bytes per second of a large copy within the device, reads and writes counted.
  double (*copy_bandwidth)(int32_t device, Error* error);
  int32_t (*has_metric)(const char* name);

  // Host memory that the device reads directly, for pictures that need no staging copy; null
  // without an error where the backend has none.
  void* (*allocate_pinned)(int32_t device, uint64_t bytes, Error* error);
  void (*release_pinned)(int32_t device, void* memory);

  Pipeline* (*open)(const PipelineSpec* spec, PipelineInfo* info, Error* error);
  void (*close)(Pipeline* pipeline);
  // The staging memory of a slot, allocated when it is first asked for.
  void (*staging)(Pipeline* pipeline, int32_t slot, Staging* staging, Error* error);
  // Starts the upload and all metrics of a frame: the one in the slot's staging memory (`pinned`
  // null), or one in pinned memory, which must stay as it is until collect() returns.
  void (*submit)(Pipeline* pipeline, int32_t slot, const PinnedFrame* pinned, Error* error);
  // Waits for the slot's frame; afterwards the slot is free again.
  void (*collect)(Pipeline* pipeline, int32_t slot, WordSink sink, void* context, Error* error);
  // Times the kernels of every metric, one metric after the other, on the frames that lie in the
  // slots; no frame may be in flight.  Entries: one per metric in the order of the spec, then the
  // uploads of the run.  Returns their number.
  int32_t (*profile)(Pipeline* pipeline, ProfileEntry* entries, int32_t capacity, Error* error);
};

}  // namespace vqx::abi
