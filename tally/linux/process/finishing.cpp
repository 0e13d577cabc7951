#include "tally/linux/process/finishing.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <time.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>

#include "tally/linux/process/noted_signal.hpp"
#include "tally/linux/process/received_signals.hpp"

namespace tally::linux {
namespace {

// Shared with the signal handler. Times are of CLOCK_MONOTONIC, in nanoseconds; 0: none.
std::atomic<int> first_signal = 0;  // during a Finishing
std::atomic<std::int64_t> last_signal_at = 0, give_up_at = 0;

constexpr std::int64_t same_signal_ns = 200'000'000;  // `timeout` sends one to the process, and one to its group
constexpr std::int64_t patience = 700'000'000;        // results so far are written within a second

std::atomic<bool> is_finishing = false;
std::array<struct sigaction, ending_signals.size()> actions_before;

std::int64_t monotonic_now() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1'000'000'000 + t.tv_nsec;
}

void on_signal(int signal) {
  const int kept_errno = errno;
  const std::int64_t now = monotonic_now(), last = last_signal_at.exchange(now);
  if (last != 0 && now - last >= same_signal_ns) die_of(signal);
  if (last == 0) first_signal = signal;
  errno = kept_errno;
}

}  // namespace

Finishing::Finishing(Signals& signals, Ends ends) : signals_(signals), is_outer_(!is_finishing.exchange(true)) {
  if (!is_outer_) return;
  if (signals.is_out_of_reach()) prctl(PR_SET_PDEATHSIG, 0);  // the end of the launcher's process is no second signal
  signals.settle();
  if (signals.interrupted_by() && last_signal_at == 0) {
    last_signal_at = monotonic_now();
    if (ends == Ends::with_program && !signals.is_out_of_reach()) give_up_at = last_signal_at + patience;
  }
  sigset_t delivered;
  sigemptyset(&delivered);
  for (std::size_t i = 0; i < ending_signals.size(); ++i) {
    if (is_ignored(ending_signals[i])) continue;
    sigaddset(&delivered, ending_signals[i]);
  }
  struct sigaction action {};
  action.sa_handler = on_signal;  // without SA_RESTART: a blocked system call ends
  action.sa_mask = delivered;
  for (std::size_t i = 0; i < ending_signals.size(); ++i) {
    if (sigismember(&delivered, ending_signals[i]) == 1) sigaction(ending_signals[i], &action, &actions_before[i]);
  }
  pthread_sigmask(SIG_UNBLOCK, &delivered, nullptr);
}

Finishing::~Finishing() {
  if (!is_outer_) return;
  sigset_t queued;
  sigemptyset(&queued);
  for (const int signal : ending_signals)
    if (!is_ignored(signal)) sigaddset(&queued, signal);
  pthread_sigmask(SIG_BLOCK, &queued, nullptr);
  for (std::size_t i = 0; i < ending_signals.size(); ++i)
    if (sigismember(&queued, ending_signals[i]) == 1) sigaction(ending_signals[i], &actions_before[i], nullptr);
  if (first_signal != 0) signals_.note(first_signal);
  if (signals_.is_out_of_reach()) prctl(PR_SET_PDEATHSIG, SIGTERM);
  give_up_at = 0;
  is_finishing = false;
}

bool is_interrupted() {
  if (first_signal.load(std::memory_order_relaxed) != 0 || noted_signal() != 0) return true;
  const std::int64_t at = give_up_at.load(std::memory_order_relaxed);
  return at != 0 && monotonic_now() >= at;
}

bool was_asked_to_end() { return last_signal_at != 0; }

std::optional<int> finishing_interrupted_by() {
  const int signal = first_signal;
  return signal == 0 ? std::nullopt : std::optional(signal);
}

}  // namespace tally::linux
