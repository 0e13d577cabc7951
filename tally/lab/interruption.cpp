#include "tally/lab/interruption.hpp"

#include <csignal>

namespace tally::lab {
namespace {

volatile std::sig_atomic_t noted = 0;

extern "C" void note_signal(int number) {
  noted = number;
  std::signal(number, SIG_DFL);
}

}  // namespace

void note_signals() {
  for (const int number : {SIGINT, SIGTERM}) {
    // Whoever started the lab may have told it to ignore them.
    if (std::signal(number, SIG_IGN) != SIG_IGN) std::signal(number, note_signal);
  }
}

int noted_signal() { return noted; }

End stopped_by_signal(std::uint64_t address) {
  const char* const name = noted == SIGINT ? "SIGINT" : "SIGTERM";
  return {End::Reason::stopped, address, 0, std::string("the run was stopped by ") + name, {}};
}

void end_by_signal() {
  std::signal(noted, SIG_DFL);
  std::raise(noted);
}

}  // namespace tally::lab
