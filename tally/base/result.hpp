// Errors are values: what every fallible function of tally returns.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace tally {

/// What kind of failure an Error is; the command maps it to its exit code.
enum class Code {
  bad_usage,       ///< the request itself makes no sense: an unknown name, a value out of range
  not_found,       ///< the program to be measured does not exist
  not_executable,  ///< the program exists but cannot be executed
  cannot_measure,  ///< the measurement cannot be made here, or broke off
  cannot_write,    ///< the measurement was made, its results could not be written
};

/// A failure: what was tried and what the system answered, and what to do about it.
struct Error {
  Code code = Code::cannot_measure;
  std::string message;  ///< what was tried and what came back, without a final full stop
  std::string hint;     ///< what to do; empty where nothing is known
  int os_errno = 0;     ///< errno of the system call that failed; 0 where none did
  bool operator==(const Error&) const = default;
};

/// A value, or the Error that stands in its place.
template <class T>
using Result = tl::expected<T, Error>;

/// `return fail(Code::not_found, "…", "hint");` in a function that returns a Result.
inline tl::unexpected<Error> fail(Code code, std::string message, std::string hint = {}, int os_errno = 0) {
  return tl::unexpected<Error>(Error{code, std::move(message), std::move(hint), os_errno});
}

/// Hands an Error on from one Result to another of a different type.
inline tl::unexpected<Error> fail(Error error) { return tl::unexpected<Error>(std::move(error)); }

}  // namespace tally
