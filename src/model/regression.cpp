#include "model/regression.hpp"

#include <algorithm>
#include <charconv>
#include <string>
#include <system_error>

#include <fmt/format.h>

#include "exact/functions.hpp"

namespace vqx {
namespace {

// Features end at 64; an index far beyond is a damaged file, not a reason to allocate.
constexpr std::size_t kMaxIndex = 1024;
constexpr std::string_view kBlanks = " \t\r\n";

Status malformed(std::string_view what) {
  return Status(ErrorCode::kInput, fmt::format("support vectors: {}", what));
}

// The next blank-separated token, cut off the front of `text`; empty at the end.
std::string_view next_token(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  const std::string_view token = text.substr(0, text.find_first_of(kBlanks));
  text.remove_prefix(token.size());
  return token;
}

// Independent of the locale, unlike strtod.
template <class Number>
bool parse_number(std::string_view text, Number& value) {
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

struct Header {
  std::string_view svm_type;
  std::string_view kernel_type;
  double gamma = 0;
  double rho = 0;
  int classes = 0;
  int total = -1;
};

// One header entry; the values of entries that regression does not use are skipped.
Status read_header_entry(std::string_view name, std::string_view& text, Header& header) {
  if (name == "svm_type" || name == "kernel_type") {
    (name == "svm_type" ? header.svm_type : header.kernel_type) = next_token(text);
    return {};
  }
  if (name == "nr_class" || name == "total_sv") {
    int& value = name == "nr_class" ? header.classes : header.total;
    if (!parse_number(next_token(text), value) || value < 0)
      return malformed(fmt::format("{} needs a whole number", name));
    if (header.classes != 0 && header.classes != 2) return malformed("nr_class must be 2");
    return {};
  }
  if (name == "gamma" || name == "rho" || name == "degree" || name == "coef0") {
    double value = 0;
    if (!parse_number(next_token(text), value))
      return malformed(fmt::format("{} needs a number", name));
    if (name == "gamma") header.gamma = value;
    if (name == "rho") header.rho = value;
    return {};
  }
  if (name == "label" || name == "nr_sv") {
    for (int i = 0; i < header.classes; ++i) next_token(text);
    return {};
  }
  if (name == "probA" || name == "probB") {
    next_token(text);
    return {};
  }
  return malformed(fmt::format("unknown header entry \"{}\"", name));
}

Status check_header(const Header& header) {
  if (header.svm_type != "nu_svr" && header.svm_type != "epsilon_svr")
    return malformed(
        fmt::format("svm_type \"{}\" is not one of nu_svr, epsilon_svr", header.svm_type));
  if (header.kernel_type != "rbf")
    return malformed(fmt::format("kernel_type \"{}\" is not rbf", header.kernel_type));
  if (header.classes != 2) return malformed("nr_class must be 2");
  if (header.total < 0) return malformed("total_sv is missing");
  return {};
}

// "coefficient index:value index:value ...", indices from 1, ascending.
Status read_vector(std::string_view line, double& coefficient, std::vector<double>& point) {
  if (!parse_number(next_token(line), coefficient))
    return malformed("a coefficient is not a number");
  for (std::string_view cell = next_token(line); !cell.empty(); cell = next_token(line)) {
    const std::size_t colon = cell.find(':');
    std::size_t index = 0;
    double value = 0;
    if (colon == std::string_view::npos || !parse_number(cell.substr(0, colon), index) ||
        !parse_number(cell.substr(colon + 1), value) || index <= point.size() || index > kMaxIndex)
      return malformed(fmt::format("\"{}\" is not index:value with ascending index", cell));
    point.resize(index);
    point.back() = value;
  }
  return {};
}

}  // namespace

double Regression::operator()(std::span<const double> x) const {
  const std::size_t common = std::min(x.size(), dimensions);
  double sum = 0;
  for (std::size_t i = 0; i < coefficients.size(); ++i) {
    const double* point = points.data() + i * dimensions;
    double distance = 0;
    for (std::size_t j = 0; j < common; ++j) {
      const double d = x[j] - point[j];
      distance += d * d;
    }
    for (std::size_t j = common; j < x.size(); ++j) distance += x[j] * x[j];
    for (std::size_t j = common; j < dimensions; ++j) distance += point[j] * point[j];
    sum += coefficients[i] * exact::exp(-gamma * distance);
  }
  return sum - rho;
}

Result<Regression> parse_regression(std::string_view text) {
  Header header;
  for (std::string_view name = next_token(text); name != "SV"; name = next_token(text)) {
    if (name.empty()) return malformed("the line SV is missing");
    VQX_RETURN_IF_ERROR(read_header_entry(name, text, header));
  }
  VQX_RETURN_IF_ERROR(check_header(header));
  text.remove_prefix(std::min(text.find('\n'), text.size()));

  Regression result;
  result.gamma = header.gamma;
  result.rho = header.rho;
  std::vector<std::vector<double>> vectors;
  for (int i = 0; i < header.total; ++i) {
    if (text.size() < 2)
      return malformed(fmt::format("{} of {} support vectors are there", i, header.total));
    text.remove_prefix(1);
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(line.size());
    VQX_RETURN_IF_ERROR(
        read_vector(line, result.coefficients.emplace_back(), vectors.emplace_back()));
    result.dimensions = std::max(result.dimensions, vectors.back().size());
  }
  for (std::vector<double>& vector : vectors) {
    vector.resize(result.dimensions);
    result.points.insert(result.points.end(), vector.begin(), vector.end());
  }
  return result;
}

}  // namespace vqx
