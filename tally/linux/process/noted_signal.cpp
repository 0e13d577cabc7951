#include "tally/linux/process/noted_signal.hpp"

#include <signal.h>

#include <array>

namespace tally::linux {
namespace {

constexpr std::array noted_signals = {SIGINT, SIGTERM};
volatile sig_atomic_t noted = 0;

extern "C" void note_signal(int number) {
  noted = number;
  signal(number, SIG_DFL);
}

void set_actions(int flags) {
  for (const int number : noted_signals) {
    struct sigaction action {};
    sigaction(number, nullptr, &action);
    // A signal that was noted already has its default action.
    if (action.sa_handler == SIG_IGN || noted == number) continue;
    action.sa_handler = note_signal;
    action.sa_flags = flags;
    sigaction(number, &action, nullptr);
  }
}

}  // namespace

void note_ending_signals() { set_actions(0); }

void restart_calls() { set_actions(SA_RESTART); }

int noted_signal() { return noted; }

}  // namespace tally::linux
