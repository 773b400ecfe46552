// Probes: small kernels whose integer results are known, for the self-test of a device.
//
// Arithmetic probes look for contraction, approximate division, flushed subnormals and wrong
// rounding.  Each runs in a kernel of its own, since a product used twice hides its contraction,
// and adds up the result bits of pseudo-random operands.  The language probe runs every construct
// of kernel.hpp.  Expected values come from the host, whose arithmetic is IEEE-754's.
#pragma once

#include <cstdint>

#include "kernel/kernel.hpp"
#include "kernel/queue.hpp"
#include "kernel/real64.hpp"

namespace vqx::kernel {

enum ProbeKind : int {
  kPlainMultiplyAdd,  // a * b + c as written
  kMultiplyAdd,       // add(mul(a, b), c)
  kFusedMultiplyAdd,  // fma(a, b, c)
  kPlainDivide,       // a / b as written
  kDivide,            // div
  kSquareRoot,        // sqrt
  kSubnormal,         // products below the normal range
  kFloatToFixed,
  kFixedToFloat,
  kIntegerToFloat,      // the compiler's own conversion
  kPlainMultiplyAdd64,  // binary64: hardware only
  kMultiplyAdd64,
  kDivide64,
  kConvert64,
  kSoftMultiplyAdd64,
  kSoftDivide64,
  kSoftConvert64,
  kLanguage,
  kProbeCount,
};

struct ProbeRow {
  const char* name;
  int64_t expected;
};

inline constexpr ProbeRow kProbes[kProbeCount] = {
    {"contraction of a*b+c", 108421891805869},
    {"multiply and add", 108421891805869},
    {"fused multiply-add", 108421891805235},
    {"a/b", 69801049301344},
    {"division", 139503261616843},
    {"square root", 69522132873344},
    {"subnormals", 4845002688},
    {"binary32 to fixed point", 3380507290537485},
    {"fixed point to binary32", 154376977344469},
    {"integer to binary32", 165372093622229},
    {"contraction of binary64 a*b+c", 431656797957512010},
    {"binary64 multiply and add", 431656797957512010},
    {"binary64 division", 573519893891009944},
    {"binary64 conversions", 6306292256588778980},
    {"software binary64 multiply and add", 431656797957512010},
    {"software binary64 division", 573519893891009944},
    {"software binary64 conversions", 6306292256588778980},
    {"group operations", 58544647705389},
};

namespace detail {

VQX_FN uint32_t next_random(uint32_t& state) {
  state = state * 747796405u + 2891336453u;
  const uint32_t word = ((state >> ((state >> 28) + 4)) ^ state) * 277803737u;
  return (word >> 22) ^ word;
}

// Operands of similar size, so that every rounding matters.
struct ProbeOperands {
  float a, b, c;
  uint64_t x, y, z;  // bits of binary64 numbers
  int64_t integer;

  VQX_FN explicit ProbeOperands(uint32_t seed) {
    const uint32_t ra = next_random(seed);
    const uint32_t rb = next_random(seed);
    const uint32_t rc = next_random(seed);
    a = float_from_bits((ra & 0x7fffffu) | ((118u + (ra >> 28)) << 23));
    b = float_from_bits((rb & 0x7fffffu) | ((118u + (rb >> 28)) << 23));
    c = float_from_bits((rc & 0x807fffffu) | ((110u + ((rc >> 23) & 31)) << 23));
    const uint64_t low = next_random(seed);
    x = (uint64_t{ra & 0xfffff} << 32 | low) | (uint64_t{1015 + (ra >> 28)} << 52);
    y = (uint64_t{rb & 0xfffff} << 32 | (low ^ rc)) | (uint64_t{1015 + (rb >> 28)} << 52);
    z = (uint64_t{rc & 0xfffff} << 32 | (low * 3 & 0xffffffff)) |
        (uint64_t{1007 + ((rc >> 23) & 31)} << 52) | (uint64_t{rc >> 31} << 63);
    integer = static_cast<int64_t>((uint64_t{ra} << 32 | rb) >> (rc & 31));
    if (rc & 0x80000000u) integer = -integer;
  }
};

template <class Real>
VQX_FN int64_t probe_multiply_add(const ProbeOperands& o) {
  const Real product = Real::from_bits(o.x) * Real::from_bits(o.y);
  return static_cast<int64_t>((product + Real::from_bits(o.z)).bits() >> 20);
}

template <class Real>
VQX_FN int64_t probe_divide(const ProbeOperands& o) {
  return static_cast<int64_t>((Real::from_bits(o.z) / Real::from_bits(o.x)).bits() >> 20);
}

template <class Real>
VQX_FN int64_t probe_convert(const ProbeOperands& o) {
  const Real a = Real::from(o.a) - Real::from_integer(o.integer);
  const int64_t less = Real::from_bits(o.x) < Real::from_bits(o.y) ? 1 : 0;
  return static_cast<int64_t>(a.bits() >> 20) + float_bits(Real::from_bits(o.z).to_float()) +
         Real::from_bits(o.z).to_fixed(40) + less;
}

template <int Kind>
VQX_FN int64_t run_probe(const ProbeOperands& o) {
  if constexpr (Kind == kPlainMultiplyAdd) return float_bits(o.a * o.b + o.c);
  if constexpr (Kind == kMultiplyAdd) return float_bits(add(mul(o.a, o.b), o.c));
  if constexpr (Kind == kFusedMultiplyAdd) return float_bits(fma(o.a, o.b, o.c));
  if constexpr (Kind == kPlainDivide) return float_bits(o.a / o.b);
  if constexpr (Kind == kDivide) return float_bits(div(o.c, o.b));
  if constexpr (Kind == kSquareRoot) return float_bits(sqrt(o.b));
  if constexpr (Kind == kSubnormal) {
    const float small = float_from_bits((float_bits(o.a) & 0x7fffffu) | (20u << 23));
    const float smaller = float_from_bits((float_bits(o.b) & 0x7fffffu) | (100u << 23));
    return float_bits(add(mul(small, smaller), float_from_bits(float_bits(o.c) & 0x80003fffu)));
  }
  if constexpr (Kind == kFloatToFixed) return float_to_fixed(o.c, 30);
  if constexpr (Kind == kFixedToFloat) return float_bits(fixed_to_float(o.integer, 20));
  if constexpr (Kind == kIntegerToFloat) return float_bits(static_cast<float>(o.integer));
  if constexpr (Kind == kPlainMultiplyAdd64) {
    const double sum = double_from_bits(o.x) * double_from_bits(o.y) + double_from_bits(o.z);
    return static_cast<int64_t>(double_bits(sum) >> 20);
  }
  if constexpr (Kind == kMultiplyAdd64) return probe_multiply_add<HardwareReal64>(o);
  if constexpr (Kind == kDivide64) return probe_divide<HardwareReal64>(o);
  if constexpr (Kind == kConvert64) return probe_convert<HardwareReal64>(o);
  if constexpr (Kind == kSoftMultiplyAdd64) return probe_multiply_add<SoftwareReal64>(o);
  if constexpr (Kind == kSoftDivide64) return probe_divide<SoftwareReal64>(o);
  if constexpr (Kind == kSoftConvert64) return probe_convert<SoftwareReal64>(o);
  return 0;
}

}  // namespace detail

template <int Kind>
struct ArithmeticProbe {
  static constexpr int kItems = 128;
  static constexpr int kCases = 4096;  // of a group
  struct Shared {};
  int64_t* result;

  template <class Group>
  VQX_KERNEL_FN void operator()(Group& group, Shared&) const {
    const uint32_t seed = static_cast<uint32_t>(group.x()) * 2654435761u;
    const auto total = sum_each<1>(group, kCases, [&](int i, Sums<1>& sum) {
      const detail::ProbeOperands operands((static_cast<uint32_t>(i) * 40503u) ^ seed);
      sum[0] += detail::run_probe<Kind>(operands);
    });
    add_to_global(group, result, total);
  }
};

// Reversal through work-group memory, state across sync(), histogram, scan, minimum and maximum;
// everything ends in one sum.
struct LanguageProbe {
  static constexpr int kItems = 256;
  struct Shared {
    int32_t tile[48 * 49];
    uint32_t bins[512];
    uint32_t smallest;
    uint32_t largest;
  };
  int64_t* result;

  template <class Group>
  VQX_KERNEL_FN void operator()(Group& group, Shared& shared) const {
    const uint32_t seed = 17u + static_cast<uint32_t>(group.x() + 3 * group.y() + 7 * group.z());
    auto state = make_state<int32_t, 48, 48>(group);
    each<512>(group, [&](int i) { shared.bins[i] = 0; });
    each<1>(group, [&](int) {
      shared.smallest = 0xffffffffu;
      shared.largest = 0;
    });
    group.sync();
    each(group, state, [&](int x, int y, int32_t& mine) {
      uint32_t random = seed + static_cast<uint32_t>(y * 48 + x) * 7919u;
      mine = static_cast<int32_t>(detail::next_random(random) & 0xfffff);
      shared.tile[x * 49 + y] = mine;
    });
    group.sync();
    each(group, state, [&](int x, int y, int32_t& mine) {
      mine = mine * 3 - shared.tile[(47 - y) * 49 + x];
      shared_add(&shared.bins[mine & 511], 1);
      shared_min(&shared.smallest, static_cast<uint32_t>(mine) & 0xffffffu);
      shared_max(&shared.largest, static_cast<uint32_t>(mine) & 0xffffffu);
    });
    const uint32_t all = exclusive_scan<512>(group, shared.bins);
    const auto ranks = sum_each<1>(
        group, 512, [&](int i, Sums<1>& sum) { sum[0] += int64_t{shared.bins[i]} * (i + 1); });
    auto total = sum_each<2>(group, state, [](int x, int y, int32_t& mine, Sums<2>& sum) {
      sum.add_wide(0, int64_t{mine} * (int64_t{x} << 24 | y));
    });
    total[0] += ranks[0] * 5 + total[1] * 3 + all;
    total[0] += int64_t{shared.smallest} * 7 + int64_t{shared.largest} * 11;
    total[1] = 0;
    add_to_global(group, result, Sums<1>{{total[0]}});
  }
};

// Whether a probe needs binary64 hardware.
constexpr bool needs_fp64(int kind) {
  return kind >= kPlainMultiplyAdd64 && kind <= kConvert64;
}

namespace detail {

template <int Kind, class Executor>
Status launch_probes_from(Executor& executor, int64_t* words) {
  if constexpr (Kind < kLanguage) {
    if (executor.hardware_fp64() || !needs_fp64(Kind)) {
      VQX_RETURN_IF_ERROR(executor.launch(ArithmeticProbe<Kind>{words + Kind}, {16}));
    }
    return launch_probes_from<Kind + 1>(executor, words);
  } else {
    return executor.launch(LanguageProbe{words + kLanguage}, {3, 2, 2});
  }
}

}  // namespace detail

// Adds the result of every probe that the device can run to words[0..kProbeCount).
template <class Executor>
Status launch_probes(Executor& executor, int64_t* words) {
  return detail::launch_probes_from<0>(executor, words);
}

}  // namespace vqx::kernel
