// A value or an Error, for the public headers: no library stands behind it.
#pragma once

#include <utility>
#include <variant>

#include "tally/core/base/error.hpp"

namespace tally {

/// A value, or the Error that stands in its place. Asking for the one that is not there is a mistake of the caller's.
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
  const Error& error() const { return *std::get_if<1>(&held_); }  ///< what stands in the value's place

 private:
  std::variant<T, Error> held_;
};

}  // namespace tally
