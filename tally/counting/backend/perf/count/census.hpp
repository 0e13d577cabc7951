// The processes and threads of a command, each with counters of its own.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tally/counting/backend/native.hpp"
#include "tally/counting/backend/perf/counters.hpp"
#include "tally/linux/process/follower.hpp"

namespace tally::backend::perf {

/// Counts every thread of a command by itself: from its first instruction to its end, and of each program that a
/// process executes. The command is traced for that; the sum of all is the command's count. (The kernel has a record of
/// what a thread had counted when it ended, PERF_RECORD_READ; on Linux 6.18 it was missing for every second program.)
class Census final : public Meter, public Observer {
 public:
  /// Follows a child that has executed nothing yet. `counters` has the events, and no target. Errors: cannot_measure
  /// where the kernel lets nobody trace it.
  static Result<Census> follow(pid_t child, const CountOrder& order, const Counters& counters);

  void enable() override;
  std::vector<Count> read() override;
  bool takes(const linux::Change& change) override;

  /// The processes in the order of their beginning, once for each program that they executed. Ends counting.
  std::vector<result::Process> finish();

 private:
  // A thread that lives.
  struct Thread {
    Counters counters;
    std::vector<Count> before;  // what they held when its process executed what it now does; empty: nothing
    std::size_t row;
    std::string name;
  };

  Census(pid_t child, const CountOrder& order, const Counters& counters)
      : first_(child), order_(&order), like_(&counters), counting_(!order.timing.delay) {}
  void expect(const linux::Sight& sight);
  void begin(const linux::Sight& sight);
  void execute(const linux::Sight& sight);
  void end(pid_t number);
  void add(pid_t number, Thread& thread);
  std::size_t new_row(pid_t process, pid_t parent, const std::string& command);

  pid_t first_;
  const CountOrder* order_;
  const Counters* like_;
  bool counting_;
  std::vector<result::Process> rows_;
  std::map<pid_t, std::size_t> row_of_;  // a process → what it executes
  std::map<pid_t, Thread> living_;
  std::map<pid_t, pid_t> expected_;  // what has been begun and not been seen yet → by which process
  std::vector<Count> ended_;         // of all threads that have
};

}  // namespace tally::backend::perf
