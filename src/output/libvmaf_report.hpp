// The four report formats of libvmaf's tool, byte for byte.
#pragma once

#include <optional>
#include <string>

#include "output/number_format.hpp"
#include "vqx/scores.hpp"
#include "vqx/status.hpp"

namespace vqx::output {

enum class LibvmafFormat { kXml, kJson, kCsv, kSub };

struct LibvmafReport {
  std::string version;
  int width = 0;  // of the reference
  int height = 0;
  double fps = 0;  // infinite prints null in JSON
  const Scores* scores = nullptr;
  NumberFormat number = NumberFormat::libvmaf();
};

std::string format_report(const LibvmafReport& report, LibvmafFormat format);

// kOutput naming the file when it cannot be written completely.
Status write_file(const std::string& path, const std::string& text);

}  // namespace vqx::output
