// What tally does after the program has ended: it collects counts, resolves names and writes, until a signal asks it to
// end.
#pragma once

#include <cerrno>
#include <optional>

namespace tally::linux {

class Signals;

/// While it lives, SIGINT, SIGQUIT, SIGTERM and SIGHUP are no longer queued for `signals`. The first one makes
/// is_interrupted() true: loops stop, and what is known is written. The second one ends this process at once, as the
/// first one does where measuring was interrupted before; what comes within a fifth of a second of the one before is
/// the same signal. Those that were ignored when tally was started stay ignored. One may live within another.
class Finishing {
 public:
  /// How measuring ends when nothing goes wrong.
  enum class Ends {
    with_program,  ///< a signal cut it short: what follows may take most of a second
    by_signal,     ///< as of a running process: what follows takes the time that it needs
  };

  explicit Finishing(Signals& signals, Ends ends = Ends::with_program);
  Finishing(const Finishing&) = delete;
  Finishing& operator=(const Finishing&) = delete;
  /// Queues signals again; `signals` knows of the one that came meanwhile.
  ~Finishing();

 private:
  Signals& signals_;
  bool is_outer_;
};

/// Whether work that is not done yet is to be left out. True after a signal came while something was being finished,
/// and most of a second after that began where a signal had ended the measuring; also once noted_signal() has one.
/// Cheap: ask in every round of a loop. From any thread.
bool is_interrupted();

/// The signal that came while something was being finished.
std::optional<int> finishing_interrupted_by();

/// Repeats a system call that a signal interrupted, unless tally is to end: then it is -1, and errno is EINTR.
template <class Call>
auto unless_interrupted(Call call) {
  auto result = call();
  while (result == -1 && errno == EINTR && !is_interrupted()) result = call();
  return result;
}

}  // namespace tally::linux
