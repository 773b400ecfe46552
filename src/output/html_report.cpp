// The report as a page that needs nothing else.  It is well-formed XML too, so that programs can
// read it and tests can check it.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "output/html_assets.hpp"
#include "output/text.hpp"
#include "output/vqx_report.hpp"

namespace vqx::output {
namespace {

// A screen has no more columns; every further point would only be bytes.
constexpr std::size_t kMostPoints = 1000;
constexpr std::size_t kWorstFrames = 10;

std::string fixed(double value) {
  return NumberFormat::fixed().print(value);
}

std::string row(const std::string& name, const std::string& value) {
  return fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td></tr>\n", xml_text(name),
                     xml_text(value));
}

std::string facts_table(const char* title, const Facts& facts) {
  std::string text = fmt::format("<table class=\"text\"><caption>{}</caption>\n<tbody>\n", title);
  for (const auto& [name, value] : facts) text += row(name, value);
  return text + "</tbody></table>\n";
}

// What models predict comes first: it is what most readers look for.
std::vector<const Series*> ordered_series(const VqxReport& report) {
  std::vector<const Series*> series;
  for (const Series& each : report.scores->series()) series.push_back(&each);
  const auto is_prediction = [&](const Series* each) {
    return std::any_of(report.models.begin(), report.models.end(), [&](const auto& model) {
      return std::find(model.keys.begin(), model.keys.end(), each->label) != model.keys.end();
    });
  };
  std::stable_partition(series.begin(), series.end(), is_prediction);
  return series;
}

std::string pooled_table(const VqxReport& report) {
  std::string text =
      "<div class=\"scroll\"><table><caption>Scores over all frames</caption>\n<thead><tr>"
      "<th scope=\"col\">score</th>";
  for (const char* name : {"mean", "minimum", "maximum", "harmonic mean", "1 % low", "5 % low"})
    text += fmt::format("<th scope=\"col\">{}</th>", name);
  text += "</tr></thead>\n<tbody>\n";
  for (const Series* series : ordered_series(report)) {
    text += fmt::format("<tr><th scope=\"row\">{}</th>", xml_text(series->label));
    const Statistics values = statistics(*report.scores, *series);
    for (std::size_t i = 0; i < 6; ++i)
      text += fmt::format("<td>{}</td>", i < values.size() ? fixed(values[i].second) : "–");
    text += "</tr>\n";
  }
  for (const auto& [name, value] : report.scores->aggregates())
    text += fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td>{}</tr>\n", xml_text(name),
                        fixed(value), "<td>–</td><td>–</td><td>–</td><td>–</td><td>–</td>");
  return text + "</tbody></table></div>\n";
}

// Scores that grow with the damage; all others fall with it.
bool higher_is_worse(const std::string& key) {
  return key.find("cambi") != std::string::npos || key.find("speed_") != std::string::npos ||
         key.starts_with("mse_");
}

struct FrameScore {
  int index;
  double value;
};

std::vector<FrameScore> worst_frames(const Scores& scores, const Series& series,
                                     const std::vector<int>& positions) {
  std::vector<FrameScore> frames;
  for (const int position : positions)
    if (const auto value = series.at(static_cast<std::size_t>(position));
        value && std::isfinite(*value))
      frames.push_back({scores.first() + position, *value});
  const bool descending = higher_is_worse(series.label);
  const auto worse = [descending](const FrameScore& a, const FrameScore& b) {
    if (a.value != b.value) return descending ? a.value > b.value : a.value < b.value;
    return a.index < b.index;
  };
  const std::size_t count = std::min(kWorstFrames, frames.size());
  std::partial_sort(frames.begin(), frames.begin() + static_cast<std::ptrdiff_t>(count),
                    frames.end(), worse);
  frames.resize(count);
  return frames;
}

std::string worst_table(const VqxReport& report, const Series& series,
                        const std::vector<int>& positions) {
  std::string text = fmt::format(
      "<table data-key=\"{0}\"><caption>Frames with the {1} {0}</caption>\n<thead><tr>"
      "<th scope=\"col\">frame</th><th scope=\"col\">score</th></tr></thead>\n<tbody>\n",
      xml_text(series.label), higher_is_worse(series.label) ? "highest" : "lowest");
  for (const FrameScore& frame : worst_frames(*report.scores, series, positions))
    text += fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td></tr>\n", frame.index,
                        fixed(frame.value));
  return text + "</tbody></table>\n";
}

// Numbers of the plot: as exact as a screen and a reader need; "null" where there is none.
std::string plot_number(double value) {
  return std::isfinite(value) ? fmt::format("{:.7g}", value) : "null";
}

std::string plot_series(const Series& series, const std::vector<int>& positions,
                        std::size_t bucket) {
  std::string low;
  std::string high;
  for (std::size_t begin = 0; begin < positions.size(); begin += bucket) {
    const std::size_t end = std::min(begin + bucket, positions.size());
    double least = NAN;
    double greatest = NAN;
    for (std::size_t i = begin; i < end; ++i) {
      const double value = series.at(static_cast<std::size_t>(positions[i])).value_or(NAN);
      if (!std::isfinite(value)) continue;
      // Negated so that the first value replaces NaN.
      if (!(least <= value)) least = value;
      if (!(greatest >= value)) greatest = value;
    }
    const char* comma = begin == 0 ? "" : ",";
    low += comma + plot_number(least);
    high += comma + plot_number(greatest);
  }
  return fmt::format("{{\"key\":{},\"low\":[{}],\"high\":[{}]}}", json_text(series.label), low,
                     high);
}

// Inside a script element nothing may look like markup.
std::string script_json(const std::string& json) {
  std::string text;
  for (const char c : json) {
    if (c == '<' || c == '>' || c == '&')
      text += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
    else
      text += c;
  }
  return text;
}

std::string plot_data(const VqxReport& report, const std::vector<int>& positions,
                      std::size_t bucket) {
  const Scores& scores = *report.scores;
  std::string text =
      fmt::format("{{\"first\":{},\"step\":{},\"frames\":{},\"bucket\":{},\"series\":[",
                  scores.first() + positions.front(), scores.subsample(), positions.size(), bucket);
  const char* comma = "";
  for (const Series* series : ordered_series(report)) {
    text += comma + plot_series(*series, positions, bucket);
    comma = ",\n";
  }
  return script_json(text + "]}");
}

std::string plot_section(const VqxReport& report, const std::vector<int>& positions) {
  if (positions.empty() || report.scores->series().empty()) return {};
  const std::size_t bucket = (positions.size() + kMostPoints - 1) / kMostPoints;
  std::string text =
      "<h2>By frame</h2>\n<p><label for=\"metric\">Score</label> <select id=\"metric\">\n";
  for (const Series* series : ordered_series(report))
    text += fmt::format("<option>{}</option>\n", xml_text(series->label));
  text +=
      "</select></p>\n<svg id=\"plot\" xmlns=\"http://www.w3.org/2000/svg\" role=\"slider\" "
      "tabindex=\"0\" aria-valuemin=\"0\" aria-valuenow=\"0\"><title>Score by frame</title></svg>\n"
      "<p id=\"readout\" aria-hidden=\"true\"></p>\n"
      "<noscript><p>The plot needs scripts; the tables do not.</p></noscript>\n";
  if (bucket > 1)
    text += fmt::format(
        "<p>A point stands for {} frames: the line runs through their lowest and highest score."
        "</p>\n",
        bucket);
  text += "<h2>Worst frames</h2>\n";
  for (const Series* series : ordered_series(report))
    text += worst_table(report, *series, positions);
  text += fmt::format("<script type=\"application/json\" id=\"data\">{}</script>\n",
                      plot_data(report, positions, bucket));
  return text + fmt::format("<script>/*<![CDATA[*/{}/*]]>*/</script>\n", kReportScript);
}

std::string sources_table(const VqxReport& report) {
  std::string text =
      "<div class=\"scroll\"><table class=\"text\"><caption>What was measured</caption>\n<thead>"
      "<tr><th scope=\"col\">name</th><th scope=\"col\">options</th><th scope=\"col\">on</th>"
      "<th scope=\"col\">scores</th></tr></thead>\n<tbody>\n";
  for (const auto* sources : {&report.models, &report.metrics})
    for (const VqxReport::Source& source : *sources)
      text += fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td>{}</td></tr>\n",
                          xml_text(source.name), xml_text(source.options), xml_text(source.backend),
                          xml_text(fmt::format("{}", fmt::join(source.keys, ", "))));
  return text + "</tbody></table></div>\n";
}

std::string fact(const Facts& facts, const char* name) {
  for (const auto& [key, value] : facts)
    if (key == name) return value;
  return {};
}

}  // namespace

std::string html_report(const VqxReport& report) {
  const Scores& scores = *report.scores;
  const std::vector<int> positions = reported_positions(scores);
  std::string text = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\" xmlns=\"http://www.w3.org/1999/xhtml\">\n<head>\n"
      "<meta charset=\"utf-8\"/>\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
      "style-src 'unsafe-inline'; script-src 'unsafe-inline'\"/>\n"
      "<title>Quality of {}</title>\n<style>{}</style>\n</head>\n<body>\n<main>\n"
      "<h1>Video quality</h1>\n<p><strong>{}</strong> compared with <strong>{}</strong>, "
      "{} frame{}, measured by {}.</p>\n",
      xml_text(fact(report.distorted, "path")), kReportStyle,
      xml_text(fact(report.distorted, "path")), xml_text(fact(report.reference, "path")),
      scores.frame_count(), scores.frame_count() == 1 ? "" : "s", xml_text(report.version));
  if (!report.complete)
    text +=
        fmt::format("<p class=\"bad\" role=\"alert\">Incomplete: {}</p>\n", xml_text(report.error));
  for (const std::string& note : report.notes)
    text += fmt::format("<p>Note: {}</p>\n", xml_text(note));
  text += pooled_table(report) + plot_section(report, positions);
  text += "<h2>Provenance</h2>\n" + sources_table(report);
  text += facts_table("Reference", report.reference) + facts_table("Distorted", report.distorted) +
          facts_table("Environment", report.environment);
  text += fmt::format("<p>Command: <code>{}</code></p>\n", xml_text(report.command));
  return text +
         "<p>This page rounds; -o FILE.json or .csv keeps every score of every frame exactly.</p>\n"
         "</main>\n</body>\n</html>\n";
}

}  // namespace vqx::output
