// Detects whether a signal that tally received went to its whole process group or control group.
#pragma once

#include <sys/types.h>

#include "tally/core/base/units.hpp"
#include "tally/linux/descriptor.hpp"

namespace tally::linux {

/// A process in the program's process group that receives signals and does nothing else. What the
/// witness got, the program got, too; what it did not get was sent to tally alone. The kernel reports this in no other
/// way. Its name and arguments contain neither tally's nor the program's, so that `pkill` finds it by neither.
class SignalWitness {
 public:
  /// Forks it into a process group. If the kernel refuses that, received() is false.
  explicit SignalWitness(pid_t group);
  SignalWitness(const SignalWitness&) = delete;
  ~SignalWitness();

  /// Whether it received a signal, at the latest after `patience`, and takes it. `sender`: its process ID; 0: any.
  bool received(int signal, pid_t sender, Nanoseconds patience) const;

 private:
  Descriptor channel_;
  pid_t process_ = 0;
};

}  // namespace tally::linux
