#pragma once
#include <sys/types.h>

#include <string>
#include <vector>

#include "tests/engine/run.hpp"

namespace tally::engine_test {

/// A running program whose output is readable while it runs; in a process group of its own, as a shell's job.
class Live {
 public:
  Live(const std::vector<std::string>& words, const Command& command);
  ~Live();
  Live(const Live&) = delete;
  Live& operator=(const Live&) = delete;

  /// Reads until the program has written `text`; false if it ends before.
  bool wait_for(const std::string& text);

  /// The pid of the started process: of tally if tally counts.
  pid_t pid() const { return pid_; }

  /// Sends a signal to the whole group, as Ctrl-C does.
  void signal_group(int signal) const;

  /// Waits for the end; exit code or 128 + signal.
  int end();

 private:
  pid_t pid_ = -1;
  int output_ = -1;
  std::string text_;
  bool ended_ = false;
};

/// The only child of a process.
pid_t child_of(pid_t pid);

}  // namespace tally::engine_test
