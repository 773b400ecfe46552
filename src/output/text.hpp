// Texts of reports: whatever a file name or a tag in a file holds, the report stays valid.
#pragma once

#include <string>
#include <string_view>

namespace vqx::output {

// The text as UTF-8: bytes that are none become U+FFFD.
std::string valid_utf8(std::string_view text);

std::string json_text(std::string_view text);  // with its quotes
// For XML and HTML, in elements and in quoted attributes.
std::string xml_text(std::string_view text);
// A cell of a CSV table, quoted where it must be.
std::string csv_text(std::string_view text);
// One line: control characters become spaces.
std::string one_line(std::string_view text);

}  // namespace vqx::output
