#include "tally/backend/none/none.hpp"

#include "tally/backend/lost_counters.hpp"
#include "tally/backend/native.hpp"

namespace tally::backend::none {
namespace {

Count count_of(const event::Event& event, const Figures& figures, const Left& left) {
  const event::Kind kind = event::definition(event.id).kind;
  if (kind == event::Kind::microarchitectural) return absent(why_it_needs_a_pmu(event));
  if (kind == event::Kind::hardware) return absent("the program runs natively: only the kernel's figures are counted");
  return native_count(event, figures, left);
}

class None final : public Backend {
 public:
  explicit None(Counters counters) : counters_(counters) {}

  std::string_view name() const override { return counters_ == Counters::required ? "perf" : "none"; }

  Result<Outcome> run(const Request& request) override {
    NativeRun native(request);
    const KernelCounters counters(request.events);
    if (const auto started = native.start(); !started) return fail(started.error());
    if (const auto executed = native.executed(); !executed) return fail(executed.error());
    const Left left = native.wait();
    Figures figures = native.figures();
    figures.kernel = counters.read();
    if (left.ended)
      figures.lost = why_counters_were_lost(longest_enabled(figures.kernel), figures.usage, request.command.front());
    Outcome outcome = native.outcome(figures);
    for (const event::Event& event : request.events) {
      outcome.counts.push_back(event_count(event, count_of(event, figures, left)));
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
