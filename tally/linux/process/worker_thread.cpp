#include "tally/linux/process/worker_thread.hpp"

#include <csignal>
#include <utility>

namespace tally::linux {

std::thread worker_thread(std::function<void()> work) {
  // A thread inherits the signal mask of the one that starts it.
  sigset_t all{}, before{};
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  struct Restore {
    const sigset_t& mask;
    ~Restore() { pthread_sigmask(SIG_SETMASK, &mask, nullptr); }
  } const restore{before};
  return std::thread(std::move(work));
}

}  // namespace tally::linux
