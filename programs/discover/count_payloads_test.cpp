// Payloads counted with a whole-program backend: on a machine whose cycles equal its instructions, with one counter for
// four programs.
#include "programs/discover/count_payloads.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "programs/discover/sweep.hpp"
#include "programs/discovery/analysis/analyse.hpp"
#include "tally/linux/process/tool.hpp"

namespace tally::discover {
namespace {

// A minimal version of the QEMU guest: 08H and 11H count instructions, the rest is dead.
class Emulated final : public backend::Backend {
 public:
  explicit Emulated(double running) : running_(running) {}
  backend::Traits traits() const override { return {.name = "perf", .has_pmu_counters = true}; }
  std::optional<Error> refuses(const backend::Order& /*order*/) const override { return std::nullopt; }
  backend::Outlook outlook(const event::Event& /*event*/) const override {
    return {Trust::counted, "", CountSource::pmu("emulated")};
  }

  Result<backend::Outcome> run(const backend::Order& order) override {
    const std::string& path = order.target.command.front();
    const std::string file = path.substr(path.rfind('/') + 1);
    const std::size_t dash = file.rfind('-');
    const auto payload = chosen({file.substr(0, dash)});
    double instructions = 1000;
    for (const Payload& one : *payload) {
      if (one.facts.name == file.substr(0, dash))
        instructions += one.facts.composition[0] * std::atof(file.c_str() + dash + 1);
    }
    backend::Outcome outcome;
    outcome.duration = Nanoseconds(static_cast<std::int64_t>(instructions));
    for (const event::Event& event : order.events) {
      const bool counts = !event.encoding || event.encoding->config == 0x08 || event.encoding->config == 0x11;
      Reading reading{counts ? static_cast<std::int64_t>(instructions) : 0, Nanoseconds(1'000'000),
                      Nanoseconds(static_cast<std::int64_t>(1'000'000 * running_))};
      outcome.counts.push_back(backend::event_count(event, from_reading(reading, CountSource::pmu("emulated"))));
    }
    return outcome;
  }

  event::Plan plan(const std::vector<event::Event>& events, bool /*interrupts*/) const override {
    event::Plan plan = event::one_pass(events.size());
    if (events.size() > 6) plan.passes.push_back({});
    return plan;
  }

 private:
  double running_;
};

result::Discovery swept(double running) {
  auto signals = linux::Signals::watch();
  Emulated emulated(running);
  const auto payloads = chosen({"load", "divide"});
  auto target = CountedTarget::open(emulated, *signals, *payloads);
  EXPECT_EQ((*target)->at_once(), 4U);
  Record record;
  for (const Payload& one : *payloads) record.payloads.push_back(one.facts);
  for (std::uint64_t code = 0; code < 0x20; ++code) record.events.push_back(code);
  record.sizes = {20'000, 40'000, 80'000, 160'000};
  record.repeats = 4;
  EXPECT_TRUE(*sweep(**target, record, {}));
  std::vector<Facts> known;
  for (const Payload& one : library()) known.push_back(one.facts);
  return analyse(record, known);
}

TEST(Counted, a_machine_whose_cycles_are_instructions_has_two_aliases_and_nothing_else) {
  if (!linux::run_tool({"as", "--version"})) GTEST_SKIP() << "as is not installed (package binutils)";
  const result::Discovery answer = swept(1);
  for (const auto& event : answer.events) {
    const bool alive = event.code == 0x08 || event.code == 0x11;
    EXPECT_EQ(event.kind, alive ? result::EventClass::counts : result::EventClass::dead) << event.code;
    if (!alive) continue;
    EXPECT_EQ(event.same_as, std::vector<std::uint64_t>{event.code == 0x08 ? 0x11U : 0x08U});
    ASSERT_EQ(event.aliases.size(), 1U);
    EXPECT_EQ(event.terms[0].coordinate, "instructions");
    EXPECT_EQ(event.aliases[0].coordinate, "cycles");
    EXPECT_EQ(event.aliases[0].splits, "") << "no payload distinguishes them: all that were used fit both";
  }
}

TEST(Counted, counters_that_are_lent_to_others_are_rejected) {
  if (!linux::run_tool({"as", "--version"})) GTEST_SKIP() << "as is not installed (package binutils)";
  const result::Discovery answer = swept(0.2);
  EXPECT_EQ(answer.events[0x08].kind, result::EventClass::rejected);
  EXPECT_NE(answer.events[0x08].reason.find("multiplexed"), std::string::npos) << answer.events[0x08].reason;
}

}  // namespace
}  // namespace tally::discover
