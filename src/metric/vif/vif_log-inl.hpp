// The logarithm of vif_log.hpp in vectors.  Included once per target, after Highway.
#if defined(VQX_VIF_LOG_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef VQX_VIF_LOG_INL_HPP
#undef VQX_VIF_LOG_INL_HPP
#else
#define VQX_VIF_LOG_INL_HPP
#endif

#include <hwy/highway.h>

#include "metric/vif/vif_log.hpp"

HWY_BEFORE_NAMESPACE();
namespace vqx::vif::HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR

// lg(v) of doubles v >= 1 whose whole part counts: 2048*exponent + steps, both offset.
template <class VU32>
struct Log {
  static constexpr std::uint32_t kExponentOffset = 1023;
  static constexpr std::uint32_t kStepsOffset = 0x4B000000;  // 2^23 in binary32
  VU32 exponent;
  VU32 steps;
};

class LogUnit {
  using D32 = hwy::HWY_NAMESPACE::ScalableTag<std::int32_t>;
  using DU32 = hwy::HWY_NAMESPACE::ScalableTag<std::uint32_t>;
  using DF32 = hwy::HWY_NAMESPACE::ScalableTag<float>;
  using DF64 = hwy::HWY_NAMESPACE::ScalableTag<double>;
  using VU32 = hwy::HWY_NAMESPACE::Vec<DU32>;
  using VF32 = hwy::HWY_NAMESPACE::Vec<DF32>;
  using VF64 = hwy::HWY_NAMESPACE::Vec<DF64>;

  static constexpr int kPieces = HWY_LANES(float) >= 16 ? 16 : HWY_LANES(float);
  static constexpr int kPieceBits = kPieces == 16 ? 4 : kPieces == 8 ? 3 : 2;
  static constexpr int kTerms = LogPieces::terms(kPieces);

 public:
  LogUnit() : pieces_(&log_pieces(kPieces)) {}

  // Of two vectors; in which order the results stand is left open.
  HWY_INLINE Log<VU32> operator()(VF64 a, VF64 b) const {
    namespace hn = hwy::HWY_NAMESPACE;
    const DU32 d;
    const DF32 df;
    const VU32 high = hn::ConcatOdd(d, hn::BitCast(d, b), hn::BitCast(d, a));
    constexpr std::uint32_t kInPiece = ((1U << (23 - kPieceBits)) - 1) & ~0xffU;
    const VU32 mantissa =
        hn::Or(hn::And(hn::ShiftLeft<3>(high), hn::Set(d, kInPiece)), hn::Set(d, 0x3F800000U));
    const VF32 x = hn::Sub(hn::BitCast(df, mantissa), hn::Set(df, LogPieces::middle(kPieces)));
    const auto piece =
        hn::IndicesFromVec(df, hn::And(hn::BitCast(D32(), hn::ShiftRight<20 - kPieceBits>(high)),
                                       hn::Set(D32(), kPieces - 1)));
    const auto constant = [&](const float* values) {
      return hn::TableLookupLanes(hn::LoadU(df, values), piece);
    };
    VF32 sum = constant(pieces_->coefficient[kTerms - 1]);
    for (int t = kTerms - 1; t-- > 0;)
      sum = hn::Add(hn::Mul(sum, x), constant(pieces_->coefficient[t]));
    return {hn::ShiftRight<20>(high), hn::BitCast(d, hn::Add(sum, constant(pieces_->whole)))};
  }

 private:
  const LogPieces* pieces_;
};

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace vqx::vif::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
