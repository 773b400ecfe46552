// Sequential bytes of a file or pipe.
//
// Files are read with read(2) into recycled memory and not mapped: a mapped file that someone
// truncates meanwhile kills the process (SIGBUS), and copying into warm pages was measured to be
// faster than faulting mapped ones in (4K 8-bit frames: 1.1 ms against 1.5 ms with
// MADV_POPULATE_READ and 5 ms without, each including one pass over the samples).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "vqx/status.hpp"

namespace vqx::input {

class ByteReader {
 public:
  // "-" is standard input.  kInput with the system's reason.
  static Result<ByteReader> open(const std::string& path);

  ByteReader(ByteReader&& other) noexcept;
  ByteReader& operator=(ByteReader&& other) noexcept;
  ByteReader(const ByteReader&) = delete;
  ByteReader& operator=(const ByteReader&) = delete;
  ~ByteReader();

  const std::string& path() const { return path_; }
  bool is_regular() const { return size_.has_value(); }
  // Bytes left in a regular file as it was when opened; empty for pipes.
  std::optional<std::uint64_t> remaining() const;

  // Fills `target`; less than `size` only at the end of the file.
  Result<std::size_t> read(void* target, std::size_t size);
  // Bytes of a regular file `offset` behind the next one, without moving; may be called from
  // several threads at once.  Less than `size` only at the end of the file.
  Result<std::size_t> read_ahead(std::uint64_t offset, void* target, std::size_t size) const;
  // Drops bytes; less than `size` only at the end of the file.
  Result<std::uint64_t> skip(std::uint64_t size);

  // The next bytes without taking them: `size` of them (fewer at the end of the file), or up to and
  // including the first line feed but at most `max_size`.  Valid until the next call.
  Result<std::string_view> peek(std::size_t size);
  Result<std::string_view> peek_line(std::size_t max_size);
  // Bytes of a regular file, `distance` before its end, without moving; empty where that fails.
  std::string look_before_end(std::uint64_t distance, std::size_t size) const;
  // Takes bytes that were peeked at.
  void consume(std::size_t size);

 private:
  ByteReader(int fd, bool owned, std::string path)
      : fd_(fd), owned_(owned), path_(std::move(path)) {}
  void close();
  Result<std::size_t> read_some(void* target, std::size_t size);
  // One read that makes the peek buffer longer; false at the end of the file.
  Result<bool> extend_buffer(std::size_t size);

  int fd_ = -1;
  bool owned_ = false;
  std::string path_;
  std::optional<std::uint64_t> size_;
  std::uint64_t position_ = 0;  // of the file descriptor; peeked bytes lie before it
  std::string buffer_;          // peeked bytes
};

}  // namespace vqx::input
