// Reports of `vqx`: scores with all that is needed to know how they came about.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "output/number_format.hpp"
#include "vqx/scores.hpp"
#include "vqx/status.hpp"

namespace vqx::output {

// Name and value pairs in the order of printing.
using Facts = std::vector<std::pair<std::string, std::string>>;

struct VqxReport {
  std::string version;
  std::string command;
  bool complete = true;  // false: the run broke off, and `error` says why
  std::string error;
  std::vector<std::string> notes;  // what was accepted, left out or fallen back to
  Facts reference;                 // path, codec, size, format, depth, colour, frame rate, ...
  Facts distorted;
  Facts environment;  // backend, device, SIMD level, threads, FFmpeg versions
  struct Source {
    std::string name;  // metric or model
    std::string options;
    std::string backend;  // where it ran
    std::vector<std::string> keys;
  };
  std::vector<Source> metrics;
  std::vector<Source> models;
  const Scores* scores = nullptr;
  NumberFormat number = NumberFormat::shortest();
};

std::string json_report(const VqxReport& report);
std::string xml_report(const VqxReport& report);
// A table: one row a frame, one column a key, empty cells where a score is missing; provenance in
// lines that begin with '#' before the header.
std::string csv_report(const VqxReport& report);

// A page to look at, alone and offline: tables, and a plot with few points however long the clip.
std::string html_report(const VqxReport& report);

// The format by the extension of `path`; kInvalidArgument names the extensions that exist.
Result<std::string> format_for_path(const VqxReport& report, const std::string& path);
// The same without a report, and kOutput where the file cannot be written.  Leaves no trace.
Status check_report_path(const std::string& path);

// What reports pool, in order; empty where a reported frame has no score.
using Statistics = std::vector<std::pair<const char*, double>>;
Statistics statistics(const Scores& scores, const Series& series);
// Positions (not indices) of the frames that reports show.
std::vector<int> reported_positions(const Scores& scores);

}  // namespace vqx::output
