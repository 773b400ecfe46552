// The metrics and option sets that the comparisons run over the case table: one row each.
#include "verify/cases.hpp"

namespace vqx::verify {

std::span<const MetricCase> metric_cases() {
  static const std::vector<MetricCase> cases = {
      // {metric, options, smallest width, smallest height, needs chroma, greatest depth}
      {"float_psnr", {}, 1, 1, false, 16},
      {"float_ms_ssim", {{"enable_lcs", "true"}}, 176, 176, false, 16},
      {"float_ms_ssim", {{"variant", "separable"}, {"enable_db", "true"}}, 176, 176, false, 16},
      {"float_ssim", {{"enable_lcs", "true"}, {"enable_chroma", "true"}}, 1, 1, false, 16},
      {"float_ssim", {{"scale", "2"}, {"enable_db", "true"}}, 1, 1, false, 16},
      {"float_ssim", {{"scale", "3"}, {"enable_chroma", "true"}}, 1, 1, false, 16},
      {"float_ssim", {{"scale", "10"}}, 1, 1, false, 16},
      {"psnr", {}, 1, 1, false, 16},
      {"psnr",
       {{"enable_chroma", "false"},
        {"enable_mse", "true"},
        {"enable_apsnr", "true"},
        {"reduced_hbd_peak", "true"},
        {"min_sse", "0.5"}},
       1,
       1,
       false,
       16},
      {"psnr_hvs", {}, 1, 1, true, 12},
      {"cambi", {}, 217, 180, false, 16},
      {"cambi",
       {{"full_ref", "true"},
        {"topk", "0.05"},
        {"max_log_contrast", "3"},
        {"window_size", "127"},
        {"cambi_vis_lum_threshold", "0.06"},
        {"enc_bitdepth", "8"}},
       217,
       180,
       false,
       16},
  };
  return cases;
}

}  // namespace vqx::verify
