#include "tally/output/text/event_text.hpp"

#include <gtest/gtest.h>

#include "tally/output/result/golden_testing.hpp"

namespace tally::output {
namespace {

// An event of a processor with all details, and one of the kernel.
std::vector<Explained> sample_events() {
  Explained code;
  event::Explanation& one = code.explanation;
  one.event.id = event::Id::branches;
  one.event.asked = "r00c4";
  one.event.label = "r00c4";
  one.event.encoding = event::Encoding{.family = event::Family::none, .pmu = "", .type = 4, .config = 0xc4};
  one.event.notes = {"modifier p is dropped: it asks for samples"};
  one.maker_name = "Intel BR_INST_RETIRED.ALL_BRANCHES";
  one.what = "retired branch instructions of every kind, taken or not, which is more than fits into one line";
  one.repeats = event::Class::correctable;
  one.other_names = {"branch-instructions", "PERF_COUNT_HW_BRANCH_INSTRUCTIONS"};
  one.perf = one.event.encoding;
  one.perf_text = "cpu/event=0xc4/u";
  one.selector = event::Selector{
      "IA32_PERFEVTSELx", 0x4100c4, {{"EVENT", 7, 0, 0xc4, "event select"}, {"USR", 16, 16, 1, "user mode"}}};
  one.counters = "0 to 7";
  one.processors = {{"hsw::BR_INST_RETIRED:ALL_BRANCHES", {"Haswell", "Broadwell"}}};
  one.pitfalls = {{"interrupts add one each", "Weaver 2013"}, {"emulators differ", ""}};
  code.outlook = {Trust::counted, "", CountSource::pmu("a PMU")};

  Explained faults;
  faults.explanation.event.id = event::Id::page_faults;
  faults.explanation.event.asked = "faults";
  faults.explanation.what = "page faults";
  faults.explanation.repeats = event::Class::software;
  faults.outlook = {Trust::absent, "the kernel refuses", {}};
  return {code, faults};
}

std::vector<OfferedEvent> sample_offers() {
  return {{{event::Origin::table, "branches", {"branch-instructions", "PAPI_BR_INS"}, "branch instructions"},
           {Trust::exact, "", Source::engine}},
          {{event::Origin::table, "cycles", {}, "clock cycles"}, {Trust::absent, "this machine has no PMU", {}}},
          {{event::Origin::table, "page-faults", {"faults"}, "page faults"},
           {Trust::counted, "", CountSource::pmu("the kernel")}},
          {{event::Origin::device, "power/energy-pkg/", {}, ""}, {Trust::absent, "this machine has no PMU", {}}}};
}

TEST(GoldenEvents, explained) {
  std::string text;
  for (const Explained& one : sample_events()) text += event_text(one);
  expect_golden(TALLY_GOLDEN, "event.txt", text);
}
TEST(GoldenEvents, explained_for_programs) {
  expect_golden(TALLY_GOLDEN, "event.json", event_json(sample_events(), {}));
}
TEST(GoldenEvents, listed) { expect_golden(TALLY_GOLDEN, "events.txt", events_text(sample_offers())); }
TEST(GoldenEvents, listed_for_programs) {
  expect_golden(TALLY_GOLDEN, "events.json", events_json(sample_offers(), {}));
}

}  // namespace
}  // namespace tally::output
