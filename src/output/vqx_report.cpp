#include "output/vqx_report.hpp"

#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>

#include <fmt/format.h>

#include "output/text.hpp"

namespace vqx::output {
namespace {

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

}  // namespace

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

std::vector<int> reported_positions(const Scores& scores) {
  std::vector<int> positions;
  for (int i = 0; i < scores.frame_count(); ++i)
    if (scores.reported(scores.first() + i)) positions.push_back(i);
  return positions;
}

std::string json_report(const VqxReport& report) {
  const Scores& scores = *report.scores;
  std::string text =
      fmt::format("{{\n  \"version\": {},\n  \"command\": {},\n  \"complete\": {},\n",
                  json_text(report.version), json_text(report.command), report.complete);
  if (!report.complete) text += fmt::format("  \"error\": {},\n", json_text(report.error));
  text += "  \"notes\": [";
  for (std::size_t i = 0; i < report.notes.size(); ++i)
    text += (i == 0 ? "" : ", ") + json_text(report.notes[i]);
  text += "],\n";
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
  for (const std::string& note : report.notes)
    text += fmt::format("  <note>{}</note>\n", xml_text(note));
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
    text += fmt::format("# {}: {}\n", name, one_line(value));
  };
  comment("version", report.version);
  comment("command", report.command);
  comment("complete", report.complete ? "true" : "false");
  if (!report.complete) comment("error", report.error);
  for (const std::string& note : report.notes) comment("note", note);
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

namespace {

using Writer = std::string (*)(const VqxReport&);

// Null where the extension is unknown.
Writer writer_for(const std::string& path) {
  std::string extension = std::filesystem::path(path).extension().string();
  for (char& c : extension) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (extension == ".json") return json_report;
  if (extension == ".xml") return xml_report;
  if (extension == ".csv") return csv_report;
  if (extension == ".html" || extension == ".htm") return html_report;
  return nullptr;
}

Status unknown_format(const std::string& path) {
  return Status(ErrorCode::kInvalidArgument,
                fmt::format("cannot tell the report format of \"{}\" from its extension; .json, "
                            ".xml, .csv and .html are known",
                            path));
}

}  // namespace

Status check_report_path(const std::string& path) {
  if (writer_for(path) == nullptr) return unknown_format(path);
  std::error_code error;
  const bool existed = std::filesystem::exists(path, error);
  // Opened for appending: a report from an earlier run must survive if this run fails.
  std::FILE* probe = std::fopen(path.c_str(), "ab");
  if (probe == nullptr)
    return Status(ErrorCode::kOutput,
                  fmt::format("cannot write {}: {}", path, std::strerror(errno)));
  std::fclose(probe);
  if (!existed) std::filesystem::remove(path, error);
  return {};
}

Result<std::string> format_for_path(const VqxReport& report, const std::string& path) {
  const Writer writer = writer_for(path);
  return writer != nullptr ? Result<std::string>(writer(report)) : unknown_format(path);
}

}  // namespace vqx::output
