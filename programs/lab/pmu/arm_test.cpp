// Tests the emulated Arm PMUv3. Test names begin with the number of the rule they check: A.
#include "programs/lab/pmu/arm_pmu.hpp"

#include <gtest/gtest.h>

namespace tally::pmu::emulated {
namespace {

// From the tables, to check the emulator's own encodings against them.
std::uint64_t reg(std::string_view name) {
  const auto place = find_register(name, &arm_model);
  EXPECT_TRUE(place) << name;
  return place ? place->reg->number + static_cast<std::uint64_t>(place->index) * place->reg->stride : 0;
}

struct ArmBench : ArmPmu {
  explicit ArmBench(ArmBehaviour behaviour = {}) : ArmPmu(behaviour) {
    // What software must do after reset, when the registers are unknown.
    set("PMCNTENCLR_EL0", ~0ULL);
    set("PMINTENCLR_EL1", ~0ULL);
    set("PMOVSCLR_EL0", ~0ULL);
    set("PMCR_EL0", 6);
    for (int i = 0; i < behaviour.counters; ++i) set("PMEVTYPER" + std::to_string(i) + "_EL0", 0);
    set("PMCCFILTR_EL0", 0);
  }
  void set(std::string_view name, std::uint64_t value, int level = 1) {
    const Answer answer = write(reg(name), value, level);
    EXPECT_TRUE(answer) << name << ": " << answer.fault.value_or("");
  }
  std::uint64_t get(std::string_view name) const {
    const Answer answer = read(reg(name));
    EXPECT_TRUE(answer) << name << ": " << answer.fault.value_or("");
    return answer.value;
  }
  void run(std::uint64_t times, ArmWork work = {{instructions_retired, 1}, {cpu_cycles, 1}}, int level = 1) {
    for (std::uint64_t i = 0; i < times; ++i) retire(work, level);
  }
};

TEST(EmulatedArm, reset_poisons_unknown_registers_and_stops_counting) {
  ArmPmu pmu;
  EXPECT_EQ(pmu.read(reg("PMEVCNTR0_EL0")).value, ArmPmu::poison);
  pmu.retire({{instructions_retired, 1}, {cpu_cycles, 1}}, 1);
  EXPECT_EQ(pmu.read(reg("PMCCNTR_EL0")).value, ArmPmu::poison);
  EXPECT_EQ(pmu.read(reg("PMCR_EL0")).value, 6U << 11);
}

TEST(EmulatedArm, A1_one_bit_gates_all_and_resets_read_0) {
  ArmBench pmu;
  pmu.set("PMEVTYPER0_EL0", instructions_retired);
  pmu.set("PMCNTENSET_EL0", 1ULL << 31 | 1);
  pmu.run(5);
  EXPECT_EQ(pmu.get("PMEVCNTR0_EL0"), 0U);
  pmu.set("PMCR_EL0", 1);
  pmu.run(5);
  EXPECT_EQ(pmu.get("PMEVCNTR0_EL0"), 5U);
  EXPECT_EQ(pmu.get("PMCCNTR_EL0"), 5U);
  pmu.set("PMCR_EL0", 1 | 2);  // P
  EXPECT_EQ(pmu.get("PMEVCNTR0_EL0"), 0U);
  EXPECT_EQ(pmu.get("PMCCNTR_EL0"), 5U) << "P leaves the cycle counter alone";
  EXPECT_EQ(pmu.get("PMCR_EL0"), 6U << 11 | 1);
  pmu.set("PMOVSSET_EL0", 1);
  pmu.set("PMCR_EL0", 1 | 4);  // C
  EXPECT_EQ(pmu.get("PMCCNTR_EL0"), 0U);
  EXPECT_EQ(pmu.get("PMOVSCLR_EL0"), 1U) << "C clears no flags";
  EXPECT_EQ(pmu.get("PMCR_EL0"), 6U << 11 | 1);
}

TEST(EmulatedArm, A2_pairs_of_registers_read_alike_and_hold_existing_counters_only) {
  ArmBench pmu;
  for (const auto& [set, clear] : {std::pair{"PMCNTENSET_EL0", "PMCNTENCLR_EL0"},
                                   {"PMINTENSET_EL1", "PMINTENCLR_EL1"},
                                   {"PMOVSSET_EL0", "PMOVSCLR_EL0"}}) {
    pmu.set(set, ~0ULL);
    EXPECT_EQ(pmu.get(set), 0x8000'003FU) << set;
    EXPECT_EQ(pmu.get(clear), 0x8000'003FU) << clear;
    pmu.set(clear, 0x8000'0001);
    EXPECT_EQ(pmu.get(set), 0x3EU) << set;
  }
}

TEST(EmulatedArm, A3_at_bit_31_the_flag_is_set_and_the_counter_continues) {
  ArmBench pmu;
  pmu.set("PMEVTYPER0_EL0", instructions_retired);
  pmu.set("PMCNTENSET_EL0", 1);
  pmu.set("PMCR_EL0", 1);
  pmu.set("PMEVCNTR0_EL0", 0xFFFF'FFFE);
  pmu.run(1);
  EXPECT_EQ(pmu.get("PMOVSSET_EL0"), 0U);
  pmu.run(3);
  EXPECT_EQ(pmu.get("PMOVSSET_EL0"), 1U);
  EXPECT_EQ(pmu.get("PMEVCNTR0_EL0"), 2U);
}

TEST(EmulatedArm, A4_software_increments_enabled_counters_of_that_event) {
  ArmBench pmu;
  pmu.set("PMEVTYPER1_EL0", instructions_retired);
  pmu.set("PMCNTENSET_EL0", 0b111);
  pmu.set("PMSWINC_EL0", 0b1111);
  EXPECT_EQ(pmu.get("PMEVCNTR0_EL0"), 0U) << "PMCR.E is 0";
  pmu.set("PMCR_EL0", 1);
  for (int i = 0; i < 3; ++i) pmu.set("PMSWINC_EL0", 0b1111);
  EXPECT_EQ(pmu.get("PMEVCNTR0_EL0"), 3U);
  EXPECT_EQ(pmu.get("PMEVCNTR1_EL0"), 0U) << "another event";
  EXPECT_EQ(pmu.get("PMEVCNTR2_EL0"), 3U);
  EXPECT_EQ(pmu.get("PMEVCNTR3_EL0"), 0U) << "not enabled";
  EXPECT_FALSE(pmu.read(reg("PMSWINC_EL0")));
}

TEST(EmulatedArm, A5_indirect_access_is_the_same_and_types_keep_only_their_bits) {
  ArmBench pmu;
  for (std::uint64_t i = 0; i < 6; ++i) {
    pmu.set("PMSELR_EL0", i);
    pmu.set("PMXEVTYPER_EL0", 0x100 + i);
    pmu.set("PMXEVCNTR_EL0", 1000 + i);
    EXPECT_EQ(pmu.get("PMEVTYPER" + std::to_string(i) + "_EL0"), 0x100 + i);
    EXPECT_EQ(pmu.get("PMEVCNTR" + std::to_string(i) + "_EL0"), 1000 + i);
  }
  pmu.set("PMSELR_EL0", 31);
  pmu.set("PMXEVTYPER_EL0", 0x8000'0000);
  EXPECT_EQ(pmu.get("PMCCFILTR_EL0"), 0x8000'0000U);
  pmu.set("PMEVTYPER0_EL0", ~0ULL);
  EXPECT_EQ(pmu.get("PMEVTYPER0_EL0"), 0xFC00'03FFU);
}

TEST(EmulatedArm, A6_chain_counts_the_wraps_of_the_counter_below) {
  ArmBench pmu;
  pmu.set("PMEVTYPER0_EL0", instructions_retired);
  pmu.set("PMEVTYPER1_EL0", chain);
  pmu.set("PMEVTYPER2_EL0", chain);  // on an even counter: has no effect
  pmu.set("PMEVTYPER3_EL0", instructions_retired);
  pmu.set("PMCNTENSET_EL0", 0b1111);
  pmu.set("PMCR_EL0", 1);
  pmu.set("PMEVCNTR0_EL0", 0xFFFF'FFFF);
  pmu.set("PMEVCNTR1_EL0", 0xFFFF'FFFF);
  pmu.set("PMEVCNTR3_EL0", 0xFFFF'FFFF);
  pmu.run(1);
  EXPECT_EQ(pmu.get("PMEVCNTR0_EL0"), 0U);
  EXPECT_EQ(pmu.get("PMEVCNTR1_EL0"), 0U);
  EXPECT_EQ(pmu.get("PMEVCNTR2_EL0"), 0U);
  EXPECT_EQ(pmu.get("PMOVSSET_EL0"), 0b1011U) << "both wrapped";
}

TEST(EmulatedArm, A7_the_interrupt_is_a_level) {
  ArmBench pmu;
  pmu.set("PMOVSSET_EL0", 1);
  EXPECT_FALSE(pmu.has_interrupt());
  pmu.set("PMINTENSET_EL1", 1);
  EXPECT_FALSE(pmu.has_interrupt()) << "PMCR.E is 0";
  pmu.set("PMCR_EL0", 1);
  EXPECT_TRUE(pmu.has_interrupt());
  pmu.set("PMOVSCLR_EL0", 1);
  EXPECT_FALSE(pmu.has_interrupt());
  pmu.set("PMOVSSET_EL0", 2);
  EXPECT_FALSE(pmu.has_interrupt()) << "a counter whose interrupt is off";
}

TEST(EmulatedArm, A8_lc_and_lp_choose_where_counters_overflow_and_d_divides_without_lc) {
  for (const bool lc : {false, true}) {
    ArmBench pmu;
    pmu.set("PMCNTENSET_EL0", 1ULL << 31);
    pmu.set("PMCCNTR_EL0", 0xFFFF'FFFF);
    pmu.set("PMCR_EL0", 1 | (lc ? 1 << 6 : 0));
    pmu.run(1);
    EXPECT_EQ(pmu.get("PMOVSSET_EL0"), lc ? 0U : 1ULL << 31);
    EXPECT_EQ(pmu.get("PMCCNTR_EL0"), 1ULL << 32);
    pmu.set("PMCCNTR_EL0", 0);
    pmu.set("PMCR_EL0", 1 | 8 | (lc ? 1 << 6 : 0));
    pmu.run(640);
    EXPECT_EQ(pmu.get("PMCCNTR_EL0"), lc ? 640U : 10U);
  }
  for (const bool lp : {false, true}) {
    ArmBench pmu({6, true});
    pmu.set("PMEVTYPER0_EL0", instructions_retired);
    pmu.set("PMCNTENSET_EL0", 1);
    pmu.set("PMEVCNTR0_EL0", 0xFFFF'FFFF);
    pmu.set("PMCR_EL0", 1 | (lp ? 1 << 7 : 0));
    pmu.run(1);
    EXPECT_EQ(pmu.get("PMOVSSET_EL0"), lp ? 0U : 1U);
    pmu.set("PMEVCNTR0_EL0", ~0ULL);
    pmu.run(1);
    EXPECT_EQ(pmu.get("PMOVSSET_EL0"), 1U);
  }
}

TEST(EmulatedArm, A10_memory_accesses_are_counted_as_often_as_they_happen) {
  ArmBench pmu;
  pmu.set("PMEVTYPER0_EL0", memory_accesses);
  pmu.set("PMEVTYPER1_EL0", memory_accesses);
  pmu.set("PMCNTENSET_EL0", 3);
  pmu.set("PMCR_EL0", 1);
  pmu.run(20, {{memory_accesses, 2}, {instructions_retired, 1}});
  EXPECT_EQ(pmu.get("PMEVCNTR0_EL0"), 40U);
  EXPECT_EQ(pmu.get("PMEVCNTR1_EL0"), 40U);
}

TEST(EmulatedArm, A11_filters_exclude_levels) {
  for (int filters = 0; filters < 4; ++filters) {
    ArmBench pmu;
    const std::uint64_t bits = static_cast<std::uint64_t>(filters) << 30;  // bit 30 U, 31 P
    pmu.set("PMEVTYPER0_EL0", bits | instructions_retired);
    pmu.set("PMCCFILTR_EL0", bits);
    pmu.set("PMCNTENSET_EL0", 1ULL << 31 | 1);
    pmu.set("PMCR_EL0", 1);
    pmu.run(3, {{instructions_retired, 1}, {cpu_cycles, 1}}, 0);
    pmu.run(5, {{instructions_retired, 1}, {cpu_cycles, 1}}, 1);
    const std::uint64_t expected = (filters & 1 ? 0U : 3U) + (filters & 2 ? 0U : 5U);
    EXPECT_EQ(pmu.get("PMEVCNTR0_EL0"), expected) << filters;
    EXPECT_EQ(pmu.get("PMCCNTR_EL0"), expected) << filters;
  }
}

TEST(EmulatedArm, A11_user_mode_accesses_only_what_pmuserenr_grants) {
  ArmBench pmu;
  const auto reads = [&](std::string_view name) { return static_cast<bool>(pmu.read(reg(name), 0)); };
  EXPECT_FALSE(reads("PMCCNTR_EL0"));
  EXPECT_FALSE(reads("PMCR_EL0"));
  EXPECT_TRUE(reads("PMUSERENR_EL0"));
  EXPECT_FALSE(pmu.write(reg("PMUSERENR_EL0"), 1, 0));
  pmu.set("PMUSERENR_EL0", 4);  // CR
  EXPECT_TRUE(reads("PMCCNTR_EL0"));
  EXPECT_FALSE(pmu.write(reg("PMCCNTR_EL0"), 0, 0));
  EXPECT_FALSE(reads("PMEVCNTR0_EL0"));
  pmu.set("PMUSERENR_EL0", 8);  // ER
  EXPECT_TRUE(reads("PMEVCNTR0_EL0"));
  EXPECT_TRUE(reads("PMXEVCNTR_EL0"));
  EXPECT_TRUE(pmu.write(reg("PMSELR_EL0"), 1, 0));
  EXPECT_FALSE(pmu.write(reg("PMSWINC_EL0"), 1, 0));
  pmu.set("PMUSERENR_EL0", 2);  // SW
  EXPECT_TRUE(pmu.write(reg("PMSWINC_EL0"), 1, 0));
  pmu.set("PMUSERENR_EL0", 1);  // EN
  EXPECT_TRUE(pmu.write(reg("PMCR_EL0"), 1, 0));
  EXPECT_FALSE(reads("PMINTENSET_EL1"));
}

TEST(EmulatedArm, A12_counters_that_do_not_exist_read_0_and_ignore_writes) {
  ArmBench pmu;
  for (int i = 6; i < 31; ++i) {
    const std::string count = "PMEVCNTR" + std::to_string(i) + "_EL0";
    const std::string type = "PMEVTYPER" + std::to_string(i) + "_EL0";
    pmu.set(count, 123);
    pmu.set(type, 8);
    EXPECT_EQ(pmu.get(count), 0U);
    EXPECT_EQ(pmu.get(type), 0U);
  }
}

}  // namespace
}  // namespace tally::pmu::emulated
