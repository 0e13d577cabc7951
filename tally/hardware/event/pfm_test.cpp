// Tests libpfm4's names and Apple's events.
#include <gtest/gtest.h>

#include <set>

#include "tally/core/base/text.hpp"
#include "tally/hardware/event/codes.hpp"
#include "tally/hardware/event/event.hpp"
#include "tally/hardware/pmu/apple/apple_events.hpp"

namespace tally::event {
namespace {

const Sources on_haswell{"/nowhere", "hsw"};
const Sources on_zen{"/nowhere", "amd64_fam19h_zen4"};
const Sources unknown{"/nowhere", "no such processor"};

// Debian's build for another architecture contains only the tables of that one.
class Pfm : public testing::Test {
 protected:
  void SetUp() override {
    if (!pfm::find_pmu("hsw")) GTEST_SKIP() << "this libpfm4 has no tables of x86 processors";
  }
};

TEST_F(Pfm, names_with_and_without_the_processors) {
  for (const char* text : {"UOPS_RETIRED:ALL", "hsw::UOPS_RETIRED:ALL", "uops_retired.all", "HSW::Uops_Retired.All"}) {
    const auto event = parse(text, on_haswell);
    ASSERT_TRUE(event) << text << ": " << event.error().message;
    EXPECT_EQ(event->id, Id::code);
    EXPECT_EQ(event->encoding->config, 0x1C2u) << text;
    EXPECT_EQ(event->encoding->pmu, "hsw");
    EXPECT_TRUE(event->notes.empty());
  }
  EXPECT_EQ(name(*parse("uops_retired.all", on_haswell)), "UOPS_RETIRED:ALL:u");
}

TEST_F(Pfm, attributes_are_conditions_and_modes) {
  const auto event = parse("hsw::UOPS_RETIRED:ALL:u:k:c=2:i:e", on_haswell);
  ASSERT_TRUE(event);
  EXPECT_EQ(event->mode, Mode::both);
  EXPECT_EQ(event->encoding->config, 0x28401C2u);
  EXPECT_EQ(name(*event), "hsw::UOPS_RETIRED:ALL:e:i:c=2:uk");
  EXPECT_EQ(parse("hsw::UOPS_RETIRED:ALL:k", on_haswell)->mode, Mode::kernel);
  EXPECT_EQ(parse("hsw::UOPS_RETIRED:ALL:uk", on_haswell)->mode, Mode::both);
  EXPECT_EQ(parse("hsw::UOPS_RETIRED:ALL", on_haswell)->mode, Mode::user);
  EXPECT_EQ(parse("hsw::BR_INST_RETIRED:CONDITIONAL:c=1", on_haswell)->id, Id::code) << "cycles, not branches";
}

TEST_F(Pfm, architectural_events_are_the_tables) {
  const struct {
    const char* text;
    Id id;
  } cases[] = {
      {"INST_RETIRED:ANY_P", Id::instructions},
      {"nhm::INST_RETIRED:ANY_P", Id::instructions},
      {"icl::INST_RETIRED:ANY", Id::instructions},
      {"hsw::BR_INST_RETIRED:CONDITIONAL", Id::conditional_branches},
      {"icl::BR_INST_RETIRED:COND", Id::conditional_branches},
      {"icl::BR_INST_RETIRED:COND_TAKEN", Id::conditional_taken},
      {"glm::BR_INST_RETIRED:RETURN", Id::returns},
      {"hsw::BR_INST_RETIRED:NEAR_TAKEN", Id::near_branches_taken},
      {"amd64_fam19h_zen4::RETIRED_BRANCH_INSTRUCTIONS", Id::branches},
      {"amd64_fam19h_zen4::RETIRED_TAKEN_BRANCH_INSTRUCTIONS", Id::branches_taken},
      {"RETIRED_INSTRUCTIONS", Id::instructions},
      {"core::BR_INST_RETIRED:ANY", Id::branches},
      {"core::BR_INST_RETIRED:TAKEN", Id::code},
  };
  for (const auto& one : cases) {
    for (const Sources& sources : {on_haswell, on_zen, unknown}) {
      const auto event = parse(one.text, sources);
      ASSERT_TRUE(event) << one.text << ": " << event.error().message;
      EXPECT_EQ(event->id, one.id) << one.text;
    }
  }
}

TEST_F(Pfm, a_name_of_another_processor_is_read_where_all_agree) {
  const auto event = parse("INST_RETIRED:ANY_P", on_zen);
  ASSERT_EQ(event->notes.size(), 1u);
  EXPECT_NE(event->notes[0].find("not an event of this machine's processor"), std::string::npos);
  const auto several = parse("UOPS_RETIRED:ALL", on_zen);
  ASSERT_FALSE(several);
  EXPECT_NE(several.error().message.find("C2/01 on snb"), std::string::npos) << several.error().message;
  EXPECT_EQ(several.error().hint, "name the processor: snb::UOPS_RETIRED:ALL");
}

TEST_F(Pfm, errors_are_those_of_libpfm) {
  for (const char* text : {"hsw::UOPS_RETIRED:NONSENSE", "hsw::UOPS_RETIRED:ALL:c=300", "UOPS_RETIRED:ALL:z"}) {
    const auto event = parse(text, on_haswell);
    ASSERT_FALSE(event) << text;
    EXPECT_NE(event.error().message.find("libpfm4"), std::string::npos) << event.error().message;
  }
  for (const char* text :
       {"hsw::", "hsw::NONSENSE", "nonsense::UOPS_RETIRED:ALL", "::", "hsw::UOPS_RETIRED:", "a::b::c"}) {
    EXPECT_FALSE(parse(text, on_haswell)) << text;
  }
}

// Checks known_codes() against an independent table: libpfm4's encodings of the same names.
TEST_F(Pfm, known_codes_are_libpfms) {
  std::size_t compared = 0;
  for (const pfm::Pmu& pmu : pfm::pmus()) {
    if (!is_x86(pmu.family)) continue;
    for (const KnownCode& line : known_codes()) {
      if (!(line.families & 1U << static_cast<unsigned>(pmu.family)) || line.event == 0) continue;
      std::string text(line.name);
      const auto found = pfm::encode(pmu, text);
      if (!found || !*found) continue;
      ++compared;
      // A known name must have a known code that counts the same, not necessarily from this row.
      const auto there = known_code((*found)->encoding);
      if (line.id) {
        EXPECT_TRUE(there && there->id == line.id)
            << pmu.name << "::" << line.name << " is " << code_text((*found)->encoding);
      }
    }
  }
  EXPECT_GT(compared, 300u);
}

TEST_F(Pfm, every_name_of_every_table_is_understood) {
  std::size_t names = 0;
  for (const pfm::Pmu& pmu : pfm::pmus()) {
    for (const pfm::Name& one : pfm::names(pmu)) {
      const auto found = pfm::encode(pmu, one.name);
      ASSERT_TRUE(found) << pmu.name << "::" << one.name;
      // Some unit masks require another one.
      names += found->has_value();
    }
  }
  EXPECT_GT(names, 8000u);
}

TEST_F(Pfm, programmable_counters_are_those_of_the_processor) {
  for (const auto& [name, counters] : {std::pair{"nhm", 4}, {"hsw", 8}, {"icl", 8}, {"spr", 8}}) {
    EXPECT_EQ(pfm::find_pmu(name)->counters, counters) << name;
  }
}

TEST(AppleM1, every_event_has_the_kernels_or_the_frameworks_name) {
  std::set<std::string> names;
  std::set<unsigned> codes;
  unsigned linux_names = 0;
  unsigned framework_names = 0;
  for (const pmu::apple::Event& line : pmu::apple::events()) {
    EXPECT_TRUE(codes.insert(line.code).second);
    EXPECT_FALSE(line.linux_name.empty() && line.framework_name.empty());
    EXPECT_NE(line.counters, 0);
    linux_names += !line.linux_name.empty();
    for (const std::string& word : split(line.framework_name, ' ')) framework_names += !word.empty();
    for (const std::string_view name : {line.linux_name, line.framework_name}) {
      for (const std::string& word : split(name, ' ')) {
        if (word.empty() || word == "indirect_branch_misprediction") continue;  // C6 and CA share it
        EXPECT_TRUE(names.insert(word).second) << word;
        const auto event = parse("apple_m1::" + word + ":k", unknown);
        ASSERT_TRUE(event) << word;
        EXPECT_EQ(event->encoding->config, line.code) << word;
        EXPECT_EQ(event->encoding->family, Family::apple);
        EXPECT_EQ(event->mode, Mode::kernel);
      }
    }
  }
  EXPECT_EQ(linux_names, 65u);      // drivers/perf/apple_m1_cpu_pmu.c, enum m1_pmu_events
  EXPECT_EQ(framework_names, 59u);  // both tables of the framework's page, C6 and CA apart
  EXPECT_EQ(parse("M1_PMU_PERFCTR_INST_ALL", unknown)->encoding->config, 0x8Cu);
  EXPECT_EQ(parse("retired_uops", unknown)->encoding->config, 1u);
  EXPECT_EQ(parse("cycle", unknown)->id, Id::cycles) << "without the prefix it is the event of every machine";
}

TEST(AppleM1, counters_are_the_drivers) {
  EXPECT_EQ(pmu::apple::find_event(0x8C)->counters, 0x82);
  EXPECT_EQ(pmu::apple::find_event(0x02)->counters, 0x3FD);
  EXPECT_EQ(pmu::apple::find_event(0x96)->counters, 0x80);
  EXPECT_EQ(pmu::apple::find_event(0x96)->observed, 0xE0);
  EXPECT_EQ(pmu::apple::find_event(0xF5)->counters, 0x54);
  EXPECT_EQ(pmu::apple::find_event(0xF8)->counters, 0xFC);
  EXPECT_EQ(pmu::apple::find_event(0x52)->counters, 0x3FC);
}

}  // namespace
}  // namespace tally::event
