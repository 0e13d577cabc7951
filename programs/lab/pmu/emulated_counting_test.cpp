// Tests what the emulated counters count. Test names begin with the number of the rule they check: E for enabling, V
// for the event logic.
#include "programs/lab/pmu/intel_testing.hpp"

namespace tally::pmu::emulated {
namespace {

TEST(EmulatedCounting, E1_a_counter_counts_if_all_three_enables_and_the_level_are_set) {
  for (const bool global : {false, true}) {
    for (const bool local : {false, true}) {
      for (int modes = 0; modes < 4; ++modes) {
        for (const int cpl : {0, 3}) {
          Bench pmu;
          pmu.set(0x38F, global ? 1 : 0);
          pmu.set(0x186, 0xC0 | static_cast<std::uint64_t>(modes) << 16 | (local ? 1ULL << 22 : 0));
          pmu.run(10, cpl);
          const bool level = cpl > 0 ? (modes & 1) != 0 : (modes & 2) != 0;
          EXPECT_EQ(pmu.get(0xC1), global && local && level ? 10U : 0U)
              << "global " << global << " local " << local << " modes " << modes << " cpl " << cpl;
        }
      }
    }
  }
}

TEST(EmulatedCounting, E2_the_order_of_the_two_enables_does_not_matter) {
  Bench one;
  one.set(0x38F, 0);
  one.set(0x186, instructions_always);
  one.wrmsr(0x38F, 1);
  Bench other;
  other.set(0x38F, 1);
  other.wrmsr(0x186, instructions_always);
  one.run(5);
  other.run(5);
  EXPECT_EQ(one.get(0xC1), 5U);
  EXPECT_EQ(other.get(0xC1), 5U);
}

TEST(EmulatedCounting, E3_E4_the_enabling_write_is_not_counted_the_disabling_one_is) {
  Bench pmu;
  pmu.wrmsr(0x186, instructions_always);
  pmu.run(1);  // loads the index
  EXPECT_EQ(pmu.rdpmc(0).value, 1U);
  pmu.run(1);  // RDPMC has retired now
  EXPECT_EQ(pmu.get(0xC1), 3U);
  pmu.wrmsr(0x186, 0);
  EXPECT_EQ(pmu.get(0xC1), 4U);
  pmu.run(9);
  EXPECT_EQ(pmu.get(0xC1), 4U);
}

TEST(EmulatedCounting, E5_after_power_up_all_general_purpose_counters_are_enabled_globally) {
  for (const Profile& profile : profiles()) {
    Bench pmu(profile);
    EXPECT_EQ(pmu.get(0x38F), (1ULL << profile.counters) - 1) << profile.name;
    pmu.set(0x186, instructions_always);
    pmu.set(0x38D, 3);
    pmu.run(4);
    EXPECT_EQ(pmu.get(0xC1), 4U) << profile.name;
    EXPECT_EQ(pmu.get(0x309), 0U) << profile.name;
  }
}

TEST(EmulatedCounting, E6_the_two_bits_of_a_fixed_counter_are_kernel_and_user) {
  for (int field = 0; field < 4; ++field) {
    for (const int cpl : {0, 3}) {
      Bench pmu;
      pmu.set(0x38F, 1ULL << 32);
      pmu.set(0x38D, static_cast<std::uint64_t>(field));
      pmu.run(7, cpl);
      const bool counts = cpl == 0 ? (field & 1) != 0 : (field & 2) != 0;
      EXPECT_EQ(pmu.get(0x309), counts ? 7U : 0U) << field << " at CPL " << cpl;
    }
  }
  Bench off;
  off.set(0x38F, 0);
  off.set(0x38D, 3);
  off.run(7);
  EXPECT_EQ(off.get(0x309), 0U);
}

TEST(EmulatedCounting, E7_E12_one_write_starts_all_and_instructions_are_equal_everywhere) {
  Bench pmu("icelake-v5");
  pmu.set(0x38F, 0);
  for (std::uint32_t i = 0; i < 8; ++i) pmu.set(0x186 + i, instructions_always);
  pmu.set(0x38D, 3);
  pmu.wrmsr(0x38F, 0xFF | 1ULL << 32);
  pmu.run(123);
  pmu.wrmsr(0x38F, 0);
  for (std::uint32_t i = 0; i < 8; ++i) EXPECT_EQ(pmu.get(0xC1 + i), 124U);
  EXPECT_EQ(pmu.get(0x309), 124U);
}

TEST(EmulatedCounting, E8_a_stopped_counter_keeps_its_value_and_continues_from_it) {
  Bench pmu;
  pmu.set(0x186, instructions_always);
  pmu.run(10);
  pmu.set(0x38F, 0);
  pmu.run(100);
  EXPECT_EQ(pmu.get(0xC1), 10U);
  pmu.set(0x38F, 0xF);
  pmu.run(5);
  EXPECT_EQ(pmu.get(0xC1), 15U);
}

TEST(EmulatedCounting, E9_a_running_counter_may_be_written_and_overflows_from_there) {
  Bench pmu;
  pmu.set(0x186, instructions_always);
  pmu.run(10);
  pmu.wrmsr(0xC1, 0xFFFF'FFFF);
  EXPECT_EQ(pmu.get(0xC1), largest);
  EXPECT_EQ(pmu.get(0x38E), 0U);
  pmu.run(1);
  EXPECT_EQ(pmu.get(0xC1), 0U);
  EXPECT_EQ(pmu.get(0x38E), 1U);
}

TEST(EmulatedCounting, E10_another_event_counts_from_the_next_instruction_on) {
  Work branch = one_instruction();
  branch[Signal::branches] = 1;
  Bench pmu;
  pmu.set(0x186, instructions_always);
  pmu.run(3, 0, branch);
  pmu.wrmsr(0x186, 0x4300C4);
  EXPECT_EQ(pmu.get(0xC1), 4U);  // the write itself was counted as an instruction
  pmu.run(5);
  pmu.run(2, 0, branch);
  EXPECT_EQ(pmu.get(0xC1), 6U);
}

TEST(EmulatedCounting, E11_version_1_has_no_global_registers) {
  Profile v1 = profile_named("haswell-v3");
  v1.version = 1;
  v1.any_thread = false;
  Bench pmu(v1);
  for (const std::uint32_t index : {0x38D, 0x38E, 0x38F, 0x390, 0x309}) {
    EXPECT_FALSE(pmu.read(index)) << std::hex << index;
    EXPECT_FALSE(pmu.write(index, 0)) << std::hex << index;
  }
  pmu.set(0x186, instructions_always);
  pmu.run(3);
  EXPECT_EQ(pmu.get(0xC1), 3U);
}

TEST(EmulatedCounting, E13_an_event_that_cpuid_reports_as_missing_counts_nothing) {
  Profile without = profile_named("haswell-v3");
  without.unavailable_events = 1U << 5;
  Work branch = one_instruction();
  branch[Signal::branches] = 1;
  Bench pmu(without);
  pmu.set(0x186, 0x4300C4);
  pmu.set(0x187, instructions_always);
  pmu.run(3, 0, branch);
  EXPECT_EQ(pmu.get(0xC1), 0U);
  EXPECT_EQ(pmu.get(0xC2), 3U);
  Bench with;
  with.set(0x186, 0x4300C4);
  with.run(3, 0, branch);
  EXPECT_EQ(with.get(0xC1), 3U);
}

TEST(EmulatedCounting, E13_cpuid_reports_the_profile) {
  for (const Profile& profile : profiles()) {
    const ArchitecturalPerfmon read = decode_architectural_perfmon(perfmon_leaf(profile));
    EXPECT_EQ(read.version, profile.version);
    EXPECT_EQ(read.counters, profile.counters);
    EXPECT_EQ(read.counter_width, profile.width);
    EXPECT_EQ(read.fixed_counters, profile.fixed);
    EXPECT_EQ(read.any_thread_deprecated, profile.version >= 5);
    EXPECT_TRUE(read.events.at(1).available) << profile.name;
  }
}

// One event in each instruction's last cycle, three cycles each: two cycles without events in between.
TEST(EmulatedCounting, V1_V2_a_counter_mask_counts_cycles_and_its_inversion_the_others) {
  Bench pmu;
  pmu.set(0x186, instructions_always | 1ULL << 24);
  pmu.set(0x187, instructions_always | 1ULL << 24 | 1ULL << 23);
  pmu.set(0x188, instructions_always | 2ULL << 24);
  pmu.set(0x189, instructions_always | 1ULL << 23);  // INV without CMASK
  pmu.set(0x38D, 0x30);
  pmu.set(0x38F, 0xF | 1ULL << 33);
  pmu.run(10, 0, one_instruction(3));
  EXPECT_EQ(pmu.get(0xC1), 10U);
  EXPECT_EQ(pmu.get(0xC2), 20U);
  EXPECT_EQ(pmu.get(0xC1) + pmu.get(0xC2), pmu.get(0x30A));
  EXPECT_EQ(pmu.get(0xC3), 0U);
  EXPECT_EQ(pmu.get(0xC4), 10U);
}

TEST(EmulatedCounting, V3_edges_count_stalls_not_the_cycles_of_them) {
  Bench pmu;
  pmu.set(0x186, instructions_always | 1ULL << 24 | 1ULL << 23);               // cycles without an instruction
  pmu.set(0x187, instructions_always | 1ULL << 24 | 1ULL << 23 | 1ULL << 18);  // how often such cycles begin
  pmu.run(4);
  pmu.run(5, 0, one_instruction(3));
  EXPECT_EQ(pmu.get(0xC1), 10U);
  EXPECT_EQ(pmu.get(0xC2), 5U);
}

TEST(EmulatedCounting, V3_instructions_of_one_cycle_count_together) {
  Bench pmu;
  pmu.set(0x186, instructions_always | 4ULL << 24);               // cycles with four instructions
  pmu.set(0x187, instructions_always | 1ULL << 24);               // cycles with an instruction
  pmu.set(0x188, instructions_always | 4ULL << 24 | 1ULL << 23);  // cycles with fewer than four
  pmu.set(0x189, instructions_always | 1ULL << 24 | 1ULL << 18);  // how often cycles with an instruction begin
  Work joins = one_instruction(0);                                // retires in the cycle that the next one ends
  joins.ends_cycle = false;
  Work late = one_instruction(3);  // the cycle that had begun and two empty ones, then a cycle that has not ended
  late.ends_cycle = false;
  for (int i = 0; i < 100; ++i) pmu.retire(i % 4 == 3 ? one_instruction(1) : joins, 0);
  EXPECT_EQ(pmu.get(0xC1), 25U);
  EXPECT_EQ(pmu.get(0xC2), 25U);
  EXPECT_EQ(pmu.get(0xC3), 0U);
  EXPECT_EQ(pmu.get(0xC4), 1U);
  pmu.retire(joins, 0);
  pmu.retire(late, 0);
  EXPECT_EQ(pmu.get(0xC2), 26U);
  EXPECT_EQ(pmu.get(0xC3), 3U);
  pmu.retire(one_instruction(1), 0);
  EXPECT_EQ(pmu.get(0xC1), 25U);
  EXPECT_EQ(pmu.get(0xC2), 27U);
  EXPECT_EQ(pmu.get(0xC3), 4U);
  EXPECT_EQ(pmu.get(0xC4), 2U);
  pmu.retire(joins, 0);
  pmu.set(0x186, 0);
  pmu.set(0x186, instructions_always | 2ULL << 24);
  pmu.retire(one_instruction(1), 0);
  EXPECT_EQ(pmu.get(0xC1), 25U);  // of that cycle it saw one instruction only
}

TEST(EmulatedCounting, V4_any_counts_the_sibling_thread_if_the_bit_exists) {
  Bench pmu;
  pmu.set(0x186, instructions_always | 1ULL << 21);
  pmu.set(0x187, instructions_always);
  pmu.set(0x38D, 7 | 3 << 4);
  pmu.set(0x38F, 0xF | 3ULL << 32);
  pmu.run(3);
  for (int i = 0; i < 5; ++i) pmu.retire_sibling(one_instruction(), 0);
  EXPECT_EQ(pmu.get(0xC1), 8U);
  EXPECT_EQ(pmu.get(0xC2), 3U);
  EXPECT_EQ(pmu.get(0x309), 8U);
  EXPECT_EQ(pmu.get(0x30A), 3U);
  Profile deprecated = profile_named("skylake-v4");  // CPUID.0AH:EDX[15], which some version 4 processors set
  deprecated.any_thread = false;
  EXPECT_FALSE(Bench(deprecated).write(0x186, instructions_always | 1ULL << 21));
  for (const char* name : {"icelake-v5", "kvm-v2"}) {
    Bench without(name);
    EXPECT_FALSE(without.write(0x186, instructions_always | 1ULL << 21)) << name;
    EXPECT_FALSE(without.write(0x38D, 7)) << name;
  }
}

TEST(EmulatedCounting, V5_the_end_of_a_return_to_user_mode_counts_only_where_processors_overcount) {
  for (const bool overcounts : {false, true}) {
    Behaviour behaviour;
    behaviour.overcount = overcounts;
    Bench pmu("haswell-v3", behaviour);
    pmu.set(0x186, 0x4100C0);  // instructions, branches, far branches in user mode; instructions in kernel mode
    pmu.set(0x187, 0x4100C4);
    pmu.set(0x188, 0x4140C4);
    pmu.set(0x189, 0x4200C0);
    pmu.set_vector(0x33);
    pmu.count_return();
    EXPECT_EQ(pmu.get(0xC1), overcounts ? 1U : 0U);
    EXPECT_EQ(pmu.get(0xC2), overcounts ? 1U : 0U);
    EXPECT_EQ(pmu.get(0xC3), overcounts ? 1U : 0U);
    EXPECT_EQ(pmu.get(0xC4), 0U);
    // An interrupt itself counts nothing.
    pmu.apic().request(0x33);
    EXPECT_TRUE(pmu.take_pmi(true));
    EXPECT_EQ(pmu.get(0xC1) + pmu.get(0xC4), overcounts ? 1U : 0U);
  }
}

TEST(EmulatedCounting, V7_reference_cycles_follow_the_clocks_and_stop_in_halt) {
  Behaviour behaviour;
  behaviour.clock = {35, 12};  // base 3.5 GHz, running at 1.2 GHz
  Bench pmu("haswell-v3", behaviour);
  pmu.set(0x38D, 0x333);
  pmu.set(0x38F, 7ULL << 32);
  pmu.run(1200);
  EXPECT_EQ(pmu.get(0x30A), 1200U);
  EXPECT_EQ(pmu.get(0x30B), 3500U);
  EXPECT_EQ(pmu.get(0x10), 3500U);
  pmu.halt(1000);
  EXPECT_EQ(pmu.get(0x30B), 3500U);
  EXPECT_EQ(pmu.get(0x10), 4500U);
  EXPECT_EQ(pmu.get(0xE7), 3500U);
  EXPECT_EQ(pmu.get(0xE8), 1200U);
}

TEST(EmulatedCounting, room_is_never_more_than_until_an_overflow) {
  Behaviour behaviour;
  behaviour.clock = {7, 3};
  Work most = one_instruction(3);
  most[Signal::branches] = 1;
  for (std::uint64_t below = 0; below < 40; ++below) {
    Bench pmu("icelake-v5", behaviour);
    pmu.set(0x38D, 0x3333);
    pmu.set(0x38F, 0xFULL << 32);
    for (std::uint32_t i = 0; i < 4; ++i) pmu.set(0x309 + i, largest - below);
    const std::uint64_t room = pmu.room(most, 0);
    for (std::uint64_t i = 0; i < room; ++i) pmu.advance(one_instruction(3), 0);
    for (std::uint32_t i = 0; i < 4; ++i) EXPECT_GE(pmu.get(0x309 + i), largest - below);
  }
}

}  // namespace
}  // namespace tally::pmu::emulated
