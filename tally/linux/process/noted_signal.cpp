#include "tally/linux/process/noted_signal.hpp"

#include <csignal>
#include <initializer_list>

namespace tally::linux {
namespace {

volatile std::sig_atomic_t noted = 0;

extern "C" void note_signal(int number) {
  noted = number;
  std::signal(number, SIG_DFL);
}

}  // namespace

void note_ending_signals() {
  for (const int number : {SIGINT, SIGTERM}) {
    if (std::signal(number, SIG_IGN) != SIG_IGN) std::signal(number, note_signal);
  }
}

int noted_signal() { return noted; }

}  // namespace tally::linux
