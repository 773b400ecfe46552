// Standard streams: messages, and what can be wrong with the streams themselves.
#pragma once

#include <string>
#include <string_view>

#include "vqx/status.hpp"

namespace vqx::cli {

// Opens /dev/null in place of standard streams that the caller closed: the next file opened would
// take their number otherwise, and messages would go there.
void open_standard_streams();

// Text with control characters written as \xNN, line feeds excepted: names from files must not
// drive the terminal.
std::string printable(std::string_view text);

// "vqx: MESSAGE" on standard error, every line of it.
void complain(const std::string& message);

// kOutput where standard output could not take all that was printed.
Status flush_standard_output();

}  // namespace vqx::cli
