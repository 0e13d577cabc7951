#include "tally/counting/backend/engine/count/collect.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "tally/counting/backend/engine/count/reasons.hpp"

namespace tally::backend::engine {
namespace {

channel::Totals some_totals() {
  channel::Totals t;
  t.field[channel::instructions] = 1000;
  t.field[channel::loads] = 300;
  t.field[channel::stores] = 200;
  t.field[channel::conditional] = 70;
  t.field[channel::taken] = 40;
  t.field[channel::direct_jumps] = 1;
  t.field[channel::indirect_jumps] = 2;
  t.field[channel::direct_calls] = 4;
  t.field[channel::indirect_calls] = 8;
  t.field[channel::returns] = 16;
  t.field[channel::far] = 32;
  t.field[channel::prefetches] = 5;
  for (std::uint32_t f = channel::first_mix_field; f < channel::unknown_operations; ++f) t.field[f] = 1000 + f;
  return t;
}

TEST(Collector, branches_are_the_sum_of_their_kinds) {
  using event::Id;
  EXPECT_EQ(value_of(Id::branches, some_totals()), 70 + 63);
  EXPECT_EQ(value_of(Id::conditional_not_taken, some_totals()), 30);
  EXPECT_EQ(value_of(Id::branches_taken, some_totals()), 40 + 63);
  EXPECT_EQ(value_of(Id::near_branches_taken, some_totals()), 40 + 63 - 32);
  EXPECT_EQ(value_of(Id::calls, some_totals()), 12);
  EXPECT_EQ(value_of(Id::branches, some_totals()),
            *value_of(Id::branches_taken, some_totals()) + *value_of(Id::conditional_not_taken, some_totals()));
}

TEST(Collector, every_hardware_event_has_a_value_of_its_own) {
  for (const event::Definition& definition : event::all()) {
    const bool retired = definition.id == event::Id::retired_loads || definition.id == event::Id::retired_stores;
    if (definition.kind == event::Kind::hardware || retired) {
      EXPECT_NE(value_of(definition.id, some_totals()).value_or(0), 0) << definition.name;
    } else {
      const bool modelled = needed_by(definition.id).any() && !needed_by(definition.id).core;
      EXPECT_EQ(value_of(definition.id, some_totals()).has_value(), modelled)
          << definition.name << ": not counted is not 0";
    }
  }
}

TEST(Collector, a_count_is_exact_unless_there_is_a_reason) {
  const event::Event instructions = *event::parse("instructions");
  EXPECT_EQ(count_of(instructions, {some_totals(), ""}), exact(1000, Source::engine));
  const Count partial = count_of(instructions, {some_totals(), "it was killed"});
  EXPECT_EQ(partial.trust, Trust::partial);
  EXPECT_EQ(partial.value, 1000);
  EXPECT_EQ(partial.reason, "it was killed");
}

TEST(Collector, operations_are_partial_if_some_are_unknown) {
  channel::Totals totals = some_totals();
  totals.field[channel::unknown_operations] = 3;
  const auto count = [&](const char* name) { return count_of(*event::parse(name), {totals, "it was killed"}); };
  EXPECT_EQ(count("fp-operations").reason,
            "the floating-point operations of 3 executed instructions are not known; it was killed");
  EXPECT_EQ(count("fp-operations-double-256").trust, Trust::partial);
  EXPECT_EQ(count("fp-instructions").trust, Trust::partial);
  EXPECT_EQ(count_of(*event::parse("load-bytes"), {totals, ""}).trust, Trust::exact);
  EXPECT_EQ(count_of(*event::parse("nops"), {totals, ""}).trust, Trust::exact);
  EXPECT_TRUE(needs_mix(event::Id::nops));
  EXPECT_FALSE(needs_mix(event::Id::loads));
}

TEST(Collector, counts_without_the_models_of_some_threads_are_partial) {
  const Simulation simulation{.machine = *machines::named("haswell", "/")};
  CollectedTotals tally{some_totals(), ""};
  tally.models.l1d.load_misses = 5;
  const auto count_named = [&](const char* name) { return count_of(*event::parse(name), tally, &simulation); };
  EXPECT_EQ(count_named("L1-dcache-load-misses").trust, Trust::modelled);
  tally.without = channel::model_l1d;
  const Count partial = count_named("L1-dcache-load-misses");
  EXPECT_EQ(partial.trust, Trust::partial);
  EXPECT_EQ(partial.value, 5);
  EXPECT_NE(partial.reason.find("some threads are missing"), std::string::npos) << partial.reason;
  EXPECT_EQ(count_named("L1-icache-load-misses").trust, Trust::modelled);
  EXPECT_EQ(count_named("branch-misses").trust, Trust::modelled);
  EXPECT_EQ(count_named("instructions").trust, Trust::exact);
  EXPECT_EQ(count_named("cache-misses").trust, Trust::partial)
      << "misses of the first level are references of the last";
}

TEST(Collector, the_kernel_side_is_absent) {
  const Count count = count_of(*event::parse("instructions:k"), {some_totals(), ""});
  EXPECT_EQ(count.trust, Trust::absent);
  EXPECT_FALSE(count.value);
  EXPECT_FALSE(count.reason.empty());
}

TEST(Collector, both_modes_lack_the_kernels_part) {
  const Count count = count_of(*event::parse("instructions:uk"), {some_totals(), ""});
  EXPECT_EQ(count.trust, Trust::partial);
  EXPECT_EQ(count.value, 1000);
  EXPECT_NE(count.reason.find("the kernel's part"), std::string::npos);
}

TEST(Collector, codes_are_counted_if_the_table_has_their_event) {
  EXPECT_EQ(count_of(*event::parse("r00c4"), {some_totals(), ""}), exact(133, Source::engine));
  EXPECT_EQ(count_of(*event::parse("0x4101C2"), {some_totals(), ""}).trust, Trust::absent);
  const Count loads = count_of(*event::parse("r81d0"), {some_totals(), ""});
  EXPECT_EQ(loads.value, value_of(event::Id::loads, some_totals()));
  EXPECT_EQ(loads.trust, Trust::modelled) << "Intel counts micro-operations there";
  EXPECT_EQ(count_of(*event::parse("0x14100C0"), {some_totals(), ""}).trust, Trust::absent)
      << "cycles with an instruction";
}

TEST(Collector, the_outlook_has_the_trust_of_the_count) {
  for (const event::Definition& line : event::all()) {
    const event::Event event = *event::parse(line.name);
    const Outlook outlook = outlook_of(event);
    EXPECT_EQ(outlook.source == Source::none, outlook.trust == Trust::absent) << line.name;
    // Permission for kernel counters depends on the machine, and some software events on the architecture.
    if (line.kind == event::Kind::software && outlook.trust == Trust::absent) continue;
    const bool retired = line.id == event::Id::retired_loads || line.id == event::Id::retired_stores;
    const Trust expected = retired                              ? Trust::modelled
                           : line.kind == event::Kind::hardware ? Trust::exact
                           : line.kind == event::Kind::software ? Trust::partial
                                                                : Trust::absent;
    EXPECT_EQ(outlook.trust, expected) << line.name;
  }
}

// If the kernel describes no caches, there is no machine model unless the user names one.
TEST(Collector, without_a_machine_model_the_reason_suggests_one) {
  for (const char* name : {"cycles", "branch-misses", "LLC-load-misses", "r412e"}) {
    const Count count = count_of(*event::parse(name), {some_totals(), ""});
    EXPECT_EQ(count.trust, Trust::absent) << name;
    EXPECT_NE(count.reason.find("name a model with --model"), std::string::npos) << name << ": " << count.reason;
  }
  const Count of_no_model = count_of(*event::parse("r01c2"), {some_totals(), ""});
  EXPECT_EQ(of_no_model.reason.find("--model"), std::string::npos) << of_no_model.reason;
}

TEST(Collector, every_reason_bit_has_a_message) {
  EXPECT_EQ(reasons_of(0), "");
  for (std::uint32_t bit = 1; bit <= channel::partial_far_branch; bit <<= 1) EXPECT_NE(reasons_of(bit), "") << bit;
  EXPECT_NE(reasons_of(channel::partial_killed | channel::partial_int80).find("; "), std::string::npos);
}

// The rows of the guide's table are the reasons in the output.
TEST(Collector, the_guide_explains_every_reason_with_the_same_words) {
  std::ifstream guide(TALLY_GUIDE);
  ASSERT_TRUE(guide);
  std::set<std::string> explained;
  bool in_table = false;
  for (std::string line; std::getline(guide, line);) {
    if (line.starts_with("| reason |")) in_table = true;
    if (line.empty()) in_table = false;
    if (in_table && line.starts_with("| ")) explained.insert(line.substr(2, line.find(" |", 2) - 2));
  }
  explained.erase("reason");
  const auto reasons = all_reasons();
  EXPECT_EQ(explained, std::set<std::string>(reasons.begin(), reasons.end()));
}

TEST(Collector, events_that_depend_on_the_machine_are_absent) {
  const Count count = count_of(*event::parse("cycles"), {some_totals(), ""});
  EXPECT_EQ(count.trust, Trust::absent);
  EXPECT_NE(count.reason.find("PMU"), std::string::npos);
}

}  // namespace
}  // namespace tally::backend::engine
