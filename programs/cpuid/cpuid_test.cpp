#include "programs/cpuid/cpuid.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <utility>

namespace tally::pmu {
namespace {

using Dump = std::map<std::pair<std::uint32_t, std::uint32_t>, CpuidLeaf>;

CpuidReader reader(Dump dump) {
  return [dump = std::move(dump)](std::uint32_t leaf, std::uint32_t subleaf) {
    const auto at = dump.find({leaf, subleaf});
    return at == dump.end() ? CpuidLeaf{} : at->second;
  };
}

std::uint32_t word(const char* text) {
  std::uint32_t value = 0;
  std::memcpy(&value, text, 4);
  return value;
}

void add_brand(Dump& dump, std::string brand) {
  brand.resize(48, '\0');
  for (std::uint32_t i = 0; i < 3; ++i) {
    const char* at = brand.data() + static_cast<std::size_t>(i) * 16;
    dump[{0x8000'0002 + i, 0}] = {word(at), word(at + 4), word(at + 8), word(at + 12)};
  }
  dump[{0x8000'0000, 0}].eax = std::max(dump[{0x8000'0000, 0}].eax, 0x8000'0008U);
}

// The machine of the RDPMC article, as printed there by PCM: family 6, model 63, version 3, 4 counters and 3 fixed ones
// of 48 bits, 3.5 GHz.
Dump haswell() {
  Dump dump;
  dump[{0, 0}] = {0xF, word("Genu"), word("ntel"), word("ineI")};
  dump[{1, 0}] = {0x0003'06F2, 0, 0, 0};
  dump[{0xA, 0}] = {0x0730'0403, 0, 0, 0x603};
  add_brand(dump, "Intel(R) Xeon(R) CPU E5-1620 v3 @ 3.50GHz");
  return dump;
}

TEST(Cpuid, decodes_the_processor_of_the_rdpmc_article) {
  const Processor processor = describe_processor(reader(haswell()));
  EXPECT_EQ(processor.vendor, "GenuineIntel");
  EXPECT_EQ(processor.family, 6);
  EXPECT_EQ(processor.model, 63);
  EXPECT_EQ(processor.stepping, 2);
  EXPECT_FALSE(processor.hybrid);
  EXPECT_FALSE(processor.under_hypervisor);
  EXPECT_EQ(processor.perfmon.version, 3);
  EXPECT_EQ(processor.perfmon.counters, 4);
  EXPECT_EQ(processor.perfmon.counter_width, 48);
  EXPECT_EQ(processor.perfmon.fixed_counters, 0b111U);
  EXPECT_EQ(processor.perfmon.fixed_width, 48);
  EXPECT_EQ(processor.base, (Frequency{3'500'000'000, "the brand string"}));
}

TEST(Cpuid, a_set_bit_means_that_the_event_is_missing) {
  // Six of seven events valid; branches (bit 5) reported missing.
  const auto perfmon = decode_architectural_perfmon({0x0630'0402, 0x20, 0, 0x603});
  ASSERT_EQ(perfmon.events.size(), 13U);
  EXPECT_TRUE(perfmon.events[0].available);
  EXPECT_TRUE(perfmon.events[4].available);
  EXPECT_FALSE(perfmon.events[5].available);
  EXPECT_FALSE(perfmon.events[6].available);
  EXPECT_EQ(perfmon.events[5].event, 0xC4);
}

TEST(Cpuid, fixed_counters_need_not_be_contiguous) {
  // Version 5: EDX counts fixed counters 0 to 2; only ECX names number 4.
  const auto perfmon = decode_architectural_perfmon({0x0830'0805, 0, 0x10, 0x8603});
  EXPECT_EQ(perfmon.fixed_counters, 0b10111U);
  EXPECT_TRUE(perfmon.any_thread_deprecated);
  // Before version 5, ECX is reserved.
  EXPECT_EQ(decode_architectural_perfmon({0x0830'0804, 0, 0x10, 0x603}).fixed_counters, 0b111U);
}

TEST(Cpuid, without_a_pmu_everything_is_0) {
  EXPECT_EQ(decode_architectural_perfmon({}), ArchitecturalPerfmon{});
  EXPECT_EQ(decode_architectural_perfmon({0x0730'0400, 0, 0, 0x603}), ArchitecturalPerfmon{});
}

TEST(Cpuid, reads_the_name_of_the_hypervisor) {
  Dump dump = haswell();
  dump[{1, 0}].ecx = 1U << 31;
  dump[{0x4000'0000, 0}] = {0x4000'0001, word("KVMK"), word("VMKV"), word("M\0\0\0")};
  Processor processor = describe_processor(reader(dump));
  EXPECT_TRUE(processor.under_hypervisor);
  EXPECT_EQ(processor.hypervisor, "KVM");
  dump[{0x4000'0000, 0}] = {0x4000'0001, word("Some"), word("body"), word("Else")};
  EXPECT_EQ(describe_processor(reader(dump)).hypervisor, "SomebodyElse");
}

TEST(Cpuid, reads_frequencies_from_their_leaves) {
  Dump dump = haswell();
  dump[{0, 0}].eax = 0x16;
  dump[{0x15, 0}] = {2, 250, 24'000'000, 0};
  dump[{0x16, 0}] = {3000, 4500, 100, 0};
  const Processor processor = describe_processor(reader(dump));
  EXPECT_EQ(processor.base, (Frequency{3'000'000'000, "CPUID.16H:EAX"}));
  EXPECT_EQ(processor.time_stamp, (Frequency{3'000'000'000, "CPUID.15H"}));
}

TEST(Cpuid, reads_no_frequency_from_other_brands) {
  for (const char* brand : {"", "AMD EPYC", "@", "CPU @ ", "CPU @ fast", "CPU @ 3.5", "CPU @ 3.5THz", "CPU @ -1GHz",
                            "CPU @ nanGHz", "CPU @ 1e300GHz"}) {
    Dump dump = haswell();
    add_brand(dump, brand);
    EXPECT_EQ(describe_processor(reader(dump)).base, std::nullopt) << brand;
  }
}

TEST(Cpuid, reads_each_generation_of_amd_counters) {
  Dump dump;
  dump[{0, 0}] = {0x10, word("Auth"), word("cAMD"), word("enti")};
  // Zen 4: base family 15, extended family 10, extended model 1.
  dump[{1, 0}] = {0x00A1'0F11, 0, 0, 0};
  dump[{0x8000'0000, 0}].eax = 0x8000'0028;
  Processor processor = describe_processor(reader(dump));
  EXPECT_EQ(processor.vendor, "AuthenticAMD");
  EXPECT_EQ(processor.family, 25);
  EXPECT_EQ(processor.model, 17);
  EXPECT_EQ(processor.stepping, 1);
  EXPECT_EQ(std::pair(processor.amd_perfmon, processor.amd_counters), std::pair(0, 4));
  dump[{0x8000'0001, 0}].ecx = 1U << 23;
  processor = describe_processor(reader(dump));
  EXPECT_EQ(std::pair(processor.amd_perfmon, processor.amd_counters), std::pair(1, 6));
  dump[{0x8000'0022, 0}] = {1, 6, 0, 0};
  processor = describe_processor(reader(dump));
  EXPECT_EQ(std::pair(processor.amd_perfmon, processor.amd_counters), std::pair(2, 6));
  EXPECT_EQ(processor.perfmon.version, 0);
}

}  // namespace
}  // namespace tally::pmu
