// nu-support-vector regression with a radial-basis kernel:
//   f(x) = sum_i coefficient_i * exp(-gamma * |x - s_i|^2) - rho
// (Schoelkopf et al., "New support vector algorithms", 2000; spec: model.md 2 and 4.3.)
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "vqx/status.hpp"

namespace vqx {

struct Regression {
  double gamma = 0;
  double rho = 0;
  std::size_t dimensions = 0;        // of each support vector
  std::vector<double> coefficients;  // in the order of the file, which is the order of summation
  std::vector<double> points;        // support vectors, one after the other

  // Values beyond the end of x, or of a support vector, are 0.
  double operator()(std::span<const double> x) const;
};

// Reads libsvm's text form.  kInput names what is wrong.
Result<Regression> parse_regression(std::string_view text);

}  // namespace vqx
