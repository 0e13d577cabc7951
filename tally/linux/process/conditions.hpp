// The conditions under which a program is started.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tally/core/base/result.hpp"

namespace tally::linux {

struct Conditions {
  bool repeatable = false;       ///< addresses are not randomised, the environment is repeatable_environment()
  std::optional<int> processor;  ///< the only one that the program may run on; see check_processor()
  bool operator==(const Conditions&) const = default;
};

/// Errors: bad_usage where there is no such processor (or it is switched off); cannot_measure where this process may
/// not run on it.
Result<void> check_processor(int processor);

/// The processors of a list such as "0,2-3"; all that are switched on where it is empty. Errors: bad_usage for what is
/// no such list, and for a processor that is not there.
Result<std::vector<int>> processors(const std::string& list);

/// The numbers of a list as the kernel writes them, "0,2-3", each once and in order; nothing where it is no such list.
/// Pure.
std::optional<std::vector<int>> listed_processors(const std::string& list);

/// Lets the calling thread, and what it starts, run on this processor only. Async-signal-safe; false where the kernel
/// refuses.
bool stay_on(int processor) noexcept;

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

/// Processors that this machine may have, whether they are online or not.
long configured_processors();

}  // namespace tally::linux
