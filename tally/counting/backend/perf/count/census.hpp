// Counts each process and thread of a command separately.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tally/counting/backend/native.hpp"
#include "tally/counting/backend/perf/order_counters.hpp"
#include "tally/linux/process/follower.hpp"

namespace tally::backend::perf {

/// Counts every thread of a command from its first instruction to its end, separately for each program that its process
/// executes. Traces the command with ptrace. The sum is the command's count. (PERF_RECORD_READ reports the counts of a
/// thread at its end, but on Linux 6.18 it was missing for every second program.)
class Census final : public Meter, public Observer {
 public:
  /// Follows a child before its execve. `counters` has the events and no target. Errors: cannot_measure if the kernel
  /// does not permit tracing.
  static Result<Census> follow(pid_t child, const Order& order, const Counters& counters);

  void enable() override;
  void disable() override;
  std::vector<Count> read() override;
  bool takes(const linux::Change& change) override;

  /// Ends counting, and returns the processes in the order of their start, one row for each program that they executed.
  std::vector<result::Process> finish();

 private:
  // A running thread.
  struct Thread {
    Counters counters;
    std::vector<Count> before;  // its counts at the last execve of its process; empty: 0
    std::size_t row;
    std::string name;
  };

  Census(pid_t child, const Order& order, const Counters& counters)
      : first_(child), order_(&order), like_(&counters), counting_(!order.timing().starts_late()) {}
  void expect(const linux::Sight& sight);
  void begin(const linux::Sight& sight);
  void execute(const linux::Sight& sight);
  void end(pid_t number);
  void add(pid_t number, Thread& thread);
  std::size_t new_row(pid_t process, pid_t parent, const std::string& command);

  pid_t first_;
  const Order* order_;
  const Counters* like_;
  bool counting_;
  std::vector<result::Process> rows_;
  std::map<pid_t, std::size_t> row_of_;  // process → row of its current program
  std::map<pid_t, Thread> living_;
  std::map<pid_t, pid_t> expected_;  // new process or thread that has not stopped yet → process that created it
  std::vector<Count> ended_;         // sum of all threads that have ended
};

}  // namespace tally::backend::perf
