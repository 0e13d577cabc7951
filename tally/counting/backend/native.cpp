#include "tally/counting/backend/native.hpp"

#include <algorithm>
#include <climits>

#include "tally/core/base/text.hpp"
#include "tally/linux/process/announcements.hpp"

namespace tally::backend {
namespace {

/// For what ends just after the program, as helpers do whose pipe it closed: they are not left behind.
constexpr Nanoseconds grace = std::chrono::milliseconds(100);

linux::Descendants descendants_from_now_on() {
  linux::Descendants descendants;
  linux::adopt_orphans();
  return descendants;
}

std::string still_running(const linux::Descendants& descendants, bool wait_all) {
  const std::string living = join(descendants.living(), ", ");
  if (living.empty()) return {};
  return "still running when counting ended: " + living + (wait_all ? "" : " (--wait-all waits for them)");
}

}  // namespace

int milliseconds_until(Nanoseconds time) {
  const auto left = (time - linux::now()) / std::chrono::milliseconds(1) + 1;
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, INT_MAX));
}

NativeRun::NativeRun(const Order& order) : order_(order), descendants_(descendants_from_now_on()) {}

Result<void> NativeRun::start(linux::ChildHooks hooks) {
  auto program = linux::Program::start(order_.target.command, *order_.conditions.signals, hooks, order_.conditions);
  if (!program) return fail(program.error());
  program_ = std::move(*program);
  return {};
}

Left NativeRun::wait(Schedule* schedule, Observer* observer) {
  using Taken = linux::Signals::Taken;
  // Asked before the first wait too: the program may have ended before anybody looked.
  while (reap(observer), wanted()) {
    linux::wait_readable(-1, order_.conditions.signals->fd(), patience_ms(schedule));
    const Taken taken = order_.conditions.signals->take(left_.ended ? 0 : program_->pid());
    left_.gave_up = taken == Taken::give_up || (left_.ended && taken == Taken::interrupted);
    if (left_.gave_up) break;
    if (const Nanoseconds now = linux::now(); schedule && schedule->next() && *schedule->next() <= now) {
      schedule->due(now);
    }
  }
  left_.some_alive = descendants_.any_left();
  return left_;
}

RunStatistics NativeRun::statistics() const {
  RunStatistics statistics;
  take_time(statistics, program_->started(), left_.ended ? ended_at_ : linux::this_moment());
  statistics.usage = left_.ended ? usage_ : linux::usage_of_living(program_->pid()).value_or(linux::Usage{});
  statistics.usage = statistics.usage + orphans_;
  return statistics;
}

Outcome NativeRun::outcome(const RunStatistics& statistics) const {
  Outcome outcome;
  outcome.ended = left_.ended;
  outcome.all_ended = !left_.gave_up;
  outcome.wait_status = wait_status_;
  outcome.usage = statistics.usage;
  outcome.duration = statistics.duration;
  if (left_.ended && left_.some_alive) {
    if (std::string said = still_running(descendants_, order_.conditions.wait_all); !said.empty()) {
      outcome.notices.push_back(std::move(said));
    }
  }
  return outcome;
}

/// Whether there is something to wait for.
bool NativeRun::wanted() const {
  if (!left_.ended) return true;
  return descendants_.any_left() && (order_.conditions.wait_all || linux::now() - ended_at_.time < grace);
}

int NativeRun::patience_ms(const Schedule* schedule) const {
  int patience = INT_MAX;
  if (left_.ended && !order_.conditions.wait_all) patience = milliseconds_until(ended_at_.time + grace);
  if (schedule && schedule->next()) patience = std::min(patience, milliseconds_until(*schedule->next()));
  return patience == INT_MAX ? -1 : patience;
}

void NativeRun::reap(Observer* observer) {
  while (const auto change = linux::next_change()) {
    if (observer && observer->takes(*change)) continue;
    if (change->process == program_->pid()) {
      left_.ended = true;
      ended_at_ = linux::this_moment();
      wait_status_ = change->wait_status;
      usage_ = program_->ended_with(change->wait_status, change->statistics).usage;
    } else if (descendants_.include(change->process)) {
      orphans_ = orphans_ + linux::usage_of(change->statistics);
    }
  }
}

Count native_count(const event::Event& event, const RunStatistics& statistics, const Left& left) {
  Count count = software_count(event, statistics);
  if (event.id == event::Id::duration_time || event.id == event::Id::tsc) {
    return left.ended ? count : downgraded(count, Trust::partial, "the program was still running");
  }
  if (count.source == Source::kernel) return believed_as_left(std::move(count), left);
  if (!left.ended) return downgraded(count, Trust::partial, "the program was still running");
  if (!left.some_alive) return count;
  return downgraded(count, Trust::partial, "without processes that were still running");
}

Count believed_as_left(Count count, const Left& left) {
  if (!left.ended) return downgraded(std::move(count), Trust::partial, "the program was still running");
  if (!left.some_alive) return count;
  return downgraded(std::move(count), Trust::partial,
                    "of processes that were still running it has the part until then");
}

}  // namespace tally::backend
