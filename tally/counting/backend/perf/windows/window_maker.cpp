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
  attributed_.resize(roots_.size() * shape_.processors * shape_.width);
  in_doubt_.push_back(false);
}

void WindowMaker::add_counter(std::uint64_t id, std::size_t root, std::size_t processor, std::size_t place) {
  counters_[id] = {root, processor, place};
}

WindowMaker::Thread* WindowMaker::thread_of(std::int32_t number) {
  if (cached_ && cached_->thread == number) return cached_;
  const auto found = threads_.find(number);
  if (found == threads_.end()) return nullptr;
  return cached_ = &found->second;
}

WindowMaker::Thread& WindowMaker::begin(std::int32_t process, std::int32_t number, std::size_t root) {
  // The kernel reuses thread IDs: the earlier thread with this one has ended.
  if (Thread* const before = thread_of(number)) {
    if (before->is_root)
      set_aside(number);
    else
      give_up(*before);
  }
  Thread& thread = threads_[number];
  thread.process = process;
  thread.thread = number;
  thread.root = root;
  thread.last.resize(shape_.processors * shape_.width);
  thread.gaps = gaps_;
  cached_ = &thread;
  return thread;
}

// Drops a thread whose last window is unknown; its earlier windows stay valid.
void WindowMaker::give_up(Thread& thread) {
  add(attributed_, thread, thread.last);
  in_doubt_[thread.root] = true;
  ++unknown_ends_;
  cached_ = nullptr;
  threads_.erase(thread.thread);
}

// Keeps a root under another key until the end, when its remaining counts are known: another thread may have its ID.
void WindowMaker::set_aside(std::int32_t number) {
  cached_ = nullptr;
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

bool WindowMaker::is_counted(std::int32_t thread) const {
  const auto found = threads_.find(thread);
  return found != threads_.end() && found->second.ended_ns == 0;
}

void WindowMaker::see(const SampleRecord& record) {
  using Kind = SampleRecord::Kind;
  switch (record.what) {
    case Kind::sample: return sample(record);
    case Kind::end_count: return end_count(record);
    case Kind::executed: return execute(record);
    case Kind::begun:
      if (const Thread* const by = thread_of(record.parent_thread)) {
        const std::string program = by->program;
        begin(record.process, record.thread, by->root).program = program;
      }
      return;
    case Kind::ended:
      if (Thread* const thread = thread_of(record.thread)) {
        thread->ended_ns = record.time_ns;
        thread->ended_on = record.processor;
      }
      return;
    case Kind::lost:
    case Kind::throttled:
      if (const auto place = counters_.find(record.id); place != counters_.end()) ++gaps_[place->second.processor];
      return;
    default: return;
  }
}

void WindowMaker::sample(const SampleRecord& record) {
  const auto found = counters_.find(record.id);
  if (found == counters_.end() || record.size() != shape_.width) return;
  const CounterIndex& place = found->second;
  Thread* thread = thread_of(record.thread);
  if (!thread) thread = &begin(record.process, record.thread, place.root);  // the record of its start was lost
  record.values(now_.data());
  // A clock advances before the record: uses the trigger's second counter, which has the final values as well.
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
  emit_window(*thread, window);
}

void WindowMaker::end_count(const SampleRecord& record) {
  const auto found = counters_.find(record.id);
  Thread* const thread = thread_of(record.thread);
  if (found == counters_.end() || !thread || thread->is_root) return;
  const CounterIndex& place = found->second;
  thread->final.resize(thread->last.size());
  const std::size_t first = place.processor * shape_.width;
  thread->final[first + place.place] = record.value;
  if (place.place == 1) thread->final[first] = record.value;
  if (++thread->finals < shape_.processors * (shape_.width - 1)) return;
  if (thread->ended_ns == 0) thread->ended_ns = record.time_ns;
  cut(*thread);
  add(attributed_, *thread, thread->final);
  cached_ = nullptr;
  threads_.erase(thread->thread);
}

// A thread that calls execve continues under the ID of its process's first thread, which has ended. The current window
// belongs to the new program.
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
    const auto continuing = std::find_if(threads_.begin(), threads_.end(), [&](const auto& one) {
      return one.second.process == record.process && one.second.ended_ns == 0;
    });
    if (continuing == threads_.end()) return;
    cached_ = nullptr;
    auto node = threads_.extract(continuing);
    node.key() = record.process;
    node.mapped().thread = record.process;
    if (node.mapped().is_root) roots_[node.mapped().root] = record.process;
    first = &threads_.insert(std::move(node)).position->second;
  }
  first->program = record.name;
  first->series = 0;
  first->windows = 0;
}

void WindowMaker::emit_window(Thread& thread, result::Window& window) {
  if (thread.series == 0) thread.series = ++series_;
  window.series = thread.series;
  window.program = thread.program;
  window.number = ++thread.windows;
  window.counts = delta_;
  lost_ += window.lost;
  emit_(window);
}

// Emits what a thread has counted on all CPUs since its last windows there.
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
  emit_window(thread, window);
}

void WindowMaker::finish(std::int64_t time_ns, std::span<const std::int64_t> totals) {
  std::vector<std::int32_t> open;
  for (const auto& [number, thread] : threads_)
    if (!thread.is_root) open.push_back(number);
  for (const std::int32_t number : open) give_up(threads_.at(number));
  const std::size_t block = shape_.processors * shape_.width;
  for (std::size_t r = 0; r < roots_.size(); ++r) {
    Thread unattributed;
    const auto found = threads_.find(roots_[r]);
    // A root whose ID another thread has taken was set aside before.
    const bool is_there = found != threads_.end() && found->second.is_root && found->second.root == r;
    Thread& thread = is_there && !in_doubt_[r] ? found->second : unattributed;
    if (is_there && in_doubt_[r]) add(attributed_, found->second, found->second.last);
    if (thread.last.empty()) thread.last.resize(block);
    thread.final.assign(totals.begin() + static_cast<std::ptrdiff_t>(r * block),
                        totals.begin() + static_cast<std::ptrdiff_t>((r + 1) * block));
    for (std::size_t i = 0; i < block; ++i) {
      if (i % shape_.width == 0) thread.final[i] = thread.final[i + 1];
      thread.final[i] -= attributed_[r * block + i];
    }
    if (thread.ended_ns == 0) thread.ended_ns = time_ns;
    const std::uint64_t before = thread.windows;
    cut(thread);
    any_unattributed_ = any_unattributed_ || (&thread == &unattributed && unattributed.windows != before);
  }
}

}  // namespace tally::backend::perf
