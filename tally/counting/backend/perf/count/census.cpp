#include "tally/counting/backend/perf/count/census.hpp"

#include <algorithm>
#include <utility>

#include "tally/linux/system_call.hpp"

namespace tally::backend::perf {
namespace {

constexpr const char* still_running = "still running when counting ended";

void add_to(std::vector<Count>& sum, const std::vector<Count>& more) {
  if (sum.empty()) {
    sum = more;
    return;
  }
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] = sum[i] + more[i];
}

Count of_part(const event::Event& event, const Count& counted) {
  const bool of_whole = event::definition(event.id).kind == event::Kind::software && !kernel_event(event.id);
  return of_whole ? absent("available only for the whole command") : counted;
}

}  // namespace

Result<Census> Census::follow(pid_t child, const Order& order, const Counters& counters) {
  const int why = linux::follower::seize(child);
  if (why == 0) return Census(child, order, counters);
  return fail(Code::cannot_measure,
              "cannot count processes separately: the program cannot be traced (ptrace): " + linux::errno_text(why), "",
              why);
}

void Census::enable() {
  counting_ = true;
  for (auto& [number, thread] : living_) thread.counters.enable();
}

void Census::disable() {
  counting_ = false;
  for (auto& [number, thread] : living_) thread.counters.disable();
}

std::vector<Count> Census::read() {
  std::vector<Count> sum = ended_;
  for (auto& [number, thread] : living_) add_to(sum, thread.counters.read());
  return sum.empty() ? like_->nothing() : sum;
}

std::size_t Census::new_row(pid_t process, pid_t parent, const std::string& command) {
  result::Process row;
  row.pid = process;
  row.parent_pid = parent;
  row.command = command;
  rows_.push_back(std::move(row));
  return row_of_[process] = rows_.size() - 1;
}

void Census::begin(const linux::Sight& sight) {
  const auto found = row_of_.find(sight.process);
  // The kernel reuses process IDs.
  const bool is_new =
      sight.thread == sight.process || found == row_of_.end() || rows_[found->second].end != result::End::running;
  const std::size_t row = is_new ? new_row(sight.process, sight.parent, sight.name) : found->second;
  rows_[row].end = result::End::running;
  Thread thread{like_->another(), {}, row, sight.name};
  thread.counters.open(
      {sight.thread, -1, false, counting_ ? linux::PerfStart::at_once : linux::PerfStart::when_enabled});
  living_.insert_or_assign(sight.thread, std::move(thread));
}

// When a thread calls execve, the process continues with that thread alone, under the ID of its first thread.
void Census::execute(const linux::Sight& sight) {
  const auto found = row_of_.find(sight.process);
  if (found == row_of_.end()) return begin(sight);
  const std::size_t old_row = found->second;
  std::vector<pid_t> ended;
  for (const auto& [number, thread] : living_) {
    if (thread.row == old_row && number != sight.former) ended.push_back(number);
  }
  for (const pid_t number : ended) end(number);
  auto continuing = living_.extract(sight.former);
  if (!continuing) return begin(sight);
  continuing.key() = sight.process;
  Thread& thread = continuing.mapped();
  add(sight.former, thread);
  result::Process& old = rows_[old_row];
  old.end = result::End::executed;
  thread.before = thread.counters.read();
  const int image = old.image + 1;
  thread.row = new_row(sight.process, static_cast<pid_t>(old.parent_pid), sight.name);
  thread.name = sight.name;
  rows_[thread.row].image = image;
  rows_[thread.row].end = result::End::running;
  living_.insert(std::move(continuing));
}

// Adds what a thread counted since the last execve of its process to the row of that program.
void Census::add(pid_t number, Thread& thread) {
  std::vector<Count> own = thread.counters.read();
  for (std::size_t i = 0; i < thread.before.size(); ++i) own[i] = own[i] - thread.before[i];
  result::Process& row = rows_[thread.row];
  result::Thread one{number, thread.name, {}};
  for (std::size_t i = 0; i < own.size(); ++i) {
    const event::Event& event = order_->events[i];
    one.counts.push_back(event_count(event, of_part(event, own[i])));
    if (row.threads.empty()) {
      row.counts.push_back(one.counts.back());
    } else {
      row.counts[i].count = row.counts[i].count + one.counts.back().count;
    }
  }
  row.threads.push_back(std::move(one));
}

void Census::end(pid_t number) {
  const auto found = living_.find(number);
  if (found == living_.end()) return;
  add(number, found->second);
  add_to(ended_, found->second.counters.read());
  living_.erase(found);
}

// The new thread or process may stop before or after its creator reports it.
void Census::expect(const linux::Sight& sight) {
  const auto by = living_.find(sight.thread);
  if (by == living_.end() || living_.contains(sight.child)) return;
  expected_[sight.child] = static_cast<pid_t>(rows_[by->second.row].pid);
}

bool Census::takes(const linux::Change& change) {
  const pid_t number = change.process;
  if (change.stopped) {
    linux::Sight sight = linux::follower::interpret_stop(change, number == first_ || living_.contains(number));
    if (sight.what == linux::Sight::forked) expect(sight);
    if (sight.what == linux::Sight::nothing || sight.what == linux::Sight::forked) return true;
    // The parent may have ended, and another process may have adopted it.
    if (const auto expected = expected_.extract(number)) sight.parent = expected.mapped();
    const bool is_ours =
        sight.process == first_ || row_of_.contains(sight.process) || row_of_.contains(sight.parent) || sight.is_orphan;
    if (!is_ours) {
      linux::follower::let_go(number);  // of an earlier run
      return true;
    }
    if (sight.what == linux::Sight::began) begin(sight);
    if (sight.what == linux::Sight::executed) execute(sight);
    if (const auto thread = living_.find(number); sight.what == linux::Sight::ends && thread != living_.end()) {
      thread->second.name = sight.name;
    }
    linux::follower::go_on(number);
    return true;
  }
  end(number);
  const auto found = row_of_.find(number);
  if (found == row_of_.end()) return number != first_;
  result::Process& row = rows_[found->second];
  const linux::Exit exit = linux::exit_of(change.wait_status);
  row.end = exit.signal ? result::End::signalled : result::End::exited;
  row.end_code = exit.signal.value_or(exit.code);
  // If its own parent is alive, that parent reaps it.
  const auto parent = row_of_.find(static_cast<pid_t>(row.parent_pid));
  return parent != row_of_.end() && rows_[parent->second].end == result::End::running;
}

std::vector<result::Process> Census::finish() {
  while (!living_.empty()) end(living_.begin()->first);
  for (result::Process& row : rows_) {
    std::sort(row.threads.begin(), row.threads.end(), [](const auto& a, const auto& b) { return a.tid < b.tid; });
    if (row.end != result::End::running) continue;
    for (result::EventCount& one : row.counts)
      one.count = downgraded(std::move(one.count), Trust::partial, still_running);
    for (result::Thread& thread : row.threads) {
      for (result::EventCount& one : thread.counts) {
        one.count = downgraded(std::move(one.count), Trust::partial, still_running);
      }
    }
  }
  return std::move(rows_);
}

}  // namespace tally::backend::perf
