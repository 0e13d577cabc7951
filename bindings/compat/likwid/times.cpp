#include "bindings/compat/likwid/times.hpp"

#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <mutex>

namespace tally::compat {
namespace {

struct AllTimes {
  std::mutex lock;
  std::deque<ThreadTimes> threads;
};

// Never destroyed: regions may end while the program ends.
AllTimes& all_times() {
  static auto* const all = new AllTimes;
  return *all;
}

ThreadTimes& add_thread() {
  const std::lock_guard guard(all_times().lock);
  ThreadTimes& times = all_times().threads.emplace_back();
  times.thread = gettid();
  return times;
}

}  // namespace

TimedRegion& ThreadTimes::region(std::string_view name) {
  for (TimedRegion& one : regions)
    if (one.name == name) return one;
  TimedRegion& added = regions.emplace_back();
  added.name = name;
  return added;
}

ThreadTimes& own_times() {
  static thread_local ThreadTimes& times = add_thread();
  return times;
}

ThreadTimes* times_of(int thread) {
  const std::lock_guard guard(all_times().lock);
  auto& threads = all_times().threads;
  const auto found =
      std::find_if(threads.rbegin(), threads.rend(), [&](const ThreadTimes& one) { return one.thread == thread; });
  return found == threads.rend() ? nullptr : &*found;
}

}  // namespace tally::compat
