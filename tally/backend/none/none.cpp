#include "tally/backend/none/none.hpp"

#include "tally/backend/software.hpp"
#include "tally/linux/spawn.hpp"

namespace tally::backend::none {
namespace {

Count count_of(const event::Event& event, const Outcome& outcome) {
  if (event::definition(event.id).kind == event::Kind::hardware) {
    return absent("the program ran natively");
  }
  const Count count = software_count(event, outcome.usage, outcome.duration);
  return outcome.ended ? count : downgraded(count, Trust::partial, "the program was still running");
}

class None final : public Backend {
 public:
  std::string_view name() const override { return "none"; }

  Result<Outcome> run(const Request& request) override {
    auto program = linux::Program::start(request.command, *request.signals);
    if (!program) return fail(program.error());
    if (const auto executed = program->executed(); !executed) return fail(executed.error());
    auto outcome = wait(*program, *request.signals);
    if (!outcome) return outcome;
    for (const event::Event& event : request.events) {
      outcome->counts.push_back(event_count(event, count_of(event, *outcome)));
    }
    return outcome;
  }

 private:
  static Result<Outcome> wait(linux::Program& program, linux::Signals& signals) {
    Outcome outcome;
    while (true) {
      // Asked before the first wait too: the program may have ended before anybody looked.
      auto ended = program.ended();
      if (!ended) return fail(ended.error());
      if (*ended) {
        outcome.duration = linux::now() - program.started();
        outcome.wait_status = (*ended)->wait_status;
        outcome.usage = (*ended)->usage;
        return outcome;
      }
      signals.wait();
      if (signals.take(program.pid()) != linux::Signals::Taken::give_up) continue;
      outcome.ended = false;
      outcome.duration = linux::now() - program.started();
      outcome.usage = linux::usage_of_living(program.pid()).value_or(linux::Usage{});
      return outcome;
    }
  }
};

}  // namespace

std::unique_ptr<Backend> make() { return std::make_unique<None>(); }

}  // namespace tally::backend::none
