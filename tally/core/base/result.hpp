// Errors are values: what every fallible function of tally returns.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>

#include "tally/core/base/error.hpp"

namespace tally {

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
