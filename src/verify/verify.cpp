#include "verify/verify.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <memory>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "backend/backend.hpp"
#include "base/parallel.hpp"
#include "metric/registry.hpp"
#include "verify/cases.hpp"

namespace vqx::verify {
namespace {

// A device records its launches with a slot's second frame and replays them with the third.
constexpr int kFrames = 3;

class ParallelRunner final : public TaskRunner {
 public:
  void run(int count, const std::function<void(int)>& part) const override {
    parallel_for(count, part);
  }
  int concurrency() const override { return 8; }
};

std::vector<Case> cases_of(const MetricCase& metric, bool large) {
  std::vector<Case> cases = case_table(metric.min_width, metric.min_height);
  if (large) {
    for (const int depth : {8, 10}) {
      cases.push_back({VideoFormat{1920, 1080, ChromaFormat::k420, depth}, Content::kNatural});
      cases.push_back({VideoFormat{1919, 1079, ChromaFormat::k444, depth}, Content::kNoise});
      cases.push_back({VideoFormat{3840, 2160, ChromaFormat::k420, depth}, Content::kNatural});
    }
    cases.push_back({VideoFormat{3840, 2160, ChromaFormat::k420, 16}, Content::kMinAgainstMax});
    cases.push_back({VideoFormat{3840, 2160, ChromaFormat::k420, 8}, Content::kBanding});
  }
  std::erase_if(cases, [&](const Case& c) {
    return c.format.bit_depth > metric.max_depth ||
           (metric.needs_chroma && c.format.chroma == ChromaFormat::k400);
  });
  return cases;
}

std::string options_text(const MetricCase& row) {
  std::string text;
  for (const auto& [name, value] : row.options)
    text.append(":").append(name).append("=").append(value);
  return text;
}

// One configured metric with the texts of its option sets.
struct Subject {
  const MetricInfo* info;
  std::unique_ptr<Metric> metric;
  std::vector<std::string> sets;
};

Result<Subject> configure(std::span<const MetricCase* const> rows, const VideoFormat& format) {
  Subject subject;
  subject.info = find_metric(rows.front()->metric);
  std::vector<Options> options;
  for (const MetricCase* row : rows) {
    VQX_ASSIGN_OR_RETURN(Options parsed, parse_options(subject.info->name, subject.info->options,
                                                       row->options, nullptr));
    // Some option sets have a largest picture (a CAMBI window): refused alike on every backend.
    const auto alone = subject.info->create({format, false, std::span(&parsed, 1)});
    if (alone.status().code() == ErrorCode::kUnsupportedSize ||
        alone.status().code() == ErrorCode::kInvalidArgument)
      continue;
    options.push_back(std::move(parsed));
    subject.sets.push_back(options_text(*row));
  }
  if (options.empty()) return Result<Subject>(std::move(subject));
  VQX_ASSIGN_OR_RETURN(subject.metric, subject.info->create({format, false, options}));
  return Result<Subject>(std::move(subject));
}

// What both sides measured, and the frames.
struct Sides {
  std::vector<std::vector<Measured>> device;  // by frame, by set
  std::vector<std::vector<Measured>> cpu;
};

std::string compare_words(const Measured& device, const Measured& cpu) {
  if (device.words.size() != cpu.words.size()) {
    return fmt::format("{} words on the device, {} on the CPU", device.words.size(),
                       cpu.words.size());
  }
  for (std::size_t w = 0; w < cpu.words.size(); ++w) {
    if (device.words[w] != cpu.words[w]) {
      return fmt::format("word {}: {:#018x} on the device, {:#018x} on the CPU", w, device.words[w],
                         cpu.words[w]);
    }
  }
  return {};
}

Result<std::vector<double>> finish(const Subject& subject, std::size_t set,
                                   const std::vector<std::vector<Measured>>& side, int frame) {
  const auto lookup = [&](int index) -> const Measured* {
    const bool inside = index >= 0 && index < static_cast<int>(side.size());
    return inside ? &side[static_cast<std::size_t>(index)][set] : nullptr;
  };
  std::vector<double> scores(subject.metric->outputs(set).size());
  VQX_RETURN_IF_ERROR(subject.metric->finish_frame(set, MeasuredWindow(frame, lookup), scores));
  return scores;
}

// The first difference, or an empty text.
Result<std::string> compare(const Subject& subject, const Sides& sides, MetricResult& result) {
  for (std::size_t set = 0; set < subject.sets.size(); ++set) {
    for (int frame = 0; frame < kFrames; ++frame) {
      const auto f = static_cast<std::size_t>(frame);
      const std::string where =
          fmt::format("{}{} frame {}", subject.info->name, subject.sets[set], frame);
      const std::string words = compare_words(sides.device[f][set], sides.cpu[f][set]);
      if (!words.empty()) return fmt::format("{}: {}", where, words);
      result.words += sides.cpu[f][set].words.size();
      VQX_ASSIGN_OR_RETURN(const auto device, finish(subject, set, sides.device, frame));
      VQX_ASSIGN_OR_RETURN(const auto cpu, finish(subject, set, sides.cpu, frame));
      for (std::size_t i = 0; i < cpu.size(); ++i) {
        if (std::bit_cast<std::uint64_t>(device[i]) != std::bit_cast<std::uint64_t>(cpu[i])) {
          return fmt::format("{}: score {} is {} on the device, {} on the CPU", where, i, device[i],
                             cpu[i]);
        }
      }
      result.scores += cpu.size();
    }
  }
  return std::string();
}

class Verifier {
 public:
  explicit Verifier(const VerifyOptions& options, const abi::Backend& backend)
      : options_(options), backend_(backend) {
    options_.device.frames_in_flight = 1;
  }

  // All option sets of one metric; empty name: the backend measures none of them.
  Result<MetricResult> run(const std::string& name) {
    MetricResult result;
    for (const std::vector<const MetricCase*>& rows : rows_of(name)) {
      VQX_RETURN_IF_ERROR(run_rows(rows, result));
      if (!result.difference.empty()) break;
    }
    if (result.cases > 0) result.metric = name;
    return result;
  }

 private:
  // Rows with the same limits share their pictures, and are measured together.
  static std::vector<std::vector<const MetricCase*>> rows_of(const std::string& name) {
    std::vector<std::vector<const MetricCase*>> groups;
    for (const MetricCase& row : metric_cases()) {
      if (row.metric != name) continue;
      const auto same = std::find_if(groups.begin(), groups.end(), [&](const auto& group) {
        const MetricCase& first = *group.front();
        return first.min_width == row.min_width && first.min_height == row.min_height &&
               first.needs_chroma == row.needs_chroma && first.max_depth == row.max_depth;
      });
      if (same == groups.end()) {
        groups.push_back({&row});
      } else {
        same->push_back(&row);
      }
    }
    return groups;
  }

  Status run_rows(const std::vector<const MetricCase*>& rows, MetricResult& result) {
    std::size_t turn = 0;
    const std::vector<Case> cases = cases_of(*rows.front(), options_.large);
    for (std::size_t i = 0; i < cases.size(); i += static_cast<std::size_t>(options_.stride)) {
      const Case& test_case = cases[i];
      // All option sets at once, and each alone in turn.
      const std::span<const MetricCase* const> all(rows);
      const auto alone = all.subspan(turn++ % rows.size(), 1);
      for (const auto& chosen : rows.size() > 1 ? std::vector{all, alone} : std::vector{all}) {
        VQX_RETURN_IF_ERROR(run_case(chosen, test_case, result));
        if (!result.difference.empty()) return {};
      }
    }
    return {};
  }

  Status run_case(std::span<const MetricCase* const> rows, const Case& test_case,
                  MetricResult& result) {
    VQX_ASSIGN_OR_RETURN(const Subject subject, configure(rows, test_case.format));
    const std::size_t sets = subject.sets.size();
    if (sets == 0) return {};
    const backend::DeviceRequest request{subject.info->name, subject.metric.get(), sets};
    if (!backend::can_measure(backend_, request)) return {};
    VQX_ASSIGN_OR_RETURN(
        const auto device,
        backend::DeviceRun::open(options_.device, test_case.format, std::span(&request, 1)));
    options_.device.self_test = false;  // it passed
    Sides sides;
    for (int i = 0; i < kFrames; ++i) {
      const PicturePair pair = make_pair(test_case.format, test_case.content, i);
      const auto frame =
          std::make_shared<Frame>(i, pair.reference->picture(), pair.distorted->picture());
      std::vector<Measured> cpu(sets);
      const std::shared_ptr<const Frame> window[] = {frame};
      VQX_RETURN_IF_ERROR(subject.metric->measure(MeasureContext(window, runner_, scratch_), cpu));
      sides.cpu.push_back(std::move(cpu));
      std::vector<std::vector<Measured>> measured(1);
      const auto start = std::chrono::steady_clock::now();
      VQX_RETURN_IF_ERROR(device->measure(*frame, runner_, measured));
      result.seconds_on_device +=
          std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      sides.device.push_back(std::move(measured.front()));
    }
    VQX_ASSIGN_OR_RETURN(const std::string difference, compare(subject, sides, result));
    if (!difference.empty()) result.difference = test_case.name() + ": " + difference;
    result.cases += static_cast<int>(sets);
    return {};
  }

  VerifyOptions options_;
  const abi::Backend& backend_;
  ParallelRunner runner_;
  ScratchPool scratch_;
};

}  // namespace

Result<std::vector<MetricResult>> verify(const VerifyOptions& options,
                                         const std::function<void(const MetricResult&)>& done) {
  VQX_ASSIGN_OR_RETURN(const abi::Backend* backend, backend::load_backend(options.device.backend));
  for (const std::string& name : options.metrics) {
    if (find_metric(name) == nullptr || backend->has_metric(name.c_str()) == 0) {
      return Status(ErrorCode::kUnknownName,
                    "backend " + options.device.backend + " has no metric " + name);
    }
  }
  Verifier verifier(options, *backend);
  std::vector<MetricResult> results;
  for (const MetricInfo* info : metrics()) {
    const std::string name(info->name);
    const bool wanted =
        options.metrics.empty() ||
        std::find(options.metrics.begin(), options.metrics.end(), name) != options.metrics.end();
    if (!wanted || backend->has_metric(name.c_str()) == 0) continue;
    VQX_ASSIGN_OR_RETURN(MetricResult result, verifier.run(name));
    if (result.metric.empty()) {
      return Status(ErrorCode::kInternal, "the case table has no row of " + name);
    }
    done(result);
    results.push_back(std::move(result));
  }
  return results;
}

std::string to_text(const MetricResult& result) {
  if (!result.difference.empty()) {
    return fmt::format("{}: DIFFERS: {}", result.metric, result.difference);
  }
  return fmt::format("{}: {} cases equal ({} words, {} scores)", result.metric, result.cases,
                     result.words, result.scores);
}

}  // namespace vqx::verify
