#include "input/byte_reader.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <system_error>
#include <utility>

namespace vqx::input {
namespace {

Status system_error(const std::string& path, const char* action, int error) {
  return Status(ErrorCode::kInput, fmt::format("{}: cannot {}: {}", path, action,
                                               std::generic_category().message(error)));
}

}  // namespace

Result<ByteReader> ByteReader::open(const std::string& path) {
  const bool standard_input = path == "-";
  const int fd = standard_input ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return system_error(path, "open", errno);
  ByteReader reader(fd, !standard_input, standard_input ? "standard input" : path);
  struct stat status {};
  if (fstat(fd, &status) != 0) return system_error(reader.path_, "examine", errno);
  if (S_ISDIR(status.st_mode))
    return Status(ErrorCode::kInput, fmt::format("{}: is a directory, not a video", path));
  if (S_ISREG(status.st_mode)) {
    const off_t start = lseek(fd, 0, SEEK_CUR);
    if (start >= 0) {
      reader.size_ = static_cast<std::uint64_t>(status.st_size);
      reader.position_ = static_cast<std::uint64_t>(start);
      (void)posix_fadvise(fd, start, 0, POSIX_FADV_SEQUENTIAL);
    }
  }
  return reader;
}

ByteReader::ByteReader(ByteReader&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      owned_(other.owned_),
      path_(std::move(other.path_)),
      size_(other.size_),
      position_(other.position_),
      buffer_(std::move(other.buffer_)) {}

ByteReader& ByteReader::operator=(ByteReader&& other) noexcept {
  if (this == &other) return *this;
  close();
  fd_ = std::exchange(other.fd_, -1);
  owned_ = other.owned_;
  path_ = std::move(other.path_);
  size_ = other.size_;
  position_ = other.position_;
  buffer_ = std::move(other.buffer_);
  return *this;
}

ByteReader::~ByteReader() {
  close();
}

void ByteReader::close() {
  if (owned_ && fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

std::optional<std::uint64_t> ByteReader::remaining() const {
  if (!size_) return std::nullopt;
  return (*size_ > position_ ? *size_ - position_ : 0) + buffer_.size();
}

Result<std::size_t> ByteReader::read_some(void* target, std::size_t size) {
  // Linux transfers at most 2 GiB at once.
  size = std::min(size, std::size_t{1} << 30);
  for (;;) {
    const ssize_t count = ::read(fd_, target, size);
    if (count >= 0) {
      position_ += static_cast<std::uint64_t>(count);
      return static_cast<std::size_t>(count);
    }
    if (errno != EINTR) return system_error(path_, "read", errno);
  }
}

Result<std::size_t> ByteReader::read(void* target, std::size_t size) {
  auto* bytes = static_cast<char*>(target);
  std::size_t done = std::min(size, buffer_.size());
  std::memcpy(bytes, buffer_.data(), done);
  buffer_.erase(0, done);
  while (done < size) {
    VQX_ASSIGN_OR_RETURN(const std::size_t count, read_some(bytes + done, size - done));
    if (count == 0) break;
    done += count;
  }
  return done;
}

Result<std::size_t> ByteReader::read_ahead(std::uint64_t offset, void* target,
                                           std::size_t size) const {
  auto* bytes = static_cast<char*>(target);
  const std::uint64_t first = position_ - buffer_.size() + offset;
  std::size_t done = 0;
  while (done < size) {
    const ssize_t count = pread(fd_, bytes + done, size - done, static_cast<off_t>(first + done));
    if (count == 0) break;
    if (count > 0)
      done += static_cast<std::size_t>(count);
    else if (errno != EINTR)
      return system_error(path_, "read", errno);
  }
  return done;
}

Result<std::uint64_t> ByteReader::skip(std::uint64_t size) {
  const std::uint64_t buffered = std::min<std::uint64_t>(size, buffer_.size());
  buffer_.erase(0, static_cast<std::size_t>(buffered));
  std::uint64_t done = buffered;
  if (size_) {
    const std::uint64_t count = std::min(size - done, *remaining());
    if (lseek(fd_, static_cast<off_t>(count), SEEK_CUR) < 0)
      return system_error(path_, "seek", errno);
    position_ += count;
    return done + count;
  }
  constexpr std::size_t kScratch = std::size_t{1} << 16;
  const auto scratch = std::make_unique<char[]>(kScratch);
  while (done < size) {
    const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(kScratch, size - done));
    VQX_ASSIGN_OR_RETURN(const std::size_t count, read_some(scratch.get(), wanted));
    if (count == 0) break;
    done += count;
  }
  return done;
}

Result<bool> ByteReader::extend_buffer(std::size_t size) {
  const std::size_t before = buffer_.size();
  buffer_.resize(before + size);
  auto count = read_some(buffer_.data() + before, size);
  buffer_.resize(before + (count.ok() ? *count : 0));
  if (!count.ok()) return count.status();
  return *count > 0;
}

Result<std::string_view> ByteReader::peek(std::size_t size) {
  while (buffer_.size() < size) {
    VQX_ASSIGN_OR_RETURN(const bool more, extend_buffer(size - buffer_.size()));
    if (!more) break;
  }
  return std::string_view(buffer_).substr(0, size);
}

Result<std::string_view> ByteReader::peek_line(std::size_t max_size) {
  for (;;) {
    const std::size_t end = buffer_.find('\n');
    if (end < max_size) return std::string_view(buffer_).substr(0, end + 1);
    if (buffer_.size() >= max_size) break;
    VQX_ASSIGN_OR_RETURN(const bool more, extend_buffer(max_size - buffer_.size()));
    if (!more) break;
  }
  return std::string_view(buffer_).substr(0, max_size);
}

std::string ByteReader::look_before_end(std::uint64_t distance, std::size_t size) const {
  if (!size_ || distance > *size_) return {};
  std::string bytes(size, '\0');
  const ssize_t count = pread(fd_, bytes.data(), size, static_cast<off_t>(*size_ - distance));
  bytes.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  return bytes;
}

void ByteReader::consume(std::size_t size) {
  buffer_.erase(0, size);
}

}  // namespace vqx::input
