#include "tally/counting/backend/none/none.hpp"

#include <algorithm>

#include "tally/counting/backend/candidate.hpp"
#include "tally/counting/backend/engine_only.hpp"
#include "tally/counting/backend/lost_counters.hpp"
#include "tally/counting/backend/native.hpp"

namespace tally::backend::none {
namespace {

constexpr const char* omit_backend =
    "omit --backend: tally then uses the PMU, or the kernel's own events if there is none";

/// Whether the kernel opens a counter for each of its own events among these.
bool opens_counters(const std::vector<event::Event>& events) {
  const std::vector<KernelCount> counts = KernelCounters(events).read();
  return !counts.empty() &&
         std::all_of(counts.begin(), counts.end(), [](const KernelCount& count) { return count.os_errno == 0; });
}

Count count_of(const event::Event& event, const RunStatistics& statistics, const WaitResult& left) {
  const event::Kind kind = event::definition(event.id).kind;
  if (kind == event::Kind::microarchitectural) return absent(why_it_needs_a_pmu(event));
  if (kind == event::Kind::hardware) return absent("the program runs natively: only the kernel's values are available");
  return native_count(event, statistics, left);
}

class None final : public Backend {
 public:
  explicit None(Use use) : use_(use) {}

  Traits traits() const override { return {.name = "none"}; }

  std::optional<Error> refuses(const Order& order) const override {
    if (order.regions() != nullptr) return refuses_regions(order, "a native run without counters cannot count it");
    if (auto refused = refuses_all_but_counts(order)) return refused;
    if (order.target.attachment.any()) return cannot_attach();
    if (order.timing().any())
      return Error{Code::cannot_measure,
                   "`--backend none` does not support intervals, a delay, a time-out or --control", omit_backend, 0};
    if (use_ == Use::always) return std::nullopt;
    const bool is_enough = all_software(order.events) && !(order.count()->processes && opens_counters(order.events));
    if (is_enough) return std::nullopt;
    return Error{Code::cannot_measure, "a native run without counters cannot count some of the requested events",
                 omit_backend, 0};
  }

  Result<Outcome> run(const Order& order) override {
    if (auto refused = refuses_all_but_counts(order)) return fail(*std::move(refused));
    CommandRun native(order);
    const KernelCounters counters(order.events);
    if (const auto started = native.start(); !started) return fail(started.error());
    if (const auto executed = native.executed(); !executed) return fail(executed.error());
    const WaitResult left = native.wait();
    RunStatistics statistics = native.statistics();
    statistics.kernel = counters.read();
    if (left.ended)
      statistics.lost =
          why_counters_were_lost(longest_enabled(statistics.kernel), statistics.usage, order.target.command.front());
    Outcome counts = native.outcome(statistics);
    for (const event::Event& event : order.events) {
      counts.counts.push_back(event_count(event, count_of(event, statistics, left)));
    }
    return counts;
  }

  Outlook outlook(const event::Event& event) const override {
    return outlook_of(count_of(event, expected_statistics(event), {.ended = true}));
  }

 private:
  Use use_;
};

}  // namespace

std::unique_ptr<Backend> make(Use use) { return std::make_unique<None>(use); }

namespace {

std::unique_ptr<Backend> make_always(const linux::HostMachine& /*machine*/,
                                     const std::optional<Simulation>& /*simulation*/) {
  return make();
}

}  // namespace

extern const Candidate if_enough, last, by_name;

const Candidate if_enough{
    "none", Candidate::ChoiceRule::if_enough,
    [](const linux::HostMachine&, const std::optional<Simulation>&) { return make(Use::if_enough); }, nullptr};

const Candidate last{
    "none", Candidate::ChoiceRule::last, make_always, [](const linux::HostMachine&, const std::string& why) {
      return std::vector<std::string>{why + "; counting only kernel events: this tally was built without the engine"};
    }};

const Candidate by_name{"none", Candidate::ChoiceRule::by_name, make_always, nullptr};

}  // namespace tally::backend::none
