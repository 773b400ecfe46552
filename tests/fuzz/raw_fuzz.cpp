// Any bytes as a raw file: the first ones choose the size, format and depth.
#include "fuzz_input.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace vqx::input;
  constexpr std::size_t kParameters = 6;
  if (size < kParameters) return 0;
  static constexpr int kDepths[] = {8, 10, 12, 16, 9, 0, -1, 32};
  OpenOptions options;
  RawParameters raw;
  // Mostly small; now and then far too large.
  const auto side = [](std::uint8_t low, std::uint8_t high) {
    return high == 255 ? std::int64_t{low} << 28 : std::int64_t{low} | (high & 1) << 8;
  };
  raw.width = side(data[0], data[1]);
  raw.height = side(data[2], data[3]);
  raw.chroma = static_cast<vqx::ChromaFormat>(data[4] & 3);
  raw.bit_depth = kDepths[data[5] & 7];
  options.raw = raw;
  options.mono_as_420 = (data[4] & 4) != 0;
  const vqx::fuzz::MemoryFile file(data + kParameters, size - kParameters);
  auto bytes = ByteReader::open(file.path());
  if (!bytes.ok()) std::abort();
  auto source = open_raw(std::move(*bytes), options);
  if (source.ok()) vqx::fuzz::read_all(**source);
  return 0;
}
