// Windows of a command with counters for each thread: for kernels before 6.12; independent of the CPUs of a thread.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "tally/counting/backend/perf/window_reader.hpp"
#include "tally/counting/backend/perf/windows/window_groups.hpp"
#include "tally/counting/backend/perf/windows/window_source.hpp"
#include "tally/linux/perf/sample_ring.hpp"
#include "tally/linux/process/follower.hpp"

namespace tally::backend::perf {

/// Opens a group on each thread before its first instruction. Traces the command for that (as Census does): its threads
/// stop when they start, execute a program, end, or receive a signal.
class TracedWindows final : public WindowSource, public Observer {
 public:
  /// Both must outlive it.
  TracedWindows(const Order& order, const WindowEvents& events) : order_(order), events_(events) {}
  ~TracedWindows() override;

  Result<void> open_command(pid_t child) override;
  Result<void> begin(Nanoseconds started) override;
  void finish() override;
  std::vector<Count> counts() const override;
  std::vector<std::string> notices() const override;
  Observer* observer() override { return this; }
  bool takes(const linux::Change& change) override;

 private:
  struct Thread {
    std::int32_t process = 0;
    std::string program;
    std::uint32_t series = 0;  // 0: no window yet
    std::vector<linux::PerfCounter> group;
    std::unique_ptr<linux::SampleRing> ring;  // null: there was no memory for it
    std::size_t ring_bytes = 0;
    std::vector<std::int64_t> last;
    std::uint64_t windows = 0;
    bool gap = false;  // records were lost since the last window
    int processor = -1;
  };
  void follow(const linux::Sight& sight);
  void execute(const linux::Sight& sight);
  void end(pid_t number);
  void map_ring(Thread& thread);
  void take(pid_t number, Thread& thread);
  void take_all();
  void sample(pid_t number, Thread& thread, const linux::SampleRecord& record);
  void emit(pid_t number, Thread& thread, result::Window window, const std::vector<std::int64_t>& values);

  const Order& order_;
  const WindowEvents& events_;
  pid_t first_ = 0;
  Nanoseconds started_{0};
  mutable std::mutex mutex_;  // guards everything below
  std::map<pid_t, Thread> living_;
  std::map<pid_t, pid_t> process_of_, expected_;
  std::vector<std::int64_t> ended_;  // sums of the threads that have ended
  std::size_t ring_bytes_ = 0;       // of all rings
  std::uint32_t series_ = 0;
  std::int64_t lost_ = 0, uncounted_ = 0, without_ring_ = 0;
  std::unique_ptr<WindowReader> reader_;
};

}  // namespace tally::backend::perf
