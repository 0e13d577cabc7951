// What went wrong. Part of the public headers: nothing but the standard library stands behind it.
#pragma once

#include <string>

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

}  // namespace tally
