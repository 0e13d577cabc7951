// Stops a started program before its execve.
#pragma once

#include "tally/core/base/result.hpp"
#include "tally/linux/descriptor.hpp"
#include "tally/linux/process/spawn.hpp"

namespace tally::linux {

/// After Program::start(), the child waits until the barrier is opened: a process that has not executed a program yet.
/// If tally ends without opening the barrier, the child ends, too.
class StartBarrier {
 public:
  /// Errors: cannot_measure if the kernel refuses a pipe.
  static Result<StartBarrier> make();

  /// Returns the hooks for Program::start(). This object must not be moved afterwards.
  ChildHooks hooks();

  /// Lets the program execute.
  void open();

 private:
  StartBarrier(Descriptor waited, Descriptor opened) : waited_(std::move(waited)), opened_(std::move(opened)) {}
  static void wait(void* self);

  Descriptor waited_;
  Descriptor opened_;
};

}  // namespace tally::linux
