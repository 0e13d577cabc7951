// Handles signals while tally works on results after the program has ended: collects counts, resolves names and writes.
#pragma once

#include <optional>

#include "tally/linux/interruption.hpp"

namespace tally::linux {

class Signals;

/// During its lifetime, SIGINT, SIGQUIT, SIGTERM and SIGHUP are not queued for `signals`. The first one makes
/// is_interrupted() true: loops stop, and the results so far are written. The second one ends this process at once, as
/// does the first if the measurement was interrupted before. Signals within a fifth of a second of the previous one
/// count as the same. Signals that were ignored when tally started stay ignored. Objects may be nested.
class Finishing {
 public:
  /// How the measurement normally ends.
  enum class Ends {
    with_program,  ///< a signal interrupted it: finishing may take most of a second
    by_signal,     ///< as for a running process: finishing takes as long as it needs
  };

  explicit Finishing(Signals& signals, Ends ends = Ends::with_program);
  Finishing(const Finishing&) = delete;
  Finishing& operator=(const Finishing&) = delete;
  /// Queues signals again; `signals` gets the one that came meanwhile.
  ~Finishing();

 private:
  Signals& signals_;
  bool is_outer_;
};

/// Returns the signal that came during a Finishing.
std::optional<int> finishing_interrupted_by();

}  // namespace tally::linux
