// The conditions under which a program starts: repeatability and CPU.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tally/core/base/result.hpp"

namespace tally::linux {

struct Conditions {
  bool repeatable = false;       ///< no address randomization, and repeatable_environment()
  std::optional<int> processor;  ///< the only CPU that the program may run on; see check_processor()
  /// "own": the program gets the environment of this process. "fixed,NAME,…": fixed_environment() with these variables.
  std::string environment = "own";
  bool fixes_environment() const { return environment.starts_with("fixed"); }
  bool operator==(const Conditions&) const = default;
};

/// Checks that this process can run on a CPU. Errors: bad_usage if there is no such CPU or it is offline;
/// cannot_measure if this process may not run on it.
Result<void> check_processor(int processor);

/// Returns the CPUs of a list such as "0,2-3"; all that are online if it is empty. Errors: bad_usage for an invalid
/// list or a missing CPU.
Result<std::vector<int>> processors(const std::string& list);

/// Returns the numbers of a list in the kernel's format, "0,2-3", sorted and each once; nothing if it is invalid. Pure.
std::optional<std::vector<int>> listed_processors(const std::string& list);

/// Pins the calling thread, and what it starts, to this CPU. Returns false if the kernel refuses. Async-signal-safe.
bool stay_on(int processor) noexcept;

/// Adds settings to `environment` ("NAME=value") that make programs repeatable: fixed seeds for interpreters and
/// libraries that read one, and no restartable sequences in the GNU C library. Existing values stay; lists of settings
/// are extended. Pure.
std::vector<std::string> repeatable_environment(std::vector<std::string> environment);

/// Returns the names in "fixed,NAME,…". Pure.
std::vector<std::string> kept_variables(const std::string& environment);
/// Returns a few variables with fixed values, and those of `own` ("NAME=value") whose names are in `kept`, in the order
/// of `kept`. Pure.
std::vector<std::string> fixed_environment(const std::vector<std::string>& own, const std::vector<std::string>& kept);

/// Whether programs that this process executes get other addresses each time: by the kernel's setting, and by what the
/// process inherits (`setarch -R`).
bool addresses_are_randomized();

/// During its lifetime, programs that this process and its children execute get no address randomization.
class FixedAddresses {
 public:
  /// Errors: cannot_measure if the kernel or a system call filter refuses.
  static Result<FixedAddresses> hold();

  FixedAddresses(FixedAddresses&& other) noexcept;
  FixedAddresses& operator=(FixedAddresses&&) = delete;
  ~FixedAddresses();

 private:
  explicit FixedAddresses(unsigned long before) : before_(before) {}

  unsigned long before_;
  bool held_ = true;
};

/// Returns the number of CPUs that this machine can have, online or not.
long configured_processors();

/// Returns the environment of a program that starts under these conditions, from that of this process.
std::vector<std::string> environment_for(const Conditions& conditions);

}  // namespace tally::linux
