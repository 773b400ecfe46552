#include "metric/registry.hpp"

#include <algorithm>
#include <array>

namespace vqx {

// Each metric's folder defines its row.
// clang-format off
extern const MetricInfo kCambiInfo;
extern const MetricInfo kCiedeInfo;
extern const MetricInfo kFloatAnsnrInfo;
extern const MetricInfo kFloatMomentInfo;
extern const MetricInfo kFloatMotionInfo;
extern const MetricInfo kFloatMsSsimInfo;
extern const MetricInfo kAdmInfo;
extern const MetricInfo kFloatAdmInfo;
extern const MetricInfo kFloatPsnrInfo;
extern const MetricInfo kFloatSsimInfo;
extern const MetricInfo kFloatVifInfo;
extern const MetricInfo kNullInfo;
extern const MetricInfo kPsnrInfo;
extern const MetricInfo kSpeedChromaInfo;
extern const MetricInfo kSpeedTemporalInfo;
extern const MetricInfo kPsnrHvsInfo;
extern const MetricInfo kMotionInfo;
extern const MetricInfo kVifInfo;
// clang-format on

namespace {

// clang-format off
const std::array kMetrics{
    &kFloatPsnrInfo,
    &kFloatAnsnrInfo,
    &kFloatAdmInfo,
    &kFloatVifInfo,
    &kFloatMotionInfo,
    &kFloatMomentInfo,
    &kSpeedChromaInfo,
    &kSpeedTemporalInfo,
    &kFloatMsSsimInfo,
    &kFloatSsimInfo,
    &kCiedeInfo,
    &kPsnrInfo,
    &kPsnrHvsInfo,
    &kAdmInfo,
    &kMotionInfo,
    &kVifInfo,
    &kCambiInfo,
    &kNullInfo,
};
// clang-format on

bool strip(std::string_view& text, std::string_view prefix, std::string_view suffix) {
  if (!text.starts_with(prefix) || !text.ends_with(suffix) ||
      text.size() <= prefix.size() + suffix.size())
    return false;
  text.remove_prefix(prefix.size());
  text.remove_suffix(suffix.size());
  return true;
}

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), text) != names.end();
}

}  // namespace

std::span<const MetricInfo* const> metrics() {
  return kMetrics;
}

const MetricInfo* find_metric(std::string_view name) {
  for (const MetricInfo* info : metrics())
    if (info->name == name) return info;
  return nullptr;
}

const MetricInfo* find_metric_of_feature(std::string_view feature) {
  for (const MetricInfo* info : metrics())
    for (const std::string_view provided : info->model_features)
      if (provided == feature) return info;
  return nullptr;
}

std::string display_key(std::string_view key) {
  std::string_view part = key;
  if (strip(part, "VMAF_integer_feature_", "_score") &&
      is_one_of(part, {"adm2", "aim", "adm3", "motion", "motion2", "motion3", "vif_scale0",
                       "vif_scale1", "vif_scale2", "vif_scale3"}))
    return "integer_" + std::string(part);
  part = key;
  if (strip(part, "VMAF_feature_", "_score") &&
      is_one_of(part, {"adm2", "aim", "adm3", "adm_scale0", "adm_scale1", "adm_scale2",
                       "adm_scale3", "motion", "motion2", "motion3", "vif_scale0", "vif_scale1",
                       "vif_scale2", "vif_scale3"}))
    return std::string(part);
  part = key;
  if (strip(part, "Speed_chroma_feature_", "_score") &&
      is_one_of(part, {"speed_chroma_u", "speed_chroma_v", "speed_chroma_uv"}))
    return std::string(part);
  if (key == "Speed_temporal_feature_speed_temporal_score") return "speed_temporal";
  if (key == "Cambi_feature_cambi_score") return "cambi";
  return std::string(key);
}

std::string storage_key(std::string_view long_name, std::string_view suffix) {
  if (suffix.empty()) return std::string(long_name);
  return (display_key(long_name) + std::string(suffix)).substr(0, 255);
}

}  // namespace vqx
