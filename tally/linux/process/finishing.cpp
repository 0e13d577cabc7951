#include "tally/linux/process/finishing.hpp"

#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <system_error>

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
std::atomic<pid_t> continues_in = 0;  // the child that finishes instead of this process
std::array<struct sigaction, ending_signals.size()> actions_before;

std::int64_t monotonic_now() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1'000'000'000 + t.tv_nsec;
}

void on_signal(int signal) {
  const int kept_errno = errno;
  const std::int64_t now = monotonic_now(), last = last_signal_at.exchange(now);
  if (last != 0 && now - last >= same_signal_ns) {
    if (const pid_t child = continues_in; child != 0) kill(child, SIGKILL);
    die_of(signal);
  }
  if (last == 0) first_signal = signal;
  errno = kept_errno;
}

bool has_one_thread() {
  std::error_code failed;
  const std::filesystem::directory_iterator threads("/proc/self/task", failed);
  return !failed && std::distance(begin(threads), end(threads)) == 1;
}

/// Continues in a child in a session of its own, which a SIGKILL for this process and its group does not reach. This
/// process waits for it and ends as it does. Continues here if that is not possible.
void continue_in_own_session() {
  if (!has_one_thread()) return;
  const pid_t child = fork();
  if (child == 0) setsid();
  if (child <= 0) return;
  continues_in = child;
  int status = 0;
  while (waitpid(child, &status, 0) == -1 && errno == EINTR) continue;
  if (WIFSIGNALED(status)) die_of(WTERMSIG(status));
  _exit(WEXITSTATUS(status));
}

}  // namespace

Finishing::Finishing(Signals& signals, Ends ends) : signals_(signals), is_outer_(!is_finishing.exchange(true)) {
  if (!is_outer_) return;
  signals.settle();
  if (signals.interrupted_by() && last_signal_at == 0) {
    last_signal_at = monotonic_now();
    if (ends == Ends::with_program) give_up_at = last_signal_at + patience;
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
  // mpirun kills a rank soon after SIGTERM, and at once if its program has ended.
  if (signals.interrupted_by() == SIGTERM) continue_in_own_session();
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
