// Result: what every function of tally that can fail returns.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>

#include "tally/core/base/error.hpp"

namespace tally {

/// A value, or an Error instead of it.
template <class T>
using Result = tl::expected<T, Error>;

/// `return fail(Code::not_found, "…", "hint");` in a function that returns a Result.
inline tl::unexpected<Error> fail(Code code, std::string message, std::string hint = {}, int os_errno = 0) {
  return tl::unexpected<Error>(Error{code, std::move(message), std::move(hint), os_errno});
}

/// Returns an Error from a Result of another type.
inline tl::unexpected<Error> fail(Error error) { return tl::unexpected<Error>(std::move(error)); }

}  // namespace tally
