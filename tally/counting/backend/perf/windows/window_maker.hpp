// Records of sampled groups in, windows out. Pure.
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
#include "tally/output/result/windows.hpp"

namespace tally::backend::perf {

/// How the groups look whose records come. Each thread that counters were opened on (a root) has a group on each
/// processor, and what it begins inherits them. A group: the trigger, which samples; the trigger once more, for its
/// last value; other events.
struct WindowShape {
  std::uint64_t every = 1;     ///< events of the trigger in a window; 0: not fixed
  bool is_clock = false;       ///< the trigger counts time
  std::size_t width = 2;       ///< counters of a group
  std::size_t processors = 1;  ///< groups of a root
};

/// Makes windows. Counts in the records add up for a thread on a processor; a window has what came between two. What is
/// left when a thread ends is its last window, of all processors together.
class WindowMaker {
 public:
  using Emit = std::function<void(const result::Window&)>;

  /// `started_ns`: windows tell their time from there on. result::Window::counts has the values of a group.
  WindowMaker(const WindowShape& shape, std::int64_t started_ns, Emit emit);

  /// A thread that counters were opened on, of a process that executes `program`; it is the root of that number, from
  /// 0.
  void add_root(std::int32_t process, std::int32_t thread, const std::string& program = {});

  /// A counter of a group, by the number that records have.
  void add_counter(std::uint64_t id, std::size_t root, std::size_t processor, std::size_t place);

  void see(const linux::SampleRecord& record);

  /// Whether a thread of this number is counted, and lives.
  bool knows(std::int32_t thread) const;

  /// All is over at this time. `totals`: what the counters of all roots held, of all threads together: by root, then
  /// processor, then place (of which 0 does not matter). Ends the windows of the roots. What belongs to threads whose
  /// end nobody told goes into a window of thread 0.
  void finish(std::int64_t time_ns, std::span<const std::int64_t> totals);

  /// Threads whose end was not told: they are alive, or the kernel has lost records.
  std::int64_t unknown_ends() const { return unknown_ends_; }
  /// Windows that had no record of their own, and are in the next ones.
  std::int64_t lost() const { return lost_; }
  /// Counts that belong to a thread nobody knows.
  bool any_unattributed() const { return any_unattributed_; }

 private:
  struct Place {
    std::size_t root, processor, place;
  };
  struct Thread {
    std::int32_t process = 0, thread = 0;
    std::size_t root = 0;
    std::string program;
    std::uint32_t series = 0;  // 0: it has no window yet
    std::uint64_t windows = 0;
    bool is_root = false;
    std::int64_t ended_ns = 0;
    int ended_on = -1;
    std::vector<std::int64_t> last;   // by processor and place: in the last record
    std::vector<std::int64_t> final;  // the same: when it ended
    std::size_t finals = 0;           // that came
    std::vector<std::uint32_t> gaps;  // by processor: Gap that its last window knew
  };
  Thread* thread_of(std::int32_t number);
  Thread& begin(std::int32_t process, std::int32_t number, std::size_t root);
  void sample(const linux::SampleRecord& record);
  void end_count(const linux::SampleRecord& record);
  void execute(const linux::SampleRecord& record);
  void give_up(Thread& thread);
  void set_aside(std::int32_t number);
  void cut(Thread& thread);
  void hand_on(Thread& thread, result::Window& window);
  void add(std::vector<std::int64_t>& sums, const Thread& thread, const std::vector<std::int64_t>& values) const;

  WindowShape shape_;
  std::int64_t started_ns_;
  Emit emit_;
  std::unordered_map<std::uint64_t, Place> places_;
  std::unordered_map<std::int32_t, Thread> threads_;
  Thread* known_ = nullptr;                // the last one that was looked for
  std::vector<std::int32_t> roots_;        // their keys in threads_: numbers, negative once these are others'
  std::vector<std::int64_t> told_;         // by root, processor and place: what windows have of threads that are gone
  std::vector<bool> in_doubt_;             // by root: a thread's end was not told
  std::vector<std::uint32_t> gaps_;        // by processor: how often records were lost
  std::vector<std::int64_t> now_, delta_;  // of a group
  std::uint32_t series_ = 0;
  std::int64_t unknown_ends_ = 0, lost_ = 0;
  bool any_unattributed_ = false;
};

}  // namespace tally::backend::perf
