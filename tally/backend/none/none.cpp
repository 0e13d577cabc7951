#include "tally/backend/none/none.hpp"

#include "tally/backend/software.hpp"
#include "tally/linux/descendants.hpp"
#include "tally/linux/spawn.hpp"

namespace tally::backend::none {
namespace {

Count count_of(const event::Event& event, const Outcome& outcome) {
  const event::Kind kind = event::definition(event.id).kind;
  if (kind == event::Kind::microarchitectural) return absent(why_it_needs_a_pmu(event));
  if (kind == event::Kind::hardware) return absent("the program runs natively: only the kernel's figures are counted");
  const Count count = software_count(event, outcome.usage, outcome.duration);
  if (!outcome.ended) return downgraded(count, Trust::partial, "the program was still running");
  return outcome.all_ended ? count : downgraded(count, Trust::partial, "without processes that were still running");
}

class None final : public Backend {
 public:
  std::string_view name() const override { return "none"; }

  Result<Outcome> run(const Request& request) override {
    const linux::Descendants descendants;
    if (request.wait_all) linux::adopt_orphans();
    auto program = linux::Program::start(request.command, *request.signals, {},
                                         request.repeatable ? linux::Conditions::repeatable : linux::Conditions::given);
    if (!program) return fail(program.error());
    if (const auto executed = program->executed(); !executed) return fail(executed.error());
    Outcome outcome = wait(*program, request, descendants);
    for (const event::Event& event : request.events) {
      outcome.counts.push_back(event_count(event, count_of(event, outcome)));
    }
    return outcome;
  }

  Outlook outlook(const event::Event& event) const override { return outlook_of(count_of(event, largest_outcome())); }

 private:
  /// Every figure is there.
  static Outcome largest_outcome() {
    Outcome outcome;
    outcome.usage.peak_rss_bytes = 1;
    return outcome;
  }

  static Outcome wait(const linux::Program& program, const Request& request, const linux::Descendants& descendants) {
    using Taken = linux::Signals::Taken;
    Outcome outcome;
    outcome.ended = false;
    linux::Usage orphans;
    // Asked before the first wait too: the program may have ended before anybody looked.
    while (reap(program, descendants, outcome, orphans),
           !outcome.ended || (request.wait_all && descendants.any_left())) {
      request.signals->wait();
      const Taken taken = request.signals->take(outcome.ended ? 0 : program.pid());
      outcome.all_ended = taken != Taken::give_up && !(outcome.ended && taken == Taken::interrupted);
      if (!outcome.all_ended) break;
    }
    outcome.duration = linux::now() - program.started();
    if (!outcome.ended) outcome.usage = linux::usage_of_living(program.pid()).value_or(linux::Usage{});
    if (request.wait_all) outcome.usage = outcome.usage + orphans;
    return outcome;
  }

  static void reap(const linux::Program& program, const linux::Descendants& descendants, Outcome& outcome,
                   linux::Usage& orphans) {
    while (const auto change = linux::next_change()) {
      if (change->process == program.pid()) {
        outcome.ended = true;
        outcome.wait_status = change->wait_status;
        outcome.usage = program.ended_with(change->wait_status, change->figures).usage;
      } else if (descendants.include(change->process)) {
        orphans = orphans + linux::usage_of(change->figures);
      }
    }
  }
};

}  // namespace

std::unique_ptr<Backend> make() { return std::make_unique<None>(); }

}  // namespace tally::backend::none
