// Expected: a value or an Error, for the public headers. It needs only the standard library.
#pragma once

#include <utility>
#include <variant>

#include "tally/core/base/error.hpp"

namespace tally {

/// A value, or an Error instead of it. The caller checks which one it is before accessing it.
template <class T>
class Expected {
 public:
  Expected(T value) : held_(std::in_place_index<0>, std::move(value)) {}      // NOLINT(google-explicit-constructor)
  Expected(Error error) : held_(std::in_place_index<1>, std::move(error)) {}  // NOLINT(google-explicit-constructor)

  explicit operator bool() const { return held_.index() == 0; }  ///< whether there is a value
  T& operator*() & { return *std::get_if<0>(&held_); }           ///< the value
  T&& operator*() && { return std::move(*std::get_if<0>(&held_)); }
  const T& operator*() const& { return *std::get_if<0>(&held_); }
  T* operator->() { return std::get_if<0>(&held_); }  ///< a member of the value
  const T* operator->() const { return std::get_if<0>(&held_); }
  const Error& error() const { return *std::get_if<1>(&held_); }  ///< the error, if there is no value

 private:
  std::variant<T, Error> held_;
};

}  // namespace tally
