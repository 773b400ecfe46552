// Errors as values.  The library never throws across its interface, prints or aborts: a function
// that can fail returns Status, or Result<T> when it also yields a value.
#pragma once

#include <cassert>
#include <string>
#include <utility>
#include <variant>

namespace vqx {

enum class ErrorCode {
  kOk = 0,
  kInvalidArgument,  // an option, name or combination that is not accepted
  kUnknownName,      // a metric, option or model that does not exist
  kUnsupportedSize,  // a picture too small or too large for a metric
  kInput,            // a file that cannot be opened or understood, or that holds no frame
  kMismatch,         // reference and distorted do not fit together
  kTruncated,        // a file that ends or breaks in the middle
  kSampleRange,      // a sample above the declared bit depth
  kOutput,           // a report that cannot be written
  kBackend,          // a backend that is missing or failed its self-test
  kOutOfMemory,      // host or device memory exhausted
  kInterrupted,      // cancelled by the caller
  kInternal,         // a broken invariant: a defect of vqx
};

class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(ErrorCode code, std::string message) : code_(code), message_(std::move(message)) {}

  bool ok() const { return code_ == ErrorCode::kOk; }
  ErrorCode code() const { return code_; }
  const std::string& message() const { return message_; }

 private:
  ErrorCode code_ = ErrorCode::kOk;
  std::string message_;
};

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}      // NOLINT(google-explicit-constructor)
  Result(Status error) : state_(std::move(error)) {  // NOLINT(google-explicit-constructor)
    assert(!std::get<Status>(state_).ok());
  }
  Result(ErrorCode code, std::string message) : state_(Status(code, std::move(message))) {}

  bool ok() const { return std::holds_alternative<T>(state_); }
  Status status() const { return ok() ? Status() : std::get<Status>(state_); }
  T& value() & { return std::get<T>(state_); }
  const T& value() const& { return std::get<T>(state_); }
  T&& value() && { return std::get<T>(std::move(state_)); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }

 private:
  std::variant<T, Status> state_;
};

}  // namespace vqx

#define VQX_CONCAT_INNER(a, b) a##b
#define VQX_CONCAT(a, b) VQX_CONCAT_INNER(a, b)

// Returns the error from the calling function, if there is one.
#define VQX_RETURN_IF_ERROR(expression)                                               \
  do {                                                                                \
    if (::vqx::Status vqx_status = (expression); !vqx_status.ok()) return vqx_status; \
  } while (false)

// `VQX_ASSIGN_OR_RETURN(auto value, compute());`
// NOLINTBEGIN(bugprone-macro-parentheses): a declaration cannot stand in parentheses.
#define VQX_ASSIGN_OR_RETURN(declaration, expression)                                             \
  auto VQX_CONCAT(vqx_result_, __LINE__) = (expression);                                          \
  if (!VQX_CONCAT(vqx_result_, __LINE__).ok()) return VQX_CONCAT(vqx_result_, __LINE__).status(); \
  declaration = std::move(VQX_CONCAT(vqx_result_, __LINE__)).value()
// NOLINTEND(bugprone-macro-parentheses)
