#include "output/vqx_report.hpp"

#include <cmath>
#include <filesystem>
#include <optional>

#include <fmt/format.h>

namespace vqx::output {
namespace {

std::string json_text(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      quoted += std::string("\\") + c;
    else if (static_cast<unsigned char>(c) < 0x20)
      quoted += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
    else
      quoted += c;
  }
  return quoted + "\"";
}

std::string xml_text(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        // XML 1.0 cannot hold control characters at all.
        escaped += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return escaped;
}

std::string csv_text(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

using Statistics = std::vector<std::pair<const char*, double>>;

Statistics statistics(const Scores& scores, const Series& series) {
  const auto pooled = scores.pooled(series);
  if (!pooled) return {};
  Statistics result = {{"mean", pooled->mean},
                       {"min", pooled->min},
                       {"max", pooled->max},
                       {"harmonic_mean", pooled->harmonic_mean}};
  if (const auto low = scores.quantile(series, 0.01)) result.emplace_back("low_1_percent", *low);
  if (const auto low = scores.quantile(series, 0.05)) result.emplace_back("low_5_percent", *low);
  return result;
}

std::string json_number(const VqxReport& report, double value) {
  return std::isfinite(value) ? report.number.print(value) : "null";
}

std::string json_facts(const Facts& facts) {
  std::string text = "{";
  for (std::size_t i = 0; i < facts.size(); ++i)
    text += fmt::format("{}\n    {}: {}", i == 0 ? "" : ",", json_text(facts[i].first),
                        json_text(facts[i].second));
  return text + "\n  }";
}

std::string json_sources(const std::vector<VqxReport::Source>& sources) {
  std::string text = "[";
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const VqxReport::Source& source = sources[i];
    text += fmt::format("{}\n    {{\"name\": {}, \"options\": {}, \"backend\": {}, \"keys\": [",
                        i == 0 ? "" : ",", json_text(source.name), json_text(source.options),
                        json_text(source.backend));
    for (std::size_t k = 0; k < source.keys.size(); ++k)
      text += (k == 0 ? "" : ", ") + json_text(source.keys[k]);
    text += "]}";
  }
  return text + "\n  ]";
}

// Positions (not indices) of the frames that reports show.
std::vector<int> reported_positions(const Scores& scores) {
  std::vector<int> positions;
  for (int i = 0; i < scores.frame_count(); ++i)
    if (scores.reported(scores.first() + i)) positions.push_back(i);
  return positions;
}

}  // namespace

std::string json_report(const VqxReport& report) {
  const Scores& scores = *report.scores;
  std::string text =
      fmt::format("{{\n  \"version\": {},\n  \"command\": {},\n  \"complete\": {},\n",
                  json_text(report.version), json_text(report.command), report.complete);
  if (!report.complete) text += fmt::format("  \"error\": {},\n", json_text(report.error));
  text += fmt::format(
      "  \"reference\": {},\n  \"distorted\": {},\n  \"environment\": {},\n  \"metrics\": {},\n"
      "  \"models\": {},\n",
      json_facts(report.reference), json_facts(report.distorted), json_facts(report.environment),
      json_sources(report.metrics), json_sources(report.models));
  text += fmt::format("  \"first_frame\": {},\n  \"frame_count\": {},\n  \"subsample\": {},\n",
                      scores.first(), scores.frame_count(), scores.subsample());
  text += "  \"pooled\": {";
  const char* separator = "";
  for (const Series& series : scores.series()) {
    text += fmt::format("{}\n    {}: {{", separator, json_text(series.label));
    separator = ",";
    const char* comma = "";
    for (const auto& [name, value] : statistics(scores, series)) {
      text += fmt::format("{}\"{}\": {}", comma, name, json_number(report, value));
      comma = ", ";
    }
    text += "}";
  }
  text += "\n  },\n  \"aggregates\": {";
  separator = "";
  for (const auto& [name, value] : scores.aggregates()) {
    text += fmt::format("{}\n    {}: {}", separator, json_text(name), json_number(report, value));
    separator = ",";
  }
  text += "\n  },\n  \"frames\": [";
  separator = "";
  for (const int position : reported_positions(scores)) {
    text += fmt::format("{}\n    {{\"index\": {}, \"scores\": {{", separator,
                        scores.first() + position);
    separator = ",";
    const char* comma = "";
    for (const Series& series : scores.series())
      if (const auto value = series.at(static_cast<std::size_t>(position))) {
        text +=
            fmt::format("{}{}: {}", comma, json_text(series.label), json_number(report, *value));
        comma = ", ";
      }
    text += "}}";
  }
  return text + "\n  ]\n}\n";
}

std::string xml_report(const VqxReport& report) {
  const Scores& scores = *report.scores;
  std::string text = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<vqx version=\"{}\" complete=\"{}\" first_frame=\"{}\" frame_count=\"{}\" "
      "subsample=\"{}\">\n"
      "  <command>{}</command>\n",
      xml_text(report.version), report.complete, scores.first(), scores.frame_count(),
      scores.subsample(), xml_text(report.command));
  if (!report.complete) text += fmt::format("  <error>{}</error>\n", xml_text(report.error));
  for (const auto& [name, facts] :
       {std::pair("reference", &report.reference), std::pair("distorted", &report.distorted),
        std::pair("environment", &report.environment)}) {
    text += fmt::format("  <{}>\n", name);
    for (const auto& [key, value] : *facts)
      text += fmt::format("    <fact name=\"{}\" value=\"{}\"/>\n", xml_text(key), xml_text(value));
    text += fmt::format("  </{}>\n", name);
  }
  for (const auto& [name, sources] :
       {std::pair("metric", &report.metrics), std::pair("model", &report.models)})
    for (const VqxReport::Source& source : *sources) {
      text +=
          fmt::format("  <{} name=\"{}\" options=\"{}\" backend=\"{}\">", name,
                      xml_text(source.name), xml_text(source.options), xml_text(source.backend));
      for (const std::string& key : source.keys)
        text += fmt::format("<key>{}</key>", xml_text(key));
      text += fmt::format("</{}>\n", name);
    }
  text += "  <pooled>\n";
  for (const Series& series : scores.series()) {
    text += fmt::format("    <score key=\"{}\"", xml_text(series.label));
    for (const auto& [name, value] : statistics(scores, series))
      text += fmt::format(" {}=\"{}\"", name, report.number.print(value));
    text += "/>\n";
  }
  text += "  </pooled>\n  <aggregates>\n";
  for (const auto& [name, value] : scores.aggregates())
    text += fmt::format("    <score key=\"{}\" value=\"{}\"/>\n", xml_text(name),
                        report.number.print(value));
  text += "  </aggregates>\n  <frames>\n";
  for (const int position : reported_positions(scores)) {
    text += fmt::format("    <frame index=\"{}\">", scores.first() + position);
    for (const Series& series : scores.series())
      if (const auto value = series.at(static_cast<std::size_t>(position)))
        text += fmt::format("<score key=\"{}\" value=\"{}\"/>", xml_text(series.label),
                            report.number.print(*value));
    text += "</frame>\n";
  }
  return text + "  </frames>\n</vqx>\n";
}

std::string csv_report(const VqxReport& report) {
  const Scores& scores = *report.scores;
  std::string text;
  const auto comment = [&](const std::string& name, const std::string& value) {
    std::string line = value;
    for (char& c : line)
      if (c == '\n' || c == '\r') c = ' ';
    text += fmt::format("# {}: {}\n", name, line);
  };
  comment("version", report.version);
  comment("command", report.command);
  comment("complete", report.complete ? "true" : "false");
  if (!report.complete) comment("error", report.error);
  for (const auto& [prefix, facts] :
       {std::pair("reference ", &report.reference), std::pair("distorted ", &report.distorted),
        std::pair("", &report.environment)})
    for (const auto& [key, value] : *facts) comment(prefix + key, value);
  for (const auto& [prefix, sources] :
       {std::pair("metric", &report.metrics), std::pair("model", &report.models)})
    for (const VqxReport::Source& source : *sources)
      comment(prefix, source.name + (source.options.empty() ? "" : "=" + source.options) + " on " +
                          source.backend);
  text += "frame";
  for (const Series& series : scores.series()) text += "," + csv_text(series.label);
  text += "\n";
  for (const int position : reported_positions(scores)) {
    text += std::to_string(scores.first() + position);
    for (const Series& series : scores.series()) {
      text += ",";
      if (const auto value = series.at(static_cast<std::size_t>(position)))
        text += report.number.print(*value);
    }
    text += "\n";
  }
  return text;
}

Status check_report_path(const std::string& path) {
  const std::filesystem::path file(path);
  const std::string extension = file.extension().string();
  if (extension != ".json" && extension != ".xml" && extension != ".csv")
    return Status(ErrorCode::kInvalidArgument,
                  fmt::format("cannot tell the report format of \"{}\" from its extension; .json, "
                              ".xml and .csv are known",
                              path));
  const std::filesystem::path folder = file.has_parent_path() ? file.parent_path() : ".";
  std::error_code error;
  if (!std::filesystem::is_directory(folder, error))
    return Status(ErrorCode::kOutput,
                  fmt::format("cannot write {}: there is no folder {}", path, folder.string()));
  // Opened for appending: a report from an earlier run must survive if this run fails.
  std::FILE* probe = std::fopen(path.c_str(), "ab");
  if (probe == nullptr)
    return Status(ErrorCode::kOutput, fmt::format("cannot write {}: not permitted", path));
  std::fclose(probe);
  return {};
}

Result<std::string> format_for_path(const VqxReport& report, const std::string& path) {
  const std::string extension = std::filesystem::path(path).extension().string();
  if (extension == ".json") return json_report(report);
  if (extension == ".xml") return xml_report(report);
  if (extension == ".csv") return csv_report(report);
  return Status(ErrorCode::kInvalidArgument, "unknown report format: " + path);
}

}  // namespace vqx::output
