// Tests overflows, their interrupts, and freezing. Test names begin with the number of the rule they check: P, F.
#include "programs/lab/pmu/intel_testing.hpp"

namespace tally::pmu::emulated {
namespace {

// Sets up a counter that overflows with the next instruction.
Bench about_to_overflow(std::string_view profile = "haswell-v3", Behaviour behaviour = {}) {
  Bench pmu(profile, behaviour);
  pmu.set_vector(0x33);
  pmu.set(0x186, instructions_interrupting);
  pmu.set(0xC1, 0xFFFF'FFFF);
  return pmu;
}

TEST(EmulatedOverflow, W6_P1_an_overflow_sets_the_status_whether_or_not_it_interrupts) {
  for (const std::uint64_t select : {instructions_always, instructions_interrupting}) {
    Bench pmu = about_to_overflow();
    pmu.set(0x186, select);
    pmu.run(1);
    EXPECT_EQ(pmu.get(0xC1), 0U);
    EXPECT_EQ(pmu.get(0x38E), 1U);
  }
  Bench fixed;
  fixed.set(0x38D, 0x300);
  fixed.set(0x38F, 1ULL << 34);
  fixed.set(0x30B, largest);
  fixed.run(1);
  EXPECT_EQ(fixed.get(0x38E), 1ULL << 34);
}

TEST(EmulatedOverflow, P2_only_counters_that_ask_for_it_interrupt) {
  for (const bool asks : {false, true}) {
    Bench pmu = about_to_overflow();
    pmu.set(0x186, asks ? instructions_interrupting : instructions_always);
    pmu.run(1);
    EXPECT_EQ(pmu.take_pmi(true).has_value(), asks);
    Bench fixed;
    fixed.set_vector(0x33);
    fixed.set(0x38D, asks ? 0xB : 0x3);
    fixed.set(0x38F, 1ULL << 32);
    fixed.set(0x309, largest);
    fixed.run(1);
    EXPECT_EQ(fixed.take_pmi(true).has_value(), asks);
  }
}

TEST(EmulatedOverflow, P3_a_counter_set_to_minus_n_minus_1_ends_at_1_after_n) {
  Bench pmu;
  pmu.set(0x186, instructions_always);
  pmu.set(0xC1, static_cast<std::uint64_t>(-99));
  pmu.run(100);
  EXPECT_EQ(pmu.get(0xC1), 1U);
  EXPECT_EQ(pmu.get(0x38E), 1U);
}

TEST(EmulatedOverflow, P4_a_pmi_is_lost_while_the_vector_is_masked) {
  Bench pmu = about_to_overflow();
  pmu.set_vector(0x10033);
  pmu.run(1);
  EXPECT_EQ(pmu.get(0x38E), 1U);
  pmu.set_vector(0x33);
  pmu.run(1);
  EXPECT_FALSE(pmu.take_pmi(true));
}

TEST(EmulatedOverflow, P5_delivery_sets_the_mask_and_the_next_pmi_needs_it_cleared) {
  for (const bool unmasks : {false, true}) {
    Bench pmu = about_to_overflow();
    pmu.run(1);
    EXPECT_EQ(pmu.apic().perfmon_vector(), 0x10033U);
    ASSERT_TRUE(pmu.take_pmi(true));
    if (unmasks) pmu.set_vector(0x33);
    pmu.apic().end_of_interrupt();
    pmu.set(0xC1, 0xFFFF'FFFF);
    pmu.run(1);
    EXPECT_EQ(pmu.take_pmi(true).has_value(), unmasks);
  }
}

TEST(EmulatedOverflow, P6_without_an_end_of_interrupt_the_next_one_waits) {
  Bench pmu = about_to_overflow();
  pmu.run(1);
  ASSERT_TRUE(pmu.take_pmi(true));
  pmu.set_vector(0x33);
  pmu.set(0xC1, 0xFFFF'FFFF);
  pmu.run(1);
  EXPECT_FALSE(pmu.take_pmi(true));
  pmu.apic().request(0x3F);  // of the same class
  EXPECT_FALSE(pmu.take_pmi(true));
  pmu.apic().request(0x40);  // of a higher one
  EXPECT_EQ(pmu.take_pmi(true), (Interrupt{Delivery::fixed, 0x40, false}));
  pmu.apic().end_of_interrupt();
  EXPECT_FALSE(pmu.take_pmi(true));
  pmu.apic().end_of_interrupt();
  EXPECT_TRUE(pmu.take_pmi(true));
}

TEST(EmulatedOverflow, P7_the_interrupt_flag_delays_a_fixed_pmi_and_not_an_nmi) {
  Bench fixed = about_to_overflow();
  fixed.run(1);
  EXPECT_FALSE(fixed.take_pmi(false));
  fixed.run(10);
  EXPECT_EQ(fixed.take_pmi(true), (Interrupt{Delivery::fixed, 0x33}));

  Bench nmi = about_to_overflow();
  nmi.set_vector(0x400);
  nmi.run(1);
  EXPECT_EQ(nmi.take_pmi(false), (Interrupt{Delivery::nmi, 2}));
  nmi.set_vector(0x400);  // no end of interrupt before the second NMI
  nmi.set(0xC1, 0xFFFF'FFFF);
  nmi.run(1);
  EXPECT_TRUE(nmi.take_pmi(false));
}

TEST(EmulatedOverflow, P8_390H_clears_only_what_is_written) {
  Bench pmu("skylake-v4");
  pmu.set(0x391, 1ULL << 32 | 3);
  pmu.set(0x390, 2);
  EXPECT_EQ(pmu.get(0x38E), 1ULL << 32 | 1);
  pmu.set(0x390, 0);
  EXPECT_EQ(pmu.get(0x38E), 1ULL << 32 | 1);
}

TEST(EmulatedOverflow, P8_the_notes_macro_leaves_fixed_counter_2) {
  Bench pmu;
  pmu.set(0x38D, 0x300);
  pmu.set(0x38F, 1ULL << 34);
  pmu.set(0x30B, largest);
  pmu.run(1);
  pmu.set(0x390, 3ULL << 32 | 0xF);
  EXPECT_EQ(pmu.get(0x38E), 1ULL << 34);
  pmu.set(0x390, 7ULL << 32 | 0xF);
  EXPECT_EQ(pmu.get(0x38E), 0U);
}

TEST(EmulatedOverflow, P9_the_status_is_read_only_and_stays) {
  Bench pmu = about_to_overflow();
  pmu.run(1);
  EXPECT_FALSE(pmu.write(0x38E, 0));
  pmu.run(1000);
  EXPECT_EQ(pmu.get(0x38E), 1U);
}

TEST(EmulatedOverflow, P10_390H_reads_0) {
  Bench pmu = about_to_overflow();
  pmu.run(1);
  EXPECT_EQ(pmu.get(0x390), 0U);
}

TEST(EmulatedOverflow, P11_counters_count_in_the_handler) {
  Bench pmu = about_to_overflow();
  pmu.run(1);
  ASSERT_TRUE(pmu.take_pmi(true));
  pmu.run(2);
  const auto first = pmu.rdpmc(0).value;
  const auto second = pmu.rdpmc(0).value;
  EXPECT_EQ(first, 2U);
  EXPECT_EQ(second, 3U);
}

TEST(EmulatedOverflow, P12_skid_delays_the_interrupt_and_not_the_status) {
  for (int skid = 0; skid < 5; ++skid) {
    Behaviour behaviour;
    behaviour.skid = skid;
    Bench pmu = about_to_overflow("haswell-v3", behaviour);
    pmu.run(1);
    EXPECT_EQ(pmu.get(0x38E), 1U);
    int waited = 0;
    for (; !pmu.take_pmi(true) && waited < 10; ++waited) pmu.run(1);
    EXPECT_EQ(waited, skid);
  }
}

TEST(EmulatedOverflow, P13_vectors_below_16_are_an_error_of_the_apic_and_no_exception) {
  Bench pmu = about_to_overflow();
  pmu.set_vector(0x0F);
  pmu.run(1);
  EXPECT_FALSE(pmu.take_pmi(true));
  EXPECT_EQ(pmu.apic().error_status(), 0U);
  pmu.apic().write_error_status();
  EXPECT_EQ(pmu.apic().error_status(), 1U << 6);
  Bench lowest = about_to_overflow();
  lowest.set_vector(0x10);
  lowest.run(1);
  EXPECT_TRUE(lowest.take_pmi(true));
}

TEST(EmulatedOverflow, P14_only_fixed_nmi_and_smi_are_delivered) {
  for (std::uint32_t mode = 0; mode < 8; ++mode) {
    Bench pmu = about_to_overflow();
    pmu.set_vector(mode << 8 | 0x33);
    pmu.run(1);
    EXPECT_EQ(pmu.take_pmi(true).has_value(), mode == 0 || mode == 2 || mode == 4) << mode;
  }
}

TEST(EmulatedOverflow, P15_two_overflows_on_one_instruction_are_two_bits_and_one_pmi) {
  Bench pmu = about_to_overflow();
  pmu.set(0x187, instructions_interrupting);
  pmu.set(0xC2, 0xFFFF'FFFF);
  int sent = 0;
  pmu.listen([&](const Happening& what) { sent += what.kind == Happening::Kind::pmi ? 1 : 0; });
  pmu.run(1);
  EXPECT_EQ(pmu.get(0x38E), 3U);
  EXPECT_EQ(sent, 1);
  EXPECT_TRUE(pmu.take_pmi(true));
  pmu.apic().end_of_interrupt();
  EXPECT_FALSE(pmu.take_pmi(true));
}

TEST(EmulatedOverflow, P16_a_pmi_before_the_end_of_interrupt_waits_once) {
  Bench pmu = about_to_overflow();
  pmu.run(1);
  ASSERT_TRUE(pmu.take_pmi(true));
  for (int i = 0; i < 3; ++i) {
    pmu.set_vector(0x33);
    pmu.set(0xC1, 0xFFFF'FFFF);
    pmu.run(1);
  }
  pmu.apic().end_of_interrupt();
  EXPECT_TRUE(pmu.take_pmi(true));
  pmu.apic().end_of_interrupt();
  EXPECT_FALSE(pmu.take_pmi(true));
}

TEST(EmulatedFreeze, F1_up_to_version_3_the_global_enables_are_cleared) {
  for (const char* name : {"haswell-v3", "nehalem-v3", "kvm-v2"}) {
    Bench pmu = about_to_overflow(name);
    pmu.set(0x1D9, 1U << 12);
    pmu.run(1);
    EXPECT_EQ(pmu.get(0x38F), 0U) << name;
    ASSERT_TRUE(pmu.take_pmi(true));
    pmu.set(0x390, 1);
    pmu.run(10);
    EXPECT_EQ(pmu.get(0xC1), 0U) << name;
    pmu.set(0x38F, 1);
    pmu.run(10);
    EXPECT_EQ(pmu.get(0xC1), 10U) << name;
  }
}

TEST(EmulatedFreeze, F2_since_version_4_a_status_bit_freezes_until_its_reset) {
  for (const char* name : {"skylake-v4", "icelake-v5"}) {
    Bench pmu = about_to_overflow(name);
    const auto enables = pmu.get(0x38F);
    pmu.set(0x1D9, 1U << 12);
    pmu.run(1);
    EXPECT_EQ(pmu.get(0x38F), enables) << name;
    EXPECT_EQ(pmu.get(0x38E), 1ULL << 59 | 1) << name;
    pmu.run(10);
    EXPECT_EQ(pmu.get(0xC1), 0U) << name;
    pmu.set(0x390, 1ULL << 59);
    pmu.run(10);
    EXPECT_EQ(pmu.get(0xC1), 10U) << name;
  }
}

TEST(EmulatedFreeze, F2_E1_software_may_freeze_by_setting_the_status_bit) {
  Bench pmu("skylake-v4");
  pmu.set(0x186, instructions_always);
  pmu.set(0x391, 1ULL << 59);
  pmu.run(10);
  EXPECT_EQ(pmu.get(0xC1), 0U);
}

TEST(EmulatedFreeze, F3_an_overflow_that_raises_no_pmi_freezes_nothing) {
  for (const char* name : {"haswell-v3", "skylake-v4"}) {
    Bench pmu = about_to_overflow(name);
    pmu.set(0x186, instructions_always);
    pmu.set(0x1D9, 1U << 12);
    pmu.run(11);
    EXPECT_EQ(pmu.get(0xC1), 10U) << name;
  }
}

TEST(EmulatedFreeze, F4_the_overflowing_instruction_is_counted_and_the_next_is_not) {
  for (const char* name : {"haswell-v3", "skylake-v4"}) {
    Bench pmu = about_to_overflow(name);
    pmu.set(0x187, instructions_always);
    pmu.set(0x1D9, 1U << 12);
    pmu.run(2);
    EXPECT_EQ(pmu.get(0xC1), 0U) << name;
    EXPECT_EQ(pmu.get(0xC2), 1U) << name;
  }
}

TEST(EmulatedFreeze, F5_branch_records_freeze_by_a_bit_of_their_own) {
  Bench legacy = about_to_overflow("haswell-v3");
  legacy.set(0x1D9, 1U << 11 | 1);
  legacy.run(5);
  EXPECT_EQ(legacy.get(0x1D9), 1U << 11);
  EXPECT_EQ(legacy.get(0xC1), 4U);
  Bench streamlined = about_to_overflow("skylake-v4");
  streamlined.set(0x1D9, 1U << 11 | 1);
  streamlined.run(5);
  EXPECT_EQ(streamlined.get(0x38E), 1ULL << 58 | 1);
  EXPECT_EQ(streamlined.get(0x1D9), 1U << 11 | 1);
  EXPECT_EQ(streamlined.get(0xC1), 4U);
}

TEST(EmulatedFreeze, F6_freezing_in_smm_takes_the_capability) {
  for (const Profile& profile : profiles()) {
    Bench pmu(profile);
    EXPECT_EQ(static_cast<bool>(pmu.write(0x1D9, 1U << 14)), profile.has_capability(12)) << profile.name;
  }
}

}  // namespace
}  // namespace tally::pmu::emulated
