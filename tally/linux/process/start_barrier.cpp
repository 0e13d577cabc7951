#include "tally/linux/process/gate.hpp"

#include <fcntl.h>
#include <unistd.h>

#include "tally/linux/system_call.hpp"

namespace tally::linux {

Result<Gate> Gate::make() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return system_failure(Code::cannot_measure, "cannot start the program (pipe)");
  return Gate(Descriptor(ends[0]), Descriptor(ends[1]));
}

ChildHooks Gate::hooks() { return {this, wait, nullptr}; }

void Gate::open() {
  const char go = 1;
  // The child may have been killed; SIGPIPE is ignored while signals are watched.
  [[maybe_unused]] const ssize_t size = write(opened_.get(), &go, 1);
  opened_.reset();
  waited_.reset();
}

// Runs in the child: only async-signal-safe calls.
void Gate::wait(void* self) {
  auto& gate = *static_cast<Gate*>(self);
  if (!gate.waited_) return;  // second attempt, for a script without `#!`
  gate.opened_.reset();       // otherwise the end of tally would go unnoticed
  char go = 0;
  if (retry([&] { return read(gate.waited_.get(), &go, 1); }) != 1) _exit(127);
  gate.waited_.reset();
}

}  // namespace tally::linux
