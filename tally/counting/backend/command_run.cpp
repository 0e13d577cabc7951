#include "tally/counting/backend/command_run.hpp"

#include <algorithm>
#include <climits>

#include "tally/core/base/text.hpp"
#include "tally/linux/process/announcements.hpp"

namespace tally::backend {
namespace {

/// How long to wait for processes that end just after the program, such as helpers whose pipe it closed.
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

CommandRun::CommandRun(const Order& order) : order_(order), descendants_(descendants_from_now_on()) {}

Result<void> CommandRun::start(linux::ChildHooks hooks) {
  auto program = linux::Program::start(order_.target.command, *order_.conditions.signals, hooks, order_.conditions);
  if (!program) return fail(program.error());
  program_ = std::move(*program);
  return {};
}

void CommandRun::end(linux::End how) const {
  if (!left_.ended) linux::end_process(pid(), how);
}

WaitResult CommandRun::wait(Schedule* schedule, Observer* observer) {
  using Taken = linux::Signals::Taken;
  while (true) {
    if (observer) observer->answer_requests();
    if (schedule) schedule->take_commands(linux::now());
    // Before the first wait, too: the program may have ended already.
    reap(observer);
    if (!wanted()) break;
    linux::wait_readable({observer ? observer->requests_fd() : -1, order_.conditions.signals->fd(),
                          schedule ? schedule->commands_fd() : -1},
                         patience_ms(schedule));
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

RunStatistics CommandRun::statistics() const {
  RunStatistics statistics;
  take_time(statistics, program_->started(), left_.ended ? ended_at_ : linux::this_moment());
  statistics.usage = left_.ended ? program_->ended_with(wait_status_, last_statistics_).usage
                                 : linux::usage_of_living(program_->pid()).value_or(linux::Usage{});
  statistics.usage = statistics.usage + orphans_;
  return statistics;
}

Outcome CommandRun::outcome(const RunStatistics& statistics) const {
  Outcome outcome;
  outcome.ended = left_.ended;
  outcome.all_ended = !left_.gave_up;
  outcome.wait_status = wait_status_;
  outcome.usage = statistics.usage;
  outcome.duration = statistics.duration;
  if (left_.ended && left_.some_alive) {
    if (std::string notice = still_running(descendants_, order_.conditions.wait_all); !notice.empty())
      outcome.notices.push_back(std::move(notice));
  }
  return outcome;
}

/// Returns whether there is something to wait for.
bool CommandRun::wanted() const {
  if (!left_.ended) return true;
  return descendants_.any_left() && (order_.conditions.wait_all || linux::now() - ended_at_.time < grace);
}

int CommandRun::patience_ms(const Schedule* schedule) const {
  int patience = INT_MAX;
  // Then take() starts the witness of signals.
  if (const auto at = order_.conditions.signals->witness_at(); at && !left_.ended) patience = milliseconds_until(*at);
  if (left_.ended && !order_.conditions.wait_all) patience = milliseconds_until(ended_at_.time + grace);
  if (schedule && schedule->next()) patience = std::min(patience, milliseconds_until(*schedule->next()));
  return patience == INT_MAX ? -1 : patience;
}

void CommandRun::reap(Observer* observer) {
  while (const auto change = linux::next_change()) {
    if (observer && observer->takes(*change)) continue;
    if (change->process == program_->pid()) {
      left_.ended = true;
      ended_at_ = linux::this_moment();
      wait_status_ = change->wait_status;
      order_.conditions.signals->program_ended(linux::exit_of(wait_status_).signal);
      last_statistics_ = change->statistics;
    } else if (descendants_.include(change->process)) {
      orphans_ = orphans_ + linux::usage_of(change->statistics);
    }
  }
}

}  // namespace tally::backend
