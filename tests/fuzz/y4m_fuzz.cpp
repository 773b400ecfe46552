// Any bytes as a YUV4MPEG2 file, in both dialects: no crash, no giant allocation, and the same
// frames again when read a second time with a skip in front.
#include "fuzz_input.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace vqx::input;
  const vqx::fuzz::MemoryFile file(data, size);
  for (const Dialect dialect : {Dialect::kVqx, Dialect::kLibvmaf}) {
    OpenOptions options;
    options.dialect = dialect;
    options.mono_as_420 = dialect == Dialect::kLibvmaf;
    auto bytes = ByteReader::open(file.path());
    if (!bytes.ok()) std::abort();
    auto source = open_y4m(std::move(*bytes), options);
    if (!source.ok()) continue;
    const int frames = vqx::fuzz::read_all(**source);
    auto again = open_y4m(std::move(*ByteReader::open(file.path())), options);
    if (!again.ok()) std::abort();
    if (frames > 0 && !(*again)->skip(1).ok()) std::abort();
    // A skipped frame's samples are not checked, so that more may come out than before.
    if (vqx::fuzz::read_all(**again) < frames - 1) std::abort();
  }
  return 0;
}
