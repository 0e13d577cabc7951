#include "tally/counting/backend/perf/windows/window_maker.hpp"

#include <algorithm>
#include <numeric>

namespace tally::backend::perf {

using linux::SampleRecord;

WindowMaker::WindowMaker(const WindowShape& shape, std::int64_t started_ns, Emit emit)
    : shape_(shape),
      started_ns_(started_ns),
      emit_(std::move(emit)),
      gaps_(shape.processors),
      now_(shape.width),
      delta_(shape.width) {}

void WindowMaker::add_root(std::int32_t process, std::int32_t thread, const std::string& program) {
  Thread& root = begin(process, thread, roots_.size());
  root.is_root = true;
  root.program = program;
  roots_.push_back(thread);
  told_.resize(roots_.size() * shape_.processors * shape_.width);
  in_doubt_.push_back(false);
}

void WindowMaker::add_counter(std::uint64_t id, std::size_t root, std::size_t processor, std::size_t place) {
  places_[id] = {root, processor, place};
}

WindowMaker::Thread* WindowMaker::thread_of(std::int32_t number) {
  if (known_ && known_->thread == number) return known_;
  const auto found = threads_.find(number);
  if (found == threads_.end()) return nullptr;
  return known_ = &found->second;
}

WindowMaker::Thread& WindowMaker::begin(std::int32_t process, std::int32_t number, std::size_t root) {
  // Numbers are used again: who had it before has ended.
  if (Thread* const before = thread_of(number)) {
    if (before->is_root)
      set_aside(number);
    else
      give_up(*before);
  }
  Thread& made = threads_[number];
  made.process = process;
  made.thread = number;
  made.root = root;
  made.last.resize(shape_.processors * shape_.width);
  made.gaps = gaps_;
  known_ = &made;
  return made;
}

// Its last window is not known; what the others have of it is.
void WindowMaker::give_up(Thread& thread) {
  add(told_, thread, thread.last);
  in_doubt_[thread.root] = true;
  ++unknown_ends_;
  known_ = nullptr;
  threads_.erase(thread.thread);
}

// What is left of a root is known at the end, when another thread may have its number.
void WindowMaker::set_aside(std::int32_t number) {
  known_ = nullptr;
  auto node = threads_.extract(number);
  const std::size_t root = node.mapped().root;
  node.key() = roots_[root] = -1 - static_cast<std::int32_t>(root);
  threads_.insert(std::move(node));
}

void WindowMaker::add(std::vector<std::int64_t>& sums, const Thread& thread,
                      const std::vector<std::int64_t>& values) const {
  const std::size_t first = thread.root * values.size();
  for (std::size_t i = 0; i < values.size(); ++i) sums[first + i] += values[i];
}

bool WindowMaker::knows(std::int32_t thread) const {
  const auto found = threads_.find(thread);
  return found != threads_.end() && found->second.ended_ns == 0;
}

void WindowMaker::see(const SampleRecord& record) {
  using What = SampleRecord::What;
  switch (record.what) {
    case What::sample: return sample(record);
    case What::end_count: return end_count(record);
    case What::executed: return execute(record);
    case What::begun:
      if (const Thread* const by = thread_of(record.parent_thread)) {
        const std::string program = by->program;
        begin(record.process, record.thread, by->root).program = program;
      }
      return;
    case What::ended:
      if (Thread* const thread = thread_of(record.thread)) {
        thread->ended_ns = record.time_ns;
        thread->ended_on = record.processor;
      }
      return;
    case What::lost:
    case What::throttled:
      if (const auto place = places_.find(record.id); place != places_.end()) ++gaps_[place->second.processor];
      return;
    default: return;
  }
}

void WindowMaker::sample(const SampleRecord& record) {
  const auto found = places_.find(record.id);
  if (found == places_.end() || record.size() != shape_.width) return;
  const Place& place = found->second;
  Thread* thread = thread_of(record.thread);
  if (!thread) thread = &begin(record.process, record.thread, place.root);  // the record of its beginning was lost
  record.values(now_.data());
  // A clock that is read for a record has gone on since it fired; others may count the same event before or after.
  if (shape_.is_clock && shape_.width > 1) now_[0] = now_[1];
  std::int64_t* const last = thread->last.data() + place.processor * shape_.width;
  for (std::size_t i = 0; i < shape_.width; ++i) {
    delta_[i] = now_[i] - last[i];
    last[i] = now_[i];
  }
  result::Window window;
  window.time = Nanoseconds(record.time_ns - started_ns_);
  window.length = delta_[0];
  window.pid = record.process;
  window.tid = record.thread;
  window.cpu = record.processor;
  window.trigger = 0;
  window.address = record.address;
  if (std::uint32_t& gap = thread->gaps[place.processor]; gap != gaps_[place.processor]) {
    gap = gaps_[place.processor];
    if (shape_.every != 0)
      window.lost = std::max<std::int64_t>(window.length / static_cast<std::int64_t>(shape_.every) - 1, 0);
  }
  hand_on(*thread, window);
}

void WindowMaker::end_count(const SampleRecord& record) {
  const auto found = places_.find(record.id);
  Thread* const thread = thread_of(record.thread);
  if (found == places_.end() || !thread || thread->is_root) return;
  const Place& place = found->second;
  thread->final.resize(thread->last.size());
  const std::size_t first = place.processor * shape_.width;
  thread->final[first + place.place] = record.value;
  if (place.place == 1) thread->final[first] = record.value;
  if (++thread->finals < shape_.processors * (shape_.width - 1)) return;
  if (thread->ended_ns == 0) thread->ended_ns = record.time_ns;
  cut(*thread);
  add(told_, *thread, thread->final);
  known_ = nullptr;
  threads_.erase(thread->thread);
}

// The thread that executes goes on under the number of its process's first, which has ended. The window in which it
// does so is the new program's.
void WindowMaker::execute(const SampleRecord& record) {
  if (record.thread != record.process) return;
  Thread* first = thread_of(record.process);
  if (first && first->ended_ns != 0) {
    if (first->is_root)
      set_aside(record.process);
    else
      give_up(*first);
    first = nullptr;
  }
  if (!first) {
    const auto goes_on = std::find_if(threads_.begin(), threads_.end(), [&](const auto& one) {
      return one.second.process == record.process && one.second.ended_ns == 0;
    });
    if (goes_on == threads_.end()) return;
    known_ = nullptr;
    auto node = threads_.extract(goes_on);
    node.key() = record.process;
    node.mapped().thread = record.process;
    if (node.mapped().is_root) roots_[node.mapped().root] = record.process;
    first = &threads_.insert(std::move(node)).position->second;
  }
  first->program = record.name;
  first->series = 0;
  first->windows = 0;
}

void WindowMaker::hand_on(Thread& thread, result::Window& window) {
  if (thread.series == 0) thread.series = ++series_;
  window.series = thread.series;
  window.program = thread.program;
  window.number = ++thread.windows;
  window.counts = delta_;
  lost_ += window.lost;
  emit_(window);
}

// What a thread has counted on all processors since its last windows there.
void WindowMaker::cut(Thread& thread) {
  std::fill(delta_.begin(), delta_.end(), 0);
  std::int64_t lost = 0;
  for (std::size_t i = 0; i < thread.last.size(); ++i) {
    const std::int64_t more = thread.final[i] - thread.last[i];
    delta_[i % shape_.width] += more;
    if (i % shape_.width == 0 && shape_.every != 0)
      lost += std::max<std::int64_t>(more / static_cast<std::int64_t>(shape_.every), 0);
  }
  if (std::all_of(delta_.begin(), delta_.end(), [](std::int64_t one) { return one == 0; })) return;
  result::Window window;
  window.time = Nanoseconds(thread.ended_ns - started_ns_);
  window.length = delta_[0];
  window.pid = thread.process;
  window.tid = thread.thread;
  window.cpu = thread.ended_on;
  window.lost = lost;
  hand_on(thread, window);
}

void WindowMaker::finish(std::int64_t time_ns, std::span<const std::int64_t> totals) {
  std::vector<std::int32_t> open;
  for (const auto& [number, thread] : threads_)
    if (!thread.is_root) open.push_back(number);
  for (const std::int32_t number : open) give_up(threads_.at(number));
  const std::size_t block = shape_.processors * shape_.width;
  for (std::size_t r = 0; r < roots_.size(); ++r) {
    Thread nobody;
    const auto found = threads_.find(roots_[r]);
    // A root whose number another thread has taken has given up before.
    const bool is_there = found != threads_.end() && found->second.is_root && found->second.root == r;
    Thread& thread = is_there && !in_doubt_[r] ? found->second : nobody;
    if (is_there && in_doubt_[r]) add(told_, found->second, found->second.last);
    if (thread.last.empty()) thread.last.resize(block);
    thread.final.assign(totals.begin() + static_cast<std::ptrdiff_t>(r * block),
                        totals.begin() + static_cast<std::ptrdiff_t>((r + 1) * block));
    for (std::size_t i = 0; i < block; ++i) {
      if (i % shape_.width == 0) thread.final[i] = thread.final[i + 1];
      thread.final[i] -= told_[r * block + i];
    }
    if (thread.ended_ns == 0) thread.ended_ns = time_ns;
    const std::uint64_t before = thread.windows;
    cut(thread);
    any_unattributed_ = any_unattributed_ || (&thread == &nobody && nobody.windows != before);
  }
}

}  // namespace tally::backend::perf
