// Tests the events of Intel's fixed counters.
#include "tally/hardware/event/fixed_counters.hpp"

#include <gtest/gtest.h>

#include "tally/hardware/event/explain_event.hpp"

namespace tally::event {
namespace {

TEST(FixedCounters, their_names_are_event_code_0) {
  const struct {
    const char* name;
    std::uint64_t config, kernel;
    Id id;
    int counter;
  } cases[] = {{"INST_RETIRED.ANY", 0x100, 0xC0, Id::instructions, 0},
               {"inst_retired:any", 0x100, 0xC0, Id::instructions, 0},
               {"CPU_CLK_UNHALTED.THREAD", 0x200, 0x3C, Id::cycles, 1},
               {"CPU_CLK_UNHALTED.REF_TSC", 0x300, 0x300, Id::ref_cycles, 2},
               {"TOPDOWN.SLOTS", 0x400, 0x400, Id::code, 3}};
  for (const auto& one : cases) {
    const auto event = parse(one.name);
    ASSERT_TRUE(event) << one.name;
    EXPECT_EQ(event->encoding->config, one.config) << one.name;
    EXPECT_EQ(event->id, one.id) << one.name;
    EXPECT_EQ(kernel_config(*event->encoding), one.kernel) << one.name << ": what no counter has would count nothing";
    EXPECT_EQ(fixed_event(*event->encoding)->counter, one.counter) << one.name;
    const Explanation explained = explain(*event);
    EXPECT_EQ(explained.perf->config, one.kernel) << one.name;
    EXPECT_TRUE(explained.counters.starts_with("fixed counter " + std::to_string(one.counter) + " only"))
        << explained.counters;
    EXPECT_EQ(explained.selector->name, "IA32_FIXED_CTR_CTRL");
    EXPECT_EQ(explained.selector->value, std::uint64_t{2} << 4 * one.counter) << "user mode";
  }
}

TEST(FixedCounters, modes_are_kept) {
  EXPECT_EQ(name(*parse("INST_RETIRED.ANY:k")), "INST_RETIRED.ANY:k");
  EXPECT_EQ(parse("INST_RETIRED.ANY:uk")->mode, Mode::both);
}

TEST(FixedCounters, other_codes_are_left_alone) {
  EXPECT_EQ(kernel_config(*parse("r00c0")->encoding), 0xC0u);
  EXPECT_EQ(kernel_config(*parse("r01c0")->encoding), 0x1C0u) << "INST_RETIRED.PREC_DIST";
  EXPECT_EQ(kernel_config(*parse("r0200")->encoding), 0x3Cu) << "CPU_CLK_UNHALTED.THREAD by its code";
  EXPECT_EQ(fixed_event(Encoding{Family::amd_zen, "", {}, 0x100, 0, 0}), nullptr) << "AMD has none";
  EXPECT_EQ(fixed_event("INST_RETIRED.ANY_P"), nullptr);
}

}  // namespace
}  // namespace tally::event
