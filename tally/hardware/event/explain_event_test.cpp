#include "tally/hardware/event/explain_event.hpp"

#include <gtest/gtest.h>

#include <map>

namespace tally::event {
namespace {

const Sources haswell_only{"/nowhere", "hsw"};

Explanation explained(const char* text) { return explain(*parse(text, haswell_only)); }

std::map<std::string, std::uint64_t> fields(const Explanation& one) {
  std::map<std::string, std::uint64_t> all;
  for (const FieldValue& field : one.selector->fields) all[field.name] = field.value;
  return all;
}

TEST(Explain, the_register_is_what_the_kernel_writes) {
  const Explanation one = explained("0x4101C2");
  EXPECT_EQ(one.selector->name, "IA32_PERFEVTSELx");
  EXPECT_EQ(one.selector->value, 0x4101C2u);
  EXPECT_EQ(one.maker_name, "Intel UOPS_RETIRED.ALL");
  EXPECT_EQ(one.perf->config, 0x1C2u);
  EXPECT_EQ(one.perf->type, perf_type_raw);
  EXPECT_EQ(one.perf_text, "r01c2:u");
  EXPECT_EQ(explained("5300C0H").selector->value, 0x4300C0u) << "INT is for samples";
  EXPECT_EQ(fields(explained("r20001c4:k"))["CMASK"], 2u);
}

TEST(Explain, every_processor_with_the_code_is_named) {
  if (!pfm::find_pmu("hsw")) GTEST_SKIP() << "this libpfm4 has no tables of x86 processors";
  const Explanation one = explained("r01c2");
  const auto all = std::find_if(one.processors.begin(), one.processors.end(),
                                [](const Named& named) { return named.name == "UOPS_RETIRED:ALL"; });
  ASSERT_NE(all, one.processors.end());
  EXPECT_NE(std::find(all->pmus.begin(), all->pmus.end(), "hsw"), all->pmus.end());
  EXPECT_EQ(std::find(all->pmus.begin(), all->pmus.end(), "icl"), all->pmus.end());
  EXPECT_EQ(explained("hsw::UOPS_RETIRED:ALL:c=2:i").what.find("a cycle with fewer than 2 of: "), 0u);
}

TEST(Explain, a_short_code_may_be_one_of_apples) {
  const auto names_of = [](const char* text) {
    std::string names;
    for (const Named& one : explained(text).processors) names += one.name + ' ';
    return names;
  };
  EXPECT_NE(names_of("0x8d").find("apple_m1::INST_BRANCH "), std::string::npos) << names_of("0x8d");
  EXPECT_NE(names_of("r8d").find("apple_m1::INST_BRANCH "), std::string::npos);
  EXPECT_EQ(names_of("r018d").find("apple_m1"), std::string::npos) << "Apple has no unit masks";
}

TEST(Explain, amds_long_codes_are_taken_apart) {
  if (!pfm::find_pmu("amd64_fam19h_zen4")) GTEST_SKIP() << "this libpfm4 has no tables of x86 processors";
  const Explanation one = explained("amd64_fam19h_zen4::RETIRED_TAKEN_BRANCH_INSTRUCTIONS");
  EXPECT_EQ(one.selector->name, "PERF_CTLx");
  EXPECT_EQ(one.event.id, Id::branches_taken);
  for (const pfm::Name& name : pfm::names(*pfm::find_pmu("amd64_fam19h_zen4"))) {
    if (name.event <= 0xFF) continue;
    const Explanation high = explained(("amd64_fam19h_zen4::" + name.name).c_str());
    EXPECT_EQ(event_code(*high.perf), name.event) << name.name;
    EXPECT_EQ(fields(high)["event[11:8]"], name.event >> 8) << name.name;
    return;
  }
}

TEST(Explain, other_makers_registers) {
  const Explanation apple = explained("apple_m1::INST_LDST");
  EXPECT_EQ(apple.counters, "PMC7 (Linux); PMC5, PMC6, PMC7 (others)");
  EXPECT_EQ(apple.selector->value, 0x9Bu);
  const Explanation arm = explained("armv8_pmuv3/event=0x21/");
  EXPECT_EQ(arm.selector->value, 0x80000021u) << "P does not count EL1";
  EXPECT_EQ(explained("armv8_pmuv3/event=0x21/k").selector->value, 0x40000021u);
}

TEST(Explain, events_of_the_table_have_the_kernels_numbers_and_their_codes) {
  const Explanation one = explained("branch-misses");
  EXPECT_EQ(one.perf->type, perf_type_hardware);
  EXPECT_EQ(one.perf->config, 5u);
  EXPECT_FALSE(one.selector);
  ASSERT_FALSE(one.processors.empty());
  EXPECT_EQ(one.processors.front().name, "Intel C5/00");
  EXPECT_FALSE(explained("peak-memory").perf);
}

TEST(Explain, every_event_has_a_class_and_the_common_ones_have_pitfalls) {
  for (const Definition& line : all()) {
    const Explanation one = explained(std::string(line.name).c_str());
    EXPECT_FALSE(name(one.repeats).empty());
    EXPECT_EQ(one.repeats == Class::software, line.kind == Kind::software) << line.name;
    for (const Pitfall& pitfall : one.pitfalls) EXPECT_FALSE(pitfall.source.empty()) << line.name;
  }
  for (const char* common : {"instructions", "branches", "cycles", "loads", "cache-misses", "page-faults"}) {
    EXPECT_FALSE(explained(common).pitfalls.empty()) << common;
  }
}

}  // namespace
}  // namespace tally::event
