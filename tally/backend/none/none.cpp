#include "tally/backend/none/none.hpp"

#include "tally/backend/software.hpp"
#include "tally/base/text.hpp"
#include "tally/linux/announcements.hpp"
#include "tally/linux/descendants.hpp"
#include "tally/linux/spawn.hpp"

namespace tally::backend::none {
namespace {

/// For what ends just behind the program, as helpers do whose pipe it closed: they are not left behind.
constexpr Nanoseconds grace = std::chrono::milliseconds(100);

/// How the program and what it started were left.
struct Left {
  bool ended = false;       ///< the program
  bool gave_up = false;     ///< the user did not want to wait any more
  bool some_alive = false;  ///< descendants were alive when counting ended
};

Count count_of(const event::Event& event, const Figures& figures, const Left& left) {
  const event::Kind kind = event::definition(event.id).kind;
  if (kind == event::Kind::microarchitectural) return absent(why_it_needs_a_pmu(event));
  if (kind == event::Kind::hardware) return absent("the program runs natively: only the kernel's figures are counted");
  Count count = software_count(event, figures);
  if (!left.ended) return downgraded(count, Trust::partial, "the program was still running");
  if (!left.some_alive || event.id == event::Id::duration_time || event.id == event::Id::tsc) return count;
  return downgraded(count, Trust::partial,
                    count.source == "perf_event" ? "of processes that were still running it has the part until then"
                                                 : "without processes that were still running");
}

/// One execution: waits for its end, and for what it leaves behind.
class Run {
 public:
  Run(const Request& request, const linux::Program& program, const linux::Descendants& descendants)
      : request_(request), program_(program), descendants_(descendants) {}

  /// Blocks until nothing is to be waited for.
  Left wait() {
    using Taken = linux::Signals::Taken;
    // Asked before the first wait too: the program may have ended before anybody looked.
    while (reap(), wanted()) {
      linux::wait_readable(-1, request_.signals->fd(), patience_ms());
      const Taken taken = request_.signals->take(left_.ended ? 0 : program_.pid());
      left_.gave_up = taken == Taken::give_up || (left_.ended && taken == Taken::interrupted);
      if (left_.gave_up) break;
    }
    left_.some_alive = descendants_.any_left();
    return left_;
  }

  int wait_status() const { return wait_status_; }

  Figures figures() const {
    Figures figures;
    take_time(figures, program_.started(), left_.ended ? ended_at_ : linux::this_moment());
    figures.usage = left_.ended ? usage_ : linux::usage_of_living(program_.pid()).value_or(linux::Usage{});
    figures.usage = figures.usage + orphans_;
    return figures;
  }

 private:
  /// Whether there is something to wait for.
  bool wanted() const {
    if (!left_.ended) return true;
    return descendants_.any_left() && (request_.wait_all || linux::now() - ended_at_.time < grace);
  }

  int patience_ms() const {
    if (!left_.ended || request_.wait_all) return -1;
    return static_cast<int>((ended_at_.time + grace - linux::now()) / std::chrono::milliseconds(1)) + 1;
  }

  void reap() {
    while (const auto change = linux::next_change()) {
      if (change->process == program_.pid()) {
        left_.ended = true;
        ended_at_ = linux::this_moment();
        wait_status_ = change->wait_status;
        usage_ = program_.ended_with(change->wait_status, change->figures).usage;
      } else if (descendants_.include(change->process)) {
        orphans_ = orphans_ + linux::usage_of(change->figures);
      }
    }
  }

  const Request& request_;
  const linux::Program& program_;
  const linux::Descendants& descendants_;
  Left left_;
  linux::Moment ended_at_;
  int wait_status_ = 0;
  linux::Usage usage_;
  linux::Usage orphans_;
};

std::string still_running(const linux::Descendants& descendants, bool wait_all) {
  const std::string living = join(descendants.living(), ", ");
  if (living.empty()) return {};
  return "still running when counting ended: " + living + (wait_all ? "" : " (--wait-all waits for them)");
}

class None final : public Backend {
 public:
  explicit None(Counters counters) : counters_(counters) {}

  std::string_view name() const override { return counters_ == Counters::required ? "perf" : "none"; }

  Result<Outcome> run(const Request& request) override {
    const linux::Descendants descendants;
    linux::adopt_orphans();
    const KernelCounters counters(request.events);
    auto program = linux::Program::start(request.command, *request.signals, {}, conditions_of(request));
    if (!program) return fail(program.error());
    if (const auto executed = program->executed(); !executed) return fail(executed.error());
    Run run(request, *program, descendants);
    const Left left = run.wait();
    Figures figures = run.figures();
    figures.kernel = counters.read();

    Outcome outcome;
    outcome.ended = left.ended;
    outcome.all_ended = !left.gave_up;
    outcome.wait_status = run.wait_status();
    outcome.usage = figures.usage;
    outcome.duration = figures.duration;
    for (const event::Event& event : request.events) {
      outcome.counts.push_back(event_count(event, count_of(event, figures, left)));
    }
    if (left.ended && left.some_alive) {
      if (std::string said = still_running(descendants, request.wait_all); !said.empty()) {
        outcome.notices.push_back(std::move(said));
      }
    }
    return outcome;
  }

  Outlook outlook(const event::Event& event) const override {
    return outlook_of(count_of(event, expected_figures(event), {.ended = true}));
  }

 private:
  Counters counters_;
};

}  // namespace

std::unique_ptr<Backend> make(Counters counters) { return std::make_unique<None>(counters); }

}  // namespace tally::backend::none
