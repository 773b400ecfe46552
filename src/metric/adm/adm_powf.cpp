#include "metric/adm/adm_powf.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace vqx::adm {
namespace {

struct LogSlot {
  double inverse;  // about 1/c for a point c in the slot
  double log2_c;
};

constexpr LogSlot kLogSlots[16] = {
    {0x1.661ec79f8f3bep+0, -0x1.efec65b963019p-2}, {0x1.571ed4aaf883dp+0, -0x1.b0b6832d4fca4p-2},
    {0x1.49539f0f010bp+0, -0x1.7418b0a1fb77bp-2},  {0x1.3c995b0b80385p+0, -0x1.39de91a6dcf7bp-2},
    {0x1.30d190c8864a5p+0, -0x1.01d9bf3f2b631p-2}, {0x1.25e227b0b8eap+0, -0x1.97c1d1b3b7afp-3},
    {0x1.1bb4a4a1a343fp+0, -0x1.2f9e393af3c9fp-3}, {0x1.12358f08ae5bap+0, -0x1.960cbbf788d5cp-4},
    {0x1.0953f419900a7p+0, -0x1.a6f9db6475fcep-5}, {0x1p+0, 0x0p+0},
    {0x1.e608cfd9a47acp-1, 0x1.338ca9f24f53dp-4},  {0x1.ca4b31f026aap-1, 0x1.476a9543891bap-3},
    {0x1.b2036576afce6p-1, 0x1.e840b4ac4e4d2p-3},  {0x1.9c2d163a1aa2dp-1, 0x1.40645f0c6651cp-2},
    {0x1.886e6037841edp-1, 0x1.88e9c2c1b9ff8p-2},  {0x1.767dcf5534862p-1, 0x1.ce0a44eb17bccp-2}};
constexpr double kLogPoly[5] = {0x1.27616c9496e0bp-2, -0x1.71969a075c67ap-2, 0x1.ec70a6ca7baddp-2,
                                -0x1.7154748bef6c8p-1, 0x1.71547652ab82bp0};
constexpr double kExpPoly[3] = {0x1.c6af84b912394p-5, 0x1.ebfce50fac4f3p-3, 0x1.62e42ff0c52d6p-1};

// 2^(i/32), correctly rounded.
constexpr double kRoots[32] = {0x1p+0,
                               0x1.059b0d3158574p+0,
                               0x1.0b5586cf9890fp+0,
                               0x1.11301d0125b51p+0,
                               0x1.172b83c7d517bp+0,
                               0x1.1d4873168b9aap+0,
                               0x1.2387a6e756238p+0,
                               0x1.29e9df51fdee1p+0,
                               0x1.306fe0a31b715p+0,
                               0x1.371a7373aa9cbp+0,
                               0x1.3dea64c123422p+0,
                               0x1.44e086061892dp+0,
                               0x1.4bfdad5362a27p+0,
                               0x1.5342b569d4f82p+0,
                               0x1.5ab07dd485429p+0,
                               0x1.6247eb03a5585p+0,
                               0x1.6a09e667f3bcdp+0,
                               0x1.71f75e8ec5f74p+0,
                               0x1.7a11473eb0187p+0,
                               0x1.82589994cce13p+0,
                               0x1.8ace5422aa0dbp+0,
                               0x1.93737b0cdc5e5p+0,
                               0x1.9c49182a3f090p+0,
                               0x1.a5503b23e255dp+0,
                               0x1.ae89f995ad3adp+0,
                               0x1.b7f76f2fb5e47p+0,
                               0x1.c199bdd85529cp+0,
                               0x1.cb720dcef9069p+0,
                               0x1.d5818dcfba487p+0,
                               0x1.dfc97337b9b5fp+0,
                               0x1.ea4afa2a490dap+0,
                               0x1.f50765b6e4540p+0};

}  // namespace

float powf(float x, float y) {
  if (x == 0.0f) return 0.0f;
  auto bits = std::bit_cast<std::uint32_t>(x);
  if (bits < 0x00800000)  // subnormal
    bits = std::bit_cast<std::uint32_t>(x * 0x1p23f) - (23U << 23);
  const std::uint32_t offset = bits - 0x3F330000;
  const LogSlot& slot = kLogSlots[(offset >> 19) & 15];
  const std::uint32_t top = offset & 0xFF800000;
  const int k = static_cast<std::int32_t>(top) >> 23;
  const double z = static_cast<double>(std::bit_cast<float>(bits - top));

  const double r = z * slot.inverse - 1.0;
  const double base = slot.log2_c + static_cast<double>(k);
  const double r2 = r * r;
  const double high = kLogPoly[0] * r + kLogPoly[1];
  const double middle = kLogPoly[2] * r + kLogPoly[3];
  const double low = middle * r2 + (kLogPoly[4] * r + base);
  const double exponent = static_cast<double>(y) * (high * (r2 * r2) + low);
  // Beyond the range of single; only the powers of float_adm's p-norm get here.
  if (exponent >= 128.0) return std::numeric_limits<float>::infinity();
  if (exponent < -151.0) return 0.0f;

  const double n = std::nearbyint(exponent * 32.0);
  const double f = exponent - n / 32.0;
  const int whole = static_cast<int>(n);
  const double scale = std::ldexp(kRoots[whole & 31], whole >> 5);
  const double p = kExpPoly[0] * f + kExpPoly[1];
  const double q = kExpPoly[2] * f + 1.0;
  return static_cast<float>((p * (f * f) + q) * scale);
}

}  // namespace vqx::adm
