#include "tally/linux/process/start_barrier.hpp"

#include <fcntl.h>
#include <unistd.h>

#include "tally/linux/system_call.hpp"

namespace tally::linux {

Result<StartBarrier> StartBarrier::make() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return system_failure(Code::cannot_measure, "cannot start the program (pipe)");
  return StartBarrier(Descriptor(ends[0]), Descriptor(ends[1]));
}

ChildHooks StartBarrier::hooks() { return {this, wait, nullptr}; }

void StartBarrier::open() {
  const char go = 1;
  // The child may have been killed; SIGPIPE is ignored while signals are watched.
  [[maybe_unused]] const ssize_t size = write(opened_.get(), &go, 1);
  opened_.reset();
  waited_.reset();
}

// Runs in the child: only async-signal-safe calls.
void StartBarrier::wait(void* self) {
  auto& barrier = *static_cast<StartBarrier*>(self);
  if (!barrier.waited_) return;  // second attempt, for a script without `#!`
  barrier.opened_.reset();       // otherwise the end of tally would go unnoticed
  char go = 0;
  if (retry([&] { return read(barrier.waited_.get(), &go, 1); }) != 1) _exit(127);
  barrier.waited_.reset();
}

}  // namespace tally::linux
