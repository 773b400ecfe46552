#include "cli/terminal.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include <fmt/format.h>

namespace vqx::cli {

void open_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(stream, F_GETFD) < 0) (void)open("/dev/null", O_RDWR);  // takes the lowest number
}

std::string printable(std::string_view text) {
  std::string result;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x20 && c != '\n') || byte == 0x7F)
      result += fmt::format("\\x{:02x}", byte);
    else
      result += c;
  }
  return result;
}

void complain(const std::string& message) {
  std::string lines = "vqx: ";
  for (const char c : printable(message)) {
    lines += c;
    if (c == '\n') lines += "vqx: ";
  }
  std::fprintf(stderr, "%s\n", lines.c_str());
}

Status flush_standard_output() {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return {};
  return Status(ErrorCode::kOutput,
                fmt::format("cannot write to standard output: {}", std::strerror(errno)));
}

}  // namespace vqx::cli
