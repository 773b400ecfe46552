// How reports print a score.
#pragma once

#include <string>

#include "vqx/status.hpp"

namespace vqx::output {

class NumberFormat {
 public:
  // libvmaf's rule: six decimals, but sixteen where the fraction is non-zero and below about 1e-6.
  static NumberFormat libvmaf() { return NumberFormat(Kind::kLibvmaf, 0); }
  // Always six decimals.
  static NumberFormat fixed() { return NumberFormat(Kind::kFixed, 0); }
  // `digits` (1..17) significant digits; 17 round-trips.
  static NumberFormat significant(int digits) { return NumberFormat(Kind::kSignificant, digits); }
  // The shortest text that reads back as the same binary64.
  static NumberFormat shortest() { return NumberFormat(Kind::kShortest, 0); }

  // "max" or "full", "legacy", or 1..17.
  static Result<NumberFormat> parse(const std::string& text);

  // Non-finite values print as printf does: nan, -nan, inf, -inf.
  std::string print(double value) const;

 private:
  enum class Kind { kLibvmaf, kFixed, kSignificant, kShortest };
  NumberFormat(Kind kind, int digits) : kind_(kind), digits_(digits) {}

  Kind kind_;
  int digits_;
};

}  // namespace vqx::output
