// Serial parts of SpEED: eigenvalues by Householder reduction and implicit QR, roundings,
// entropies.
#include <algorithm>
#include <bit>
#include <cmath>

#include "exact/functions.hpp"
#include "metric/speed/speed.hpp"

namespace vqx::speed {
namespace {

constexpr double kTiny = 1e-6;
constexpr int kMaxSweeps = 500;

float hypotenuse(float x, float y) {
  return std::sqrt(x * x + y * y);
}

struct Tridiagonal {
  std::array<float, kSize> diagonal;
  std::array<float, kSize - 1> side;
};

Tridiagonal tridiagonal(Matrix a) {
  for (int i = 0; i + 2 < kSize; ++i) {
    const int first = i + 1;
    float sum = 0;
    for (int r = first + 1; r < kSize; ++r) sum += a[r][i] * a[r][i];
    const float norm = std::sqrt(sum);
    if (norm == 0) continue;
    const float head = a[first][i];
    const float length = hypotenuse(head, norm);
    const float beta = head >= 0 ? -length : length;
    const float tau = (beta - head) / beta;
    if (tau == 0) continue;
    float v[kSize];
    float p[kSize];
    for (int r = first; r < kSize; ++r) v[r] = a[r][i] / (head - beta);
    v[first] = 1;
    for (int r = first; r < kSize; ++r) {
      p[r] = (tau * a[r][first]) * v[first];
      for (int c = first + 1; c < kSize; ++c) p[r] += (tau * a[r][c]) * v[c];
    }
    float pv = p[first] * v[first];
    for (int r = first + 1; r < kSize; ++r) pv += p[r] * v[r];
    const float alpha = (-0.5f * tau) * pv;
    for (int r = first; r < kSize; ++r) p[r] += alpha * v[r];
    for (int r = first; r < kSize; ++r)
      for (int c = first; c < kSize; ++c) a[r][c] -= p[r] * v[c] + v[r] * p[c];
    a[first][i] = beta;
  }
  Tridiagonal t;
  for (int i = 0; i < kSize; ++i) t.diagonal[i] = a[i][i];
  for (int i = 0; i + 1 < kSize; ++i) t.side[i] = a[i + 1][i];
  return t;
}

// Drops entries beside the diagonal that are negligible against their neighbours on it.
void deflate(Tridiagonal& t, int begin, int end) {
  for (int i = begin; i < end; ++i) {
    const float neighbours = std::abs(t.diagonal[i]) + std::abs(t.diagonal[i + 1]);
    if (static_cast<double>(std::abs(t.side[i])) < kTiny * static_cast<double>(neighbours))
      t.side[i] = 0;
  }
}

struct Rotation {
  float c;
  float s;
};
Rotation rotation(float x, float z) {
  const auto reciprocal_root = [](float m) {
    const float u = 1.0f + m * m;
    return static_cast<float>(1.0 / std::sqrt(static_cast<double>(u)));
  };
  if (z == 0) return {1, 0};
  if (std::abs(z) > std::abs(x)) {
    const float m = -x / z;
    const float s = reciprocal_root(m);
    return {s * m, s};
  }
  const float m = -z / x;
  const float c = reciprocal_root(m);
  return {c, c * m};
}

float shift_of(const float* d, const float* s, int n) {
  const float gap = (d[n - 2] - d[n - 1]) / 2.0f;
  const float last = d[n - 1];
  const float off = s[n - 2];
  float mu;
  if (gap > 0)
    mu = last - off * (off / (gap + hypotenuse(gap, off)));
  else if (gap == 0)
    mu = last - std::abs(off);
  else
    mu = last + off * (off / (-gap + hypotenuse(gap, off)));
  const float first = std::abs(d[0]) + std::abs(s[0]);
  return kTiny * static_cast<double>(std::abs(mu)) > static_cast<double>(first) ? 0.0f : mu;
}

// One implicit-shift sweep over n rows whose off-diagonal entries are all non-zero.
void sweep(float* d, float* s, int n) {
  float x = d[0] - shift_of(d, s, n);
  float z = s[0];
  float p = d[0];  // the 2x2 window [[p, q], [q, r]]
  float q = s[0];
  float r = d[1];
  float next = n > 2 ? s[1] : 0.0f;
  float previous = 0;
  float bulge = 0;
  for (int k = 0; k + 1 < n; ++k) {
    const Rotation g = rotation(x, z);
    if (k > 0) s[k - 1] = g.c * previous - g.s * bulge;
    d[k] = g.c * (g.c * p - g.s * q) + g.s * (g.s * r - g.c * q);
    previous = g.c * (g.s * p + g.c * q) - g.s * (g.s * q + g.c * r);
    p = g.s * (g.s * p + g.c * q) + g.c * (g.s * q + g.c * r);
    bulge = -g.s * next;
    q = g.c * next;
    if (k < n - 2) {
      r = d[k + 2];
      s[k + 1] = q;
    }
    if (k < n - 3) next = s[k + 2];
    x = previous;
    z = bulge;
  }
  d[n - 1] = p;
  s[n - 2] = previous;
}

}  // namespace

std::array<float, kSize> eigenvalues(const Matrix& covariance) {
  Tridiagonal t = tridiagonal(covariance);
  deflate(t, 0, kSize - 1);
  int b = kSize - 1;
  for (int sweeps = 0; b > 0 && sweeps < kMaxSweeps;) {
    if (t.side[b - 1] == 0) {
      --b;
      continue;
    }
    int a = b - 1;
    while (a > 0 && t.side[a - 1] != 0) --a;
    sweep(t.diagonal.data() + a, t.side.data() + a, b - a + 1);
    deflate(t, a, b);
    ++sweeps;
  }
  return t.diagonal;
}

bool all_positive(const std::array<float, kSize>& eigenvalues) {
  return std::none_of(eigenvalues.begin(), eigenvalues.end(),
                      [](float v) { return static_cast<double>(v) < kTiny; });
}

// The single nearest to numerator / (denominator * 2^denominator_bits).
float nearest_float(exact::Int128 numerator, std::uint64_t denominator, int denominator_bits) {
  if (numerator == 0) return 0;
  const bool negative = numerator < 0;
  exact::Uint128 size =
      negative ? -static_cast<exact::Uint128>(numerator) : static_cast<exact::Uint128>(numerator);
  int exponent = -denominator_bits;
  for (; size >> 127 == 0; --exponent) size <<= 1;
  exact::Uint128 quotient = size / denominator;  // more than 64 bits
  bool sticky = size % denominator != 0;
  while (quotient >> 62 != 0) {
    sticky = sticky || (quotient & 1) != 0;
    quotient >>= 1;
    ++exponent;
  }
  const auto bits = static_cast<std::int64_t>(quotient << 1 | (sticky ? 1 : 0));
  const float rounded = std::ldexp(static_cast<float>(bits), exponent - 1);
  return negative ? -rounded : rounded;
}

std::vector<float> entropies(const Mixture& mixture, float sigma) {
  constexpr double kLog2TwoPiE = 0x1.06073a671183dp+2;
  std::vector<float> out;
  out.reserve(mixture.variance.size());
  for (const float s : mixture.variance) {
    float entropy = 0;
    for (const float eigenvalue : mixture.eigenvalues) {
      const float scaled = (eigenvalue < 0 ? 0.0f : eigenvalue) * s;
      const float argument = scaled + sigma;
      entropy = static_cast<float>(static_cast<double>(entropy) +
                                   (exact::log2(static_cast<double>(argument)) + kLog2TwoPiE));
    }
    out.push_back(entropy);
  }
  return out;
}

}  // namespace vqx::speed
