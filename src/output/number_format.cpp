#include "output/number_format.hpp"

#include <charconv>
#include <cmath>

#include <fmt/format.h>

namespace vqx::output {
namespace {

// How often the fraction must be multiplied by ten before it reaches one.  Values of 2^31 and above
// count as whole: libvmaf's conversion to int overflows there and ends in six decimals.
int leading_decimals(double value) {
  const double magnitude = std::fabs(value);
  if (!(magnitude < 2147483648.0)) return 0;
  double fraction = magnitude - std::trunc(magnitude);
  int count = 0;
  while (fraction < 1.0 && fraction != 0.0) {
    fraction *= 10;
    ++count;
  }
  return count;
}

}  // namespace

Result<NumberFormat> NumberFormat::parse(const std::string& text) {
  if (text == "max" || text == "full") return significant(17);
  if (text == "legacy") return fixed();
  int digits = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), digits);
  if (error != std::errc() || end != text.data() + text.size() || digits < 1 || digits > 17)
    return Status(
        ErrorCode::kInvalidArgument,
        "--precision must be an integer 1..17, or one of: max, full, legacy (got: " + text + ")");
  return significant(digits);
}

std::string NumberFormat::print(double value) const {
  // fmt writes correctly rounded decimals, without a locale, and never a sign for NaN unless set.
  if (std::isnan(value)) return std::signbit(value) ? "-nan" : "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  switch (kind_) {
    case Kind::kLibvmaf:
      return leading_decimals(value) <= 6 ? fmt::format("{:.6f}", value)
                                          : fmt::format("{:.16f}", value);
    case Kind::kFixed:
      return fmt::format("{:.6f}", value);
    case Kind::kSignificant:
      return fmt::format("{:.{}g}", value, digits_);
    case Kind::kShortest:
      return fmt::format("{}", value);
  }
  return {};
}

}  // namespace vqx::output
