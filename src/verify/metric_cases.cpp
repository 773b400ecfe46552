// The metrics and option sets that the comparisons run over the case table: one row each.
#include "verify/cases.hpp"

namespace vqx::verify {

std::span<const MetricCase> metric_cases() {
  static const std::vector<MetricCase> cases = {
      // {metric, options, smallest width, smallest height, needs chroma, greatest depth, most
      // pixels}
      {"float_psnr", {}, 1, 1, false, 16},
      {"float_ms_ssim", {{"enable_lcs", "true"}}, 176, 176, false, 16},
      {"float_ms_ssim", {{"variant", "separable"}, {"enable_db", "true"}}, 176, 176, false, 16},
      {"float_ssim", {{"enable_lcs", "true"}, {"enable_chroma", "true"}}, 1, 1, false, 16},
      {"float_ssim", {{"scale", "2"}, {"enable_db", "true"}}, 1, 1, false, 16},
      {"float_ssim", {{"scale", "3"}, {"enable_chroma", "true"}}, 1, 1, false, 16},
      {"float_ssim", {{"scale", "10"}}, 1, 1, false, 16},
      {"ciede", {}, 2, 2, true, 16, 10000},  // the plain code takes microseconds a pixel
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
      // ADM: v0.6.1, a fractional gain limit, the v1.0.16 set, Barten's curve with weights that fit
      // the SIMD path and with weights that do not.
      {"adm", {}, 33, 33, false, 16},
      {"adm", {{"adm_enhn_gain_limit", "1.2"}, {"adm_skip_scale0", "true"}}, 33, 33, false, 16},
      {"adm",
       {{"adm_csf_mode", "2"},
        {"adm_enhn_gain_limit", "1"},
        {"adm_dlm_weight", "0.7"},
        {"adm_noise_weight", "0.02"},
        {"adm_min_val", "0.5"},
        {"debug", "true"}},
       33,
       33,
       false,
       16},
      {"adm",
       {{"adm_csf_mode", "1"},
        {"adm_csf_scale", "0.001"},
        {"adm_csf_diag_scale", "0.001"},
        {"adm_enhn_gain_limit", "2.5"}},
       33,
       33,
       false,
       16},
      {"adm", {{"adm_csf_mode", "1"}, {"adm_skip_aim", "true"}}, 33, 33, false, 16},
      {"vif", {{"debug", "true"}}, 8, 8, false, 16},
      {"vif", {{"vif_enhn_gain_limit", "1"}, {"vif_skip_scale0", "true"}}, 8, 8, false, 16},
      {"motion", {{"debug", "true"}}, 3, 3, false, 16},
      {"motion",
       {{"motion_five_frame_window", "true"},
        {"motion_moving_average", "true"},
        {"motion_blend_factor", "0.5"},
        {"motion_blend_offset", "3"},
        {"motion_max_val", "18"}},
       3,
       3,
       false,
       16},
      {"motion", {{"motion_force_zero", "true"}}, 3, 3, false, 16},
  };
  return cases;
}

}  // namespace vqx::verify
