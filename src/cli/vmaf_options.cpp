#include "cli/vmaf_options.hpp"

#include <getopt.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace vqx::cli {
namespace {

constexpr std::size_t kMaxArgument = 1024;  // libvmaf cuts longer ones
constexpr std::size_t kMaxModels = 32;
constexpr std::size_t kMaxFeatures = 32;
constexpr std::size_t kMaxOverloads = 32;

// Long options without a short form.
enum LongOption {
  kXml = 256,
  kJson,
  kCsv,
  kSub,
  kThreads,
  kFeature,
  kSubsample,
  kCpuMask,
  kGpuMask,
  kAomCtc,
  kNflxCtc,
  kFrameCount,
  kSkipReference,
  kSkipDistorted,
  kPrecision,
  kBackend,
  kNoCuda,
  kNoHip,
  kNoSycl,
  kNoOther,
  kHipDevice,
  kSyclDevice,
  kVulkanDevice,
  kMetalDevice,
};

// libvmaf's options, then what is added to them here.
constexpr option kLongOptions[] = {
    {"reference", required_argument, nullptr, 'r'},
    {"distorted", required_argument, nullptr, 'd'},
    {"width", required_argument, nullptr, 'w'},
    {"height", required_argument, nullptr, 'h'},
    {"pixel_format", required_argument, nullptr, 'p'},
    {"bitdepth", required_argument, nullptr, 'b'},
    {"model", required_argument, nullptr, 'm'},
    {"output", required_argument, nullptr, 'o'},
    {"xml", no_argument, nullptr, kXml},
    {"json", no_argument, nullptr, kJson},
    {"csv", no_argument, nullptr, kCsv},
    {"sub", no_argument, nullptr, kSub},
    {"threads", required_argument, nullptr, kThreads},
    {"feature", required_argument, nullptr, kFeature},
    {"subsample", required_argument, nullptr, kSubsample},
    {"cpumask", required_argument, nullptr, kCpuMask},
    {"gpumask", required_argument, nullptr, kGpuMask},
    {"aom_ctc", required_argument, nullptr, kAomCtc},
    {"nflx_ctc", required_argument, nullptr, kNflxCtc},
    {"frame_cnt", required_argument, nullptr, kFrameCount},
    {"frame_skip_ref", required_argument, nullptr, kSkipReference},
    {"frame_skip_dist", required_argument, nullptr, kSkipDistorted},
    {"no_prediction", no_argument, nullptr, 'n'},
    {"quiet", no_argument, nullptr, 'q'},
    {"version", no_argument, nullptr, 'v'},
    {"precision", required_argument, nullptr, kPrecision},
    {"backend", required_argument, nullptr, kBackend},
    // The flags of libvmaf's forks for GPUs.
    {"no_cuda", no_argument, nullptr, kNoCuda},
    {"no_hip", no_argument, nullptr, kNoHip},
    {"no_sycl", no_argument, nullptr, kNoSycl},
    {"no_vulkan", no_argument, nullptr, kNoOther},
    {"no_metal", no_argument, nullptr, kNoOther},
    {"hip_device", required_argument, nullptr, kHipDevice},
    {"sycl_device", required_argument, nullptr, kSyclDevice},
    {"vulkan_device", required_argument, nullptr, kVulkanDevice},
    {"metal_device", required_argument, nullptr, kMetalDevice},
    {nullptr, 0, nullptr, 0},
};
constexpr std::size_t kOfLibvmaf = 25;
static_assert(std::string_view(kLongOptions[kOfLibvmaf].name) == "precision");
constexpr const char* kShortOptions = "r:d:w:h:p:b:m:o:nvqc:";

// The option that `name` spells in full, or the only one of libvmaf's that it abbreviates.
const option* find_long_option(const std::string& name) {
  const option* found = nullptr;
  for (const option& each : kLongOptions)
    if (each.name != nullptr && name == each.name) return &each;
  for (std::size_t i = 0; i < kOfLibvmaf; ++i) {
    if (!std::string_view(kLongOptions[i].name).starts_with(name)) continue;
    if (found != nullptr) return nullptr;
    found = &kLongOptions[i];
  }
  return found;
}

// Whether a bundle of short options takes the next word as a value.
bool takes_next_word(const std::string& bundle) {
  for (std::size_t i = 1; i < bundle.size(); ++i) {
    const char* option = std::strchr(kShortOptions, bundle[i]);
    if (option != nullptr && option[1] == ':') return i + 1 == bundle.size();
  }
  return false;
}

// The words of the command line, abbreviations of libvmaf's options written out: what is added here
// must not make them ambiguous.
std::vector<std::string> write_out(int argc, char** argv) {
  std::vector<std::string> words(argv, argv + argc);
  bool is_value = false;
  for (std::size_t i = 1; i < words.size() && words[i] != "--"; ++i) {
    std::string& word = words[i];
    if (is_value || !word.starts_with("--")) {
      is_value = !is_value && word.starts_with('-') && takes_next_word(word);
      continue;
    }
    const std::size_t equals = std::min(word.find('='), word.size());
    const option* found = find_long_option(word.substr(2, equals - 2));
    if (found == nullptr) continue;
    is_value = found->has_arg == required_argument && equals == word.size();
    word.replace(2, equals - 2, found->name);
  }
  return words;
}

Status usage_error(std::string message) {
  return Status(ErrorCode::kInvalidArgument, std::move(message));
}

// C strtoul with base 0, truncated to 32 bits, nothing behind the number.
Result<unsigned> parse_unsigned(const char* text, const std::string& option) {
  char* end = nullptr;
  const unsigned long value = std::strtoul(text, &end, 0);
  if (*text == '\0' || *end != '\0')
    return usage_error(
        fmt::format("Invalid argument \"{}\" for option {}; should be an integer", text, option));
  return static_cast<unsigned>(value);
}

// Splits at ':'; items keep everything else.
std::vector<std::string> split_items(const std::string& text) {
  std::vector<std::string> items;
  std::size_t begin = 0;
  for (;;) {
    const std::size_t colon = text.find(':', begin);
    items.push_back(text.substr(begin, colon - begin));
    if (colon == std::string::npos) return items;
    begin = colon + 1;
  }
}

// "key=value"; what follows a second '=' is dropped, as libvmaf does.
std::optional<std::pair<std::string, std::string>> split_pair(const std::string& item) {
  const std::size_t equals = item.find('=');
  if (equals == std::string::npos) return std::nullopt;
  std::string value = item.substr(equals + 1);
  value = value.substr(0, value.find('='));
  return std::pair(item.substr(0, equals), std::move(value));
}

Status add_preset_models(VmafOptions& options, const char* base, const char* neg) {
  for (const auto& [version, name] : {std::pair(base, "vmaf"), std::pair(neg, "vmaf_neg")}) {
    ModelSpec model;
    model.version = version;
    model.name = name;
    options.models.push_back(std::move(model));
  }
  return {};
}

Status add_preset_features(VmafOptions& options, std::initializer_list<const char*> features) {
  for (const char* text : features) {
    VQX_ASSIGN_OR_RETURN(FeatureSpec feature, parse_feature_spec(text));
    options.features.push_back(std::move(feature));
  }
  return {};
}

Status add_aom_ctc(VmafOptions& options, const std::string& version) {
  if (version == "proposed") return usage_error("`--aom_ctc proposed` is deprecated.");
  const bool known = version.size() == 4 && version[0] == 'v' && version[1] >= '1' &&
                     version[1] <= '7' && version.substr(2) == ".0";
  if (!known) return usage_error(fmt::format("bad aom_ctc version \"{}\"", version));
  const int number = version[1] - '0';
  VQX_RETURN_IF_ERROR(add_preset_models(options, "vmaf_v0.6.1", "vmaf_v0.6.1neg"));
  VQX_RETURN_IF_ERROR(
      add_preset_features(options, {"psnr=reduced_hbd_peak=true:enable_apsnr=true:min_sse=0.5",
                                    "ciede", "float_ssim=enable_db=true:clip_db=true",
                                    "float_ms_ssim=enable_db=true:clip_db=true", "psnr_hvs"}));
  if (number >= 3) VQX_RETURN_IF_ERROR(add_preset_features(options, {"cambi"}));
  if (number >= 6) options.depths_may_differ = true;
  if (number >= 7) {
    const auto ssim =
        std::find_if(options.features.begin(), options.features.end(),
                     [](const auto& feature) { return feature.name == "float_ssim"; });
    VQX_ASSIGN_OR_RETURN(*ssim,
                         parse_feature_spec("float_ssim=scale=1:enable_db=true:clip_db=true"));
  }
  return {};
}

Status add_nflx_ctc(VmafOptions& options, const std::string& version) {
  if (version != "v1.0") return usage_error(fmt::format("bad nflx_ctc version \"{}\"", version));
  VQX_RETURN_IF_ERROR(add_preset_models(options, "vmaf_4k_v0.6.1", "vmaf_4k_v0.6.1neg"));
  return add_preset_features(options, {"psnr=enable_chroma=true:enable_apsnr=true",
                                       "float_ssim=enable_db=true:clip_db=true", "cambi"});
}

// Values of -w, -h, -p and -b before it is known whether all were given.
struct RawArguments {
  std::optional<unsigned> width, height, bit_depth;
  std::optional<ChromaFormat> chroma;
  bool any() const { return width || height || bit_depth || chroma; }
};

Result<ChromaFormat> parse_chroma(const std::string& text) {
  if (text == "420") return ChromaFormat::k420;
  if (text == "422") return ChromaFormat::k422;
  if (text == "444") return ChromaFormat::k444;
  return usage_error(fmt::format(
      "Invalid argument \"{}\" for option -p/--pixel_format; should be a valid pixel format "
      "(420/422/444)",
      text));
}

Result<unsigned> parse_bit_depth(const char* text) {
  char* end = nullptr;
  const unsigned long value = std::strtoul(text, &end, 0);
  const bool valid =
      *text != '\0' && *end == '\0' && (value == 8 || value == 10 || value == 12 || value == 16);
  if (!valid)
    return usage_error(fmt::format(
        "Invalid argument \"{}\" for option -b/--bitdepth; should be a valid bitdepth (8/10/12/16)",
        text));
  return static_cast<unsigned>(value);
}

// A device of a backend, which is chosen thereby unless --backend names one.
Status pick_device(VmafOptions& options, const std::string& backend, const char* value) {
  const std::string name = "--" + backend + "_device";
  if (backend != "hip" && backend != "sycl")
    return usage_error(fmt::format("{}: there is no backend {}; there are cuda, hip, sycl and host",
                                   name, backend));
  VQX_ASSIGN_OR_RETURN(const unsigned number, parse_unsigned(value, name));
  if (options.backend != "cpu" && options.backend != backend)
    return usage_error(fmt::format("{} does not fit --backend {}", name, options.backend));
  options.backend = backend;
  options.device = static_cast<int>(std::min(number, 1U << 16));
  return {};
}

Status apply_option(int code, const char* value, VmafOptions& options, RawArguments& raw) {
  const auto number = [&](unsigned& target, const char* name) -> Status {
    VQX_ASSIGN_OR_RETURN(target, parse_unsigned(value, name));
    return {};
  };
  switch (code) {
    case 'r':
      options.reference = value;
      return {};
    case 'd':
      options.distorted = value;
      return {};
    case 'w':
      return number(raw.width.emplace(), "-w/--width");
    case 'h':
      return number(raw.height.emplace(), "-h/--height");
    case 'p': {
      VQX_ASSIGN_OR_RETURN(raw.chroma, parse_chroma(value));
      return {};
    }
    case 'b': {
      VQX_ASSIGN_OR_RETURN(raw.bit_depth, parse_bit_depth(value));
      return {};
    }
    case 'm': {
      VQX_ASSIGN_OR_RETURN(ModelSpec model, parse_model_spec(value));
      options.models.push_back(std::move(model));
      return {};
    }
    case kFeature: {
      VQX_ASSIGN_OR_RETURN(FeatureSpec feature, parse_feature_spec(value));
      options.features.push_back(std::move(feature));
      return {};
    }
    case 'o':
      options.output = value;
      return {};
    case kXml:
      options.format = output::LibvmafFormat::kXml;
      return {};
    case kJson:
      options.format = output::LibvmafFormat::kJson;
      return {};
    case kCsv:
      options.format = output::LibvmafFormat::kCsv;
      return {};
    case kSub:
      options.format = output::LibvmafFormat::kSub;
      return {};
    case kThreads:
      return number(options.threads, "--threads");
    case kSubsample:
      return number(options.subsample, "--subsample");
    case kFrameCount:
      return number(options.frame_count, "--frame_cnt");
    case kSkipReference:
      return number(options.skip_reference, "--frame_skip_ref");
    case kSkipDistorted:
      return number(options.skip_distorted, "--frame_skip_dist");
    case kCpuMask: {  // SIMD levels never show in a score, so there is nothing to switch
      unsigned mask = 0;
      return number(mask, "--cpumask");
    }
    case kGpuMask: {
      unsigned mask = 0;
      VQX_RETURN_IF_ERROR(number(mask, "--gpumask"));
      if (mask != 0) options.backend = "cpu";
      return {};
    }
    case kAomCtc:
      return add_aom_ctc(options, value);
    case kNflxCtc:
      return add_nflx_ctc(options, value);
    case kPrecision: {
      VQX_ASSIGN_OR_RETURN(options.precision, output::NumberFormat::parse(value));
      return {};
    }
    case kBackend: {
      const std::set<std::string> known = {"auto", "cpu", "host", "cuda", "hip", "sycl"};
      if (known.count(value) == 0)
        return usage_error(
            fmt::format("Invalid argument \"{}\" for option --backend; should be "
                        "one of auto, cpu, host, cuda, hip, sycl",
                        value));
      if (options.device && options.backend != value)
        return usage_error(
            fmt::format("--{}_device does not fit --backend {}", options.backend, value));
      options.backend = value;
      return {};
    }
    case kNoCuda:
      options.forbidden.insert("cuda");
      return {};
    case kNoHip:
      options.forbidden.insert("hip");
      return {};
    case kNoSycl:
      options.forbidden.insert("sycl");
      return {};
    case kNoOther:
      return {};  // there is none to forbid
    case kHipDevice:
      return pick_device(options, "hip", value);
    case kSyclDevice:
      return pick_device(options, "sycl", value);
    case kVulkanDevice:
      return pick_device(options, "vulkan", value);
    case kMetalDevice:
      return pick_device(options, "metal", value);
    case 'n':
      options.no_prediction = true;
      return {};
    case 'q':
      options.quiet = true;
      return {};
    case 'v':
      options.show_version = true;
      return {};
    default:
      return {};  // -c with its word, and whatever getopt has already complained about
  }
}

Status check_limits(const VmafOptions& options) {
  if (options.models.size() > kMaxModels)
    return usage_error(fmt::format("A maximum of {} models are supported", kMaxModels));
  if (options.features.size() > kMaxFeatures)
    return usage_error(fmt::format("A maximum of {} features are supported", kMaxFeatures));
  std::set<std::string> names;
  for (const ModelSpec& model : options.models) {
    if (model.overloads.size() > kMaxOverloads)
      return usage_error(
          fmt::format("A maximum of {} feature overloads per model are supported", kMaxOverloads));
    if (!names.insert(model.name).second)
      return usage_error(
          "Each model should be uniquely named. Set using `--model` via the `name=...` item.");
  }
  return {};
}

Status complete(VmafOptions& options, const RawArguments& raw) {
  if (options.reference.empty())
    return usage_error("Reference .y4m or .yuv (-r/--reference) is required");
  if (options.distorted.empty())
    return usage_error("Distorted .y4m or .yuv (-d/--distorted) is required");
  if (raw.any()) {
    if (raw.width.value_or(0) == 0 || raw.height.value_or(0) == 0 || !raw.chroma || !raw.bit_depth)
      return usage_error(
          "The following options are required for .yuv input:\n"
          "  --width/-w\n  --height/-h\n  --pixel_format/-p\n  --bitdepth/-b");
    options.raw = RawFormat{*raw.width, *raw.height, *raw.chroma, *raw.bit_depth};
  }
  if (options.reference == "-" && options.distorted == "-")
    return usage_error("Standard input (-) can be one of the two videos only");
  if (options.forbidden.count(options.backend) != 0)
    return usage_error(
        fmt::format("--backend {0} and --no_{0} exclude each other", options.backend));
  if (options.models.empty() && !options.no_prediction) {
    ModelSpec model;
    model.version = "vmaf_v0.6.1";
    options.models.push_back(std::move(model));
  }
  return check_limits(options);
}

}  // namespace

Result<ModelSpec> parse_model_spec(const std::string& text) {
  ModelSpec model;
  for (const std::string& item : split_items(text.substr(0, kMaxArgument))) {
    const auto pair = split_pair(item);
    const std::string& key = pair ? pair->first : item;
    if (key == "disable_clip" || key == "enable_transform") {
      if (pair && pair->second != "true") continue;
      (key == "disable_clip" ? model.disable_clip : model.enable_transform) = true;
      continue;
    }
    if (!pair)
      return usage_error(fmt::format("Problem parsing model, bad option string \"{}\".", item));
    if (key == "path") {
      model.path = pair->second;
    } else if (key == "version") {
      model.version = pair->second;
    } else if (key == "name") {
      model.name = pair->second;
    } else {
      const std::size_t dot = key.find('.');
      if (dot == std::string::npos)
        return usage_error(fmt::format("Problem parsing model: \"{}\"", item));
      std::string option = key.substr(dot + 1);
      option = option.substr(0, option.find('.'));
      model.overloads.push_back({key.substr(0, dot), std::move(option), pair->second});
    }
  }
  if (model.path.empty() && model.version.empty())
    return usage_error(
        fmt::format("Problem parsing model: \"{}\" names neither a path= nor a version=", text));
  return model;
}

Result<FeatureSpec> parse_feature_spec(const std::string& text) {
  const std::string cut = text.substr(0, kMaxArgument);
  FeatureSpec feature;
  const std::size_t equals = cut.find('=');
  feature.name = cut.substr(0, equals);
  if (equals == std::string::npos) return feature;
  for (const std::string& item : split_items(cut.substr(equals + 1))) {
    auto pair = split_pair(item);
    if (!pair)
      return usage_error(fmt::format("Problem parsing feature, bad option string \"{}\".", item));
    const std::string value = normalise_option_text(pair->second);
    // A repeated option replaces the earlier one.
    const auto present =
        std::find_if(feature.options.begin(), feature.options.end(),
                     [&](const auto& option) { return option.first == pair->first; });
    if (present != feature.options.end())
      present->second = value;
    else
      feature.options.emplace_back(pair->first, value);
  }
  return feature;
}

Result<VmafOptions> parse_vmaf_options(int argc, char** argv) {
  VmafOptions options;
  RawArguments raw;
  std::vector<std::string> words = write_out(argc, argv);
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  optind = 0;  // begins anew, also after a scan that ended in an error
  for (;;) {
    const int code = getopt_long(argc, pointers.data(), kShortOptions, kLongOptions, nullptr);
    if (code == -1) break;
    VQX_RETURN_IF_ERROR(apply_option(code, optarg, options, raw));
    if (options.show_version) return options;
  }
  VQX_RETURN_IF_ERROR(complete(options, raw));
  return options;
}

std::string vmaf_usage(const std::string& program) {
  return fmt::format(R"(Usage: {} [options]

Supported options:
 --reference/-r $path:      path to reference .y4m, .yuv or any file FFmpeg opens; - reads .y4m
                            from standard input
 --distorted/-d $path:      path to distorted, likewise
 --width/-w $unsigned:      width (raw .yuv)
 --height/-h $unsigned:     height (raw .yuv)
 --pixel_format/-p: $string pixel format (420/422/444, raw .yuv)
 --bitdepth/-b $unsigned:   bitdepth (8/10/12/16, raw .yuv)
 --model/-m $params:        model parameters, colon ":" delimited
                            `path=` path to model file
                            `version=` built-in model version
                            `name=` name used in log (optional)
                            `disable_clip` `enable_transform` (optional)
                            `extractor.option=value` feature overload (optional)
 --output/-o $path:         output file
 --xml:                     write output file as XML (default)
 --json:                    write output file as JSON
 --csv:                     write output file as CSV
 --sub:                     write output file as subtitle
 --threads $unsigned:       number of worker threads; 0 (default) is the calling thread alone
 --feature $string:         additional feature, `name=option=value:option=value`
 --subsample $unsigned:     compute scores only every N frames
 --frame_cnt $unsigned:     maximum number of frames to process
 --frame_skip_ref $unsigned:   skip the first N frames in reference
 --frame_skip_dist $unsigned:  skip the first N frames in distorted
 --aom_ctc $string:         common test conditions, v1.0 to v7.0
 --nflx_ctc $string:        common test conditions, v1.0
 --precision $spec:         digits of reports: 1..17, max, full or legacy
 --backend $string:         auto, cpu (default), host, cuda, hip, sycl
 --hip_device, --sycl_device $unsigned: backend and its device
 --no_cuda, --no_hip, --no_sycl: backends that auto must not choose
 --cpumask $unsigned:       accepted; scores do not depend on instruction sets
 --gpumask $unsigned:       other than 0: the same as --backend cpu
 --no_prediction/-n:        no prediction, extract features only
 --quiet/-q:                disable FPS meter when run in a TTY
 --version/-v:              print version and exit
)",
                     program);
}

}  // namespace vqx::cli
