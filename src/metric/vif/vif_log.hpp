// The table logarithm of vif as polynomials, for SIMD: lanes cannot look into a table in memory,
// but they can into a vector of constants.  The mantissa's range is cut into as many pieces as a
// vector has lanes; on each, a polynomial in binary32 stays so close to 2048*log2 that its floor is
// the table's entry for every one of the 32768 mantissas (the margin is above 4e-5, the roundings
// come to less than half of that; a test looks at all of them).
#pragma once

namespace vqx::vif {

struct LogPieces {
  static constexpr int kMaxPieces = 16;
  static constexpr int kMaxTerms = 7;

  // Terms that `pieces` pieces (4, 8 or 16) take: the more pieces, the fewer.
  static constexpr int terms(int pieces) { return pieces == 16 ? 4 : pieces == 8 ? 5 : 7; }
  // Middle of a mantissa in [1, 1 + 1/pieces).
  static constexpr float middle(int pieces) { return 1.0f + 0.5f / static_cast<float>(pieces); }

  // Of the powers of the distance from a piece's middle, ascending.
  float coefficient[kMaxTerms][kMaxPieces];
  // 2^23 plus the whole part of the constant term.  Adding it rounds the polynomial, from whose
  // constant term 1/2 was taken, down.
  float whole[kMaxPieces];
};

const LogPieces& log_pieces(int pieces);

}  // namespace vqx::vif
