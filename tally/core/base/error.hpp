// The error type of tally. A public header: it needs only the standard library.
#pragma once

#include <string>

namespace tally {

/// The kind of a failure. The command maps it to its exit code.
enum class Code {
  bad_usage,       ///< the request itself is invalid: an unknown name, a value out of range
  not_found,       ///< the program to be measured does not exist
  not_executable,  ///< the program exists but cannot be executed
  cannot_measure,  ///< the measurement is not possible here, or it failed midway
  cannot_write,    ///< the measurement succeeded, but its results could not be written
};

/// A failure: the attempted operation, the system's answer, and what to do about it.
struct Error {
  Code code = Code::cannot_measure;
  std::string message;  ///< the attempted operation and its outcome, without a final full stop
  std::string hint;     ///< what to do; empty if nothing is known
  int os_errno = 0;     ///< errno of the system call that failed; 0 if none did
  bool operator==(const Error&) const = default;
};

}  // namespace tally
