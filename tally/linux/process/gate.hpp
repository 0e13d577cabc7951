// Holds a started program back in front of its execve.
#pragma once

#include "tally/core/base/result.hpp"
#include "tally/linux/descriptor.hpp"
#include "tally/linux/process/spawn.hpp"

namespace tally::linux {

/// The child of Program::start() waits after it, as a process of its own that has executed nothing yet, until it is
/// opened. Where tally ends without having opened it, the child ends too.
class Gate {
 public:
  /// Errors: cannot_measure where the kernel refuses a pipe.
  static Result<Gate> make();

  /// What Program::start() takes. This object must not be moved from then on.
  ChildHooks hooks();

  /// Lets the program go.
  void open();

 private:
  Gate(Descriptor waited, Descriptor opened) : waited_(std::move(waited)), opened_(std::move(opened)) {}
  static void wait(void* self);

  Descriptor waited_;
  Descriptor opened_;
};

}  // namespace tally::linux
