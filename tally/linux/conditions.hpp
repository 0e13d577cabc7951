// The conditions under which a program is started.
#pragma once

#include <string>
#include <vector>

#include "tally/base/result.hpp"

namespace tally::linux {

enum class Conditions {
  given,       ///< as tally was started itself
  repeatable,  ///< addresses are not randomised, the environment is repeatable_environment()
};

/// `environment` ("NAME=value") with what makes programs repeat themselves: fixed seeds where an interpreter or library
/// takes one from there, and no restartable sequences in the GNU C library. What is set already stays as it is; a list
/// of settings is added to. Pure.
std::vector<std::string> repeatable_environment(std::vector<std::string> environment);

/// While it lives, programs that this process and its children execute get addresses that are not randomised.
class FixedAddresses {
 public:
  /// Errors: cannot_measure where the kernel, or a filter of system calls, refuses.
  static Result<FixedAddresses> hold();

  FixedAddresses(FixedAddresses&& other) noexcept;
  FixedAddresses& operator=(FixedAddresses&&) = delete;
  ~FixedAddresses();

 private:
  explicit FixedAddresses(unsigned long before) : before_(before) {}

  unsigned long before_;
  bool held_ = true;
};

}  // namespace tally::linux
