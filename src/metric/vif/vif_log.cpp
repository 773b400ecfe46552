#include "metric/vif/vif_log.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <vector>

#include "metric/vif/vif.hpp"

namespace vqx::vif {
namespace {

using Polynomial = std::array<double, LogPieces::kMaxTerms>;

double evaluate(const Polynomial& p, int terms, double x) {
  double sum = 0;
  for (int t = terms; t-- > 0;) sum = sum * x + p[static_cast<std::size_t>(t)];
  return sum;
}

// The polynomial through 2048*log2(middle + x) at the Chebyshev nodes of |x| <= radius.
Polynomial interpolate(double middle, double radius, int terms) {
  std::vector<double> x;
  std::vector<double> difference;  // divided differences
  for (int i = 0; i < terms; ++i) {
    x.push_back(radius * std::cos(std::numbers::pi * (i + 0.5) / terms));
    difference.push_back(2048.0 * std::log2(middle + x.back()));
  }
  const auto at = [](int i) { return static_cast<std::size_t>(i); };
  for (int order = 1; order < terms; ++order)
    for (int i = terms - 1; i >= order; --i)
      difference[at(i)] =
          (difference[at(i)] - difference[at(i - 1)]) / (x[at(i)] - x[at(i - order)]);
  // Newton's form, multiplied out from the innermost factor.
  Polynomial p{};
  for (int i = terms; i-- > 0;) {
    for (int t = terms - 1; t > 0; --t) p[at(t)] = p[at(t - 1)] - x[at(i)] * p[at(t)];
    p[0] = difference[at(i)] - x[at(i)] * p[0];
  }
  return p;
}

LogPieces make_pieces(int pieces) {
  LogPieces out{};
  const int terms = LogPieces::terms(pieces);
  const int samples = kLogTableSize / pieces;
  const int middle = samples / 2;
  for (int piece = 0; piece < pieces; ++piece) {
    Polynomial p = interpolate(1.0 + (piece + 0.5) / pieces, 0.5 / pieces, terms);
    p[0] = 0;
    // The constant term may lie anywhere between these; the middle is the safest.
    double least = -1e9;
    double most = 1e9;
    for (int i = 0; i < samples; ++i) {
      const int m = piece * samples + i;
      const double value = evaluate(p, terms, static_cast<double>(i - middle) / kLogTableSize);
      const int entry = (m >> 4) + log_table()[m];
      least = std::max(least, entry - value);
      most = std::min(most, entry + 1 - value);
    }
    const double constant = (least + most) / 2;
    const double whole = std::floor(constant);
    p[0] = constant - whole - 0.5;
    for (int t = 0; t < terms; ++t)
      out.coefficient[t][piece] = static_cast<float>(p[static_cast<std::size_t>(t)]);
    out.whole[piece] = static_cast<float>(0x1p23 + whole);
  }
  return out;
}

}  // namespace

const LogPieces& log_pieces(int pieces) {
  static const LogPieces four = make_pieces(4);
  static const LogPieces eight = make_pieces(8);
  static const LogPieces sixteen = make_pieces(16);
  return pieces == 16 ? sixteen : pieces == 8 ? eight : four;
}

}  // namespace vqx::vif
