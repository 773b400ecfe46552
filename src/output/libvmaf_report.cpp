#include "output/libvmaf_report.hpp"

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace vqx::output {
namespace {

struct Value {
  const Series* series;
  double value;
};

// Reported frames with at least one score.
void for_each_frame(const Scores& scores,
                    const std::function<void(int index, const std::vector<Value>&)>& visit) {
  std::vector<Value> row;
  for (int i = 0; i < scores.frame_count(); ++i) {
    const int index = scores.first() + i;
    if (!scores.reported(index)) continue;
    row.clear();
    for (const Series& series : scores.series())
      if (const auto value = series.at(static_cast<std::size_t>(i)))
        row.push_back({&series, *value});
    if (!row.empty()) visit(index, row);
  }
}

std::vector<std::pair<const char*, double>> pooled_values(const Scores& scores,
                                                          const Series& series) {
  const auto pooled = scores.pooled(series);
  if (!pooled) return {};
  return {{"min", pooled->min},
          {"max", pooled->max},
          {"mean", pooled->mean},
          {"harmonic_mean", pooled->harmonic_mean}};
}

std::string json_number(const LibvmafReport& report, double value) {
  return std::isfinite(value) ? report.number.print(value) : "null";
}

std::string fps_text(double fps) {
  if (std::isnan(fps)) return std::signbit(fps) ? "-nan" : "nan";
  if (std::isinf(fps)) return "inf";
  return fmt::format("{:.2f}", fps);
}

std::string json(const LibvmafReport& report) {
  const Scores& scores = *report.scores;
  std::string text =
      fmt::format("{{\n  \"version\": \"{}\",\n  \"fps\": {},\n  \"frames\": [", report.version,
                  std::isfinite(report.fps) ? fps_text(report.fps) : "null");
  bool first = true;
  for_each_frame(scores, [&](int index, const std::vector<Value>& row) {
    text += first ? "\n" : ",\n";
    first = false;
    text += fmt::format("    {{\n      \"frameNum\": {},\n      \"metrics\": {{\n", index);
    for (std::size_t i = 0; i < row.size(); ++i) {
      const bool last = i + 1 == row.size();
      text += fmt::format("        \"{}\": {}{}", row[i].series->label,
                          json_number(report, row[i].value), last ? "" : ",");
      // libvmaf forgets the line feed after a null.
      if (std::isfinite(row[i].value)) text += "\n";
    }
    text += "      }\n    }";
  });
  text += "\n  ],\n  \"pooled_metrics\": {";
  first = true;
  for (const Series& series : scores.series()) {
    text += first ? "\n" : ",\n";
    first = false;
    text += fmt::format("    \"{}\": {{", series.label);
    const char* separator = "\n";
    for (const auto& [name, value] : pooled_values(scores, series)) {
      text += fmt::format("{}      \"{}\": {}", separator, name, json_number(report, value));
      separator = ",\n";
    }
    text += "\n    }";
  }
  text += "\n  },\n  \"aggregate_metrics\": {";
  const char* separator = "";
  for (const auto& [name, value] : scores.aggregates()) {
    text += fmt::format("{}\n    \"{}\": {}", separator, name, json_number(report, value));
    separator = ",";
  }
  return text + "\n  }\n}\n";
}

std::string xml(const LibvmafReport& report) {
  const Scores& scores = *report.scores;
  std::string text = fmt::format(
      "<VMAF version=\"{}\">\n  <params qualityWidth=\"{}\" qualityHeight=\"{}\" />\n"
      "  <fyi fps=\"{}\" />\n  <frames>\n",
      report.version, report.width, report.height, fps_text(report.fps));
  for_each_frame(scores, [&](int index, const std::vector<Value>& row) {
    text += fmt::format("    <frame frameNum=\"{}\" ", index);
    for (const Value& value : row)
      text += fmt::format("{}=\"{}\" ", value.series->label, report.number.print(value.value));
    text += "/>\n";
  });
  text += "  </frames>\n  <pooled_metrics>\n";
  for (const Series& series : scores.series()) {
    text += fmt::format("    <metric name=\"{}\" ", series.label);
    for (const auto& [name, value] : pooled_values(scores, series))
      text += fmt::format("{}=\"{}\" ", name, report.number.print(value));
    text += "/>\n";
  }
  text += "  </pooled_metrics>\n  <aggregate_metrics ";
  for (const auto& [name, value] : scores.aggregates())
    text += fmt::format("{}=\"{}\" ", name, report.number.print(value));
  return text + "/>\n</VMAF>\n";
}

std::string csv(const LibvmafReport& report) {
  std::string text = "Frame,";
  for (const Series& series : report.scores->series()) text += series.label + ",";
  text += "\n";
  for_each_frame(*report.scores, [&](int index, const std::vector<Value>& row) {
    text += fmt::format("{},", index);
    for (const Value& value : row) text += report.number.print(value.value) + ",";
    text += "\n";
  });
  return text;
}

std::string sub(const LibvmafReport& report) {
  std::string text;
  for_each_frame(*report.scores, [&](int index, const std::vector<Value>& row) {
    text += fmt::format("{{{}}}{{{}}}frame: {}|", index, index + 1, index);
    for (const Value& value : row)
      text += fmt::format("{}: {}|", value.series->label, report.number.print(value.value));
    text += "\n";
  });
  return text;
}

}  // namespace

std::string format_report(const LibvmafReport& report, LibvmafFormat format) {
  switch (format) {
    case LibvmafFormat::kXml:
      return xml(report);
    case LibvmafFormat::kJson:
      return json(report);
    case LibvmafFormat::kCsv:
      return csv(report);
    case LibvmafFormat::kSub:
      return sub(report);
  }
  return {};
}

Status write_file(const std::string& path, const std::string& text) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr)
    return Status(ErrorCode::kOutput, "could not open file: " + path + ": " + std::strerror(errno));
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const bool closed = std::fclose(file) == 0;
  if (!written || !closed)
    return Status(ErrorCode::kOutput,
                  "could not write file: " + path + ": " + std::strerror(errno));
  return {};
}

}  // namespace vqx::output
