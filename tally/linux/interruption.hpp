// Whether a signal asked tally to end. process/finishing.cpp handles the signals.
#pragma once

#include <cerrno>

namespace tally::linux {

/// Whether to skip remaining work. True after a signal during a Finishing; most of a second after the begin of a
/// Finishing if a signal had ended the measurement; and once noted_signal() is set. Cheap: call it in every iteration.
/// Thread-safe.
bool is_interrupted();

/// Whether a signal asked tally to end, before or during a Finishing: its sender may kill tally soon.
bool was_asked_to_end();

/// Repeats a system call that a signal interrupted, unless tally must end: then returns -1 with errno EINTR.
template <class Call>
auto unless_interrupted(Call call) {
  auto result = call();
  while (result == -1 && errno == EINTR && !is_interrupted()) result = call();
  return result;
}

}  // namespace tally::linux
