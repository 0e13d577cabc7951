// Makes windows from the records of sampled groups. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "tally/linux/perf/sample_record.hpp"
#include "tally/output/result/windows_result.hpp"

namespace tally::backend::perf {

/// The structure of the groups. Each thread that counters were opened on (a root) has a group on each CPU, which its
/// descendants inherit. A group consists of the trigger, which samples; the trigger again, for its final value; and the
/// other events.
struct WindowShape {
  std::uint64_t every = 1;     ///< events of the trigger in a window; 0: not fixed
  bool is_clock = false;       ///< the trigger counts time
  std::size_t width = 2;       ///< counters of a group
  std::size_t processors = 1;  ///< groups of a root
};

/// Makes windows. The counts in the records accumulate for each thread on each CPU; a window is the difference between
/// two records. The rest at the end of a thread is its last window, for all CPUs together.
class WindowMaker {
 public:
  using Emit = std::function<void(const result::Window&)>;

  /// `started_ns`: the time that windows are relative to. result::Window::counts has the values of a group.
  WindowMaker(const WindowShape& shape, std::int64_t started_ns, Emit emit);

  /// Adds the next root, from number 0 on: a thread that counters were opened on, in a process that runs `program`.
  void add_root(std::int32_t process, std::int32_t thread, const std::string& program = {});

  /// Adds a counter of a group, by the ID that records have.
  void add_counter(std::uint64_t id, std::size_t root, std::size_t processor, std::size_t place);

  void see(const linux::SampleRecord& record);

  /// Whether a thread with this ID is counted and running.
  bool is_counted(std::int32_t thread) const;

  /// Ends the windows of the roots at this time. `totals`: the values of the counters of all roots, over all threads:
  /// by root, CPU and index in the group (index 0 is ignored). Counts of threads whose end was not reported become a
  /// window of thread 0.
  void finish(std::int64_t time_ns, std::span<const std::int64_t> totals);

  /// Returns how many threads have an unreported end: they are running, or the kernel lost records.
  std::int64_t unknown_ends() const { return unknown_ends_; }
  /// Returns how many windows had no record of their own, and are part of the next ones.
  std::int64_t lost() const { return lost_; }
  /// Whether there are counts of an unknown thread.
  bool any_unattributed() const { return any_unattributed_; }

 private:
  struct CounterIndex {
    std::size_t root, processor, place;
  };
  struct Thread {
    std::int32_t process = 0, thread = 0;
    std::size_t root = 0;
    std::string program;
    std::uint32_t series = 0;  // 0: no window yet
    std::uint64_t windows = 0;
    bool is_root = false;
    std::int64_t ended_ns = 0;
    int ended_on = -1;
    std::vector<std::int64_t> last;   // by CPU and index: values of the last record
    std::vector<std::int64_t> final;  // the same: values at the end of the thread
    std::size_t finals = 0;           // values that have arrived in `final`
    std::vector<std::uint32_t> gaps;  // by CPU: value of `gaps_` at its last window
  };
  Thread* thread_of(std::int32_t number);
  Thread& begin(std::int32_t process, std::int32_t number, std::size_t root);
  void sample(const linux::SampleRecord& record);
  void end_count(const linux::SampleRecord& record);
  void execute(const linux::SampleRecord& record);
  void give_up(Thread& thread);
  void set_aside(std::int32_t number);
  void cut(Thread& thread);
  void emit_window(Thread& thread, result::Window& window);
  void add(std::vector<std::int64_t>& sums, const Thread& thread, const std::vector<std::int64_t>& values) const;

  WindowShape shape_;
  std::int64_t started_ns_;
  Emit emit_;
  std::unordered_map<std::uint64_t, CounterIndex> counters_;
  std::unordered_map<std::int32_t, Thread> threads_;
  Thread* cached_ = nullptr;               // the result of the last search
  std::vector<std::int32_t> roots_;        // keys in threads_: thread IDs, negative if another thread has the ID now
  std::vector<std::int64_t> attributed_;   // by root, CPU and index: counts in windows of threads that have ended
  std::vector<bool> in_doubt_;             // by root: the end of a thread was not reported
  std::vector<std::uint32_t> gaps_;        // by CPU: how often records were lost
  std::vector<std::int64_t> now_, delta_;  // of a group
  std::uint32_t series_ = 0;
  std::int64_t unknown_ends_ = 0, lost_ = 0;
  bool any_unattributed_ = false;
};

}  // namespace tally::backend::perf
