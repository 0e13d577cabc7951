#include "tally/linux/process/fault_signals.hpp"

#include <csignal>

namespace tally::linux {

bool is_fault_signal(int signal) {
  return signal == SIGSEGV || signal == SIGBUS || signal == SIGILL || signal == SIGFPE || signal == SIGTRAP;
}

}  // namespace tally::linux
