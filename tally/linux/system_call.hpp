// Helpers for system calls.
#pragma once

#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

#include "tally/core/base/result.hpp"

namespace tally::linux {

/// Returns the system's text for an errno: "No such file or directory".
inline std::string errno_text(int os_errno) { return std::generic_category().message(os_errno); }

/// Makes an Error from the current errno: "WHAT: No such file or directory".
inline tl::unexpected<Error> system_failure(Code code, const std::string& what, std::string hint = {}) {
  const int os_errno = errno;
  return fail(code, what + ": " + errno_text(os_errno), std::move(hint), os_errno);
}

/// Repeats a system call that a signal interrupted.
template <class Call>
auto retry(Call call) {
  auto result = call();
  while (result == -1 && errno == EINTR) result = call();
  return result;
}

}  // namespace tally::linux
