// `tally register` as a user types it.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

using Json = nlohmann::json;

std::string output_of(const Words& words) {
  Words all{"register"};
  all.insert(all.end(), words.begin(), words.end());
  const Finished finished = tally(all);
  EXPECT_EQ(finished.code(), 0) << finished.err;
  EXPECT_EQ(finished.err, "");
  return finished.out;
}

Json json_of(Words words) {
  words.insert(words.begin(), "--json");
  return Json::parse(output_of(words));
}

TEST(Register, a_value_is_explained) {
  const std::string text = output_of({"0x186=0x4101C2"});
  EXPECT_TRUE(holds(text, "IA32_PERFEVTSEL0 = 0x4101c2  (MSR 186H)")) << text;
  EXPECT_TRUE(holds(text, "counts UOPS_RETIRED.ALL, in user mode")) << text;
  EXPECT_TRUE(holds(text, "it is\n          not an L3 cache miss")) << text;
  EXPECT_TRUE(holds(text, "all versions (--version 1")) << text;
  EXPECT_TRUE(holds(text, "source: Intel SDM")) << text;
}

TEST(Register, a_flag_that_is_0_is_explained_by_what_1_would_do) {
  EXPECT_TRUE(holds(output_of({"0x186=0x4101C2"}), " 17     OS         0  if 1: counts at CPL 0"))
      << output_of({"0x186=0x4101C2"});
  EXPECT_TRUE(holds(output_of({"0x186=0x4101C2"}), " 16     USR        1  counts at CPL 1 to 3"));
  const std::string filter = output_of({"PMEVTYPER0_EL0=0"});
  EXPECT_TRUE(holds(filter, " 0  counts EL1\n")) << filter;
  EXPECT_FALSE(holds(filter, "does not count EL1")) << filter;
}

TEST(Register, a_layout_has_no_values) {
  const std::string text = output_of({"0x38D"});
  EXPECT_TRUE(holds(text, "IA32_FIXED_CTR_CTRL  (MSR 38DH)")) << text;
  EXPECT_TRUE(holds(text, "the same for 1–7, 4 bits apart")) << text;
  EXPECT_FALSE(holds(text, "value")) << text;
}

TEST(Register, lines_fit_80_columns) {
  for (const Words& words : {Words{"0x38D=0x22A"},
                             {"0x186=0xFFFFFFFFFFFFFFFF"},
                             {"0x390"},
                             {"PMESR1_EL1=0x96C5"},
                             {"PERF_CTL0=0x5300C2"},
                             {"CPUID.0AH=0x07300403,1,2,0x603"},
                             {"PMCEID0=7"}}) {
    std::istringstream lines(output_of(words));
    for (std::string line; std::getline(lines, line);) {
      const auto width = std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xC0) != 0x80; });
      EXPECT_LE(width, 80) << line;
    }
  }
}

TEST(Register, ascii_is_plain) {
  const std::string text = output_of({"--ascii", "0x186=0x4100C4"});
  EXPECT_TRUE(holds(text, "+-----CMASK-----+")) << text;
  EXPECT_FALSE(holds(text, "│"));
}

TEST(Register, prints_the_value_alone) {
  EXPECT_EQ(output_of({"--value", "IA32_PERFEVTSEL0:event=0xc4,usr,en"}), "0x4100c4\n");
  EXPECT_EQ(output_of({"--value", "0x38D:USR0,PMI0,USR1,USR2", "PMCR0:EN1"}), "0x22a\n0x2\n");
}

TEST(Register, json_holds_the_same) {
  const Json json = json_of({"0x38D=0x22A", "PMCR0_EL1=0x3003400ff4ff"});
  EXPECT_EQ(json["schema"], "tally-register/1");
  ASSERT_EQ(json["registers"].size(), 2U);
  const Json& one = json["registers"][0];
  EXPECT_EQ(one["register"], "IA32_FIXED_CTR_CTRL");
  EXPECT_EQ(one["value"], 0x22A);
  EXPECT_EQ(one["hex"], "0x22a");
  EXPECT_EQ(one["model"], "intel");
  EXPECT_TRUE(one["version"].is_null());
  std::uint64_t again = 0;
  for (const Json& field : one["fields"]) {
    again |= field["value"].get<std::uint64_t>() << field["lsb"].get<int>();
  }
  EXPECT_EQ(again, 0x22AU);
  EXPECT_EQ(one["remarks"][0]["severity"], "note");
  EXPECT_EQ(json["registers"][1]["hex"], "0x3003400ff4ff");
  EXPECT_EQ(json_of({"--version", "3", "0x38D=1"})["registers"][0]["version"], 3);
  EXPECT_TRUE(json_of({"0x38D"})["registers"][0]["value"].is_null());
  EXPECT_GT(json_of({"--list"})["registers"].size(), 200U);
}

TEST(Register, a_leaf_of_this_machine) {
#if defined(__x86_64__)
  const Json json = json_of({"CPUID.01H"});
  EXPECT_NE(json["registers"][0]["value"], 0);
  EXPECT_TRUE(holds(json["registers"][0]["summary"], "family"));
#else
  EXPECT_EQ(tally({"register", "CPUID.01H"}).code(), 125);
#endif
  EXPECT_EQ(json_of({"CPUID.0AH=0x07300403,0,0,0x603"})["registers"][0]["summary"],
            "version 3: 4 counters of 48 bits, 7 architectural events known");
}

TEST(Register, a_list_of_all_and_of_some) {
  EXPECT_TRUE(holds(output_of({"--list"}), "IA32_PERFEVTSEL0 to 7  "));
  EXPECT_TRUE(holds(output_of({"--list"}), "apple: Apple M1"));
  EXPECT_TRUE(holds(output_of({"--list", "0x38D"}), "IA32_FIXED_CTR_CTRL"));
  EXPECT_FALSE(holds(output_of({"--list", "--model", "arm"}), "intel"));
  EXPECT_TRUE(holds(output_of({"--list", "pmovs*"}), "PMOVSSET_EL0"));
}

TEST(Register, mistakes_end_with_2_and_a_hint) {
  const struct {
    Words words;
    std::string message;
  } cases[] = {
      {{}, "missing REQUEST"},
      {{"0x186=0x4100C4", "IA32_PERFEVTSLE0"}, "did you mean IA32_PERFEVTSEL0"},
      {{"186=5"}, "did you mean 186H (IA32_PERFEVTSEL0)?"},
      {{"LVT=0x100000000"}, "does not fit LVT_PERFMON, which has 32 bits"},
      {{"0x186:usrr"}, "did you mean usr?"},
      {{"--version", "9", "0x186=1"}, "its versions are: 1, 2, 3, 4, 5, 6"},
      {{"--version", "9", "CR4=1"}, "x86"},
      {{"--model", "pentium", "0x186=1"}, "the models are: intel, amd, x86, arm, apple"},
      {{"--model", "arm", "0x186=1"}, "no register has the number 0x186"},
      {{"--list", "zebra"}, "no register matches 'zebra'"},
      {{"--value", "0x186"}, "'0x186' has no value to print"},
      {{"--frobnicate"}, "`tally register --help` lists the options"},
  };
  for (const auto& one : cases) {
    Words words{"register"};
    words.insert(words.end(), one.words.begin(), one.words.end());
    const Finished finished = tally(words);
    EXPECT_EQ(finished.code(), 2) << one.message;
    EXPECT_TRUE(holds(finished.err, one.message)) << one.message << "\n" << finished.err;
    EXPECT_EQ(finished.out, "") << one.message;
  }
}

TEST(Register, output_that_cannot_be_written_is_an_error) {
  Environment closed;
  closed.closed_output = true;
  EXPECT_EQ(tally({"register", "0x38D=1"}, closed).code(), 125);
}

// The tables of docs/reference/registers.md are those of the command: `tally register --reference` prints them.
TEST(Register, the_reference_is_up_to_date) {
  std::ifstream page(TALLY_REGISTER_REFERENCE);
  ASSERT_TRUE(page);
  std::istringstream reference(output_of({"--reference"}));
  std::string expected, found;
  ASSERT_TRUE(std::getline(reference, expected));
  while (found != expected) ASSERT_TRUE(std::getline(page, found)) << "the page has no line '" << expected << "'";
  int lines = 1;
  for (; std::getline(reference, expected); ++lines) {
    if (!std::getline(page, found)) found.clear();
    ASSERT_EQ(found, expected);
  }
  EXPECT_FALSE(std::getline(page, found)) << found;
  EXPECT_GT(lines, 500);
}

}  // namespace
}  // namespace tally::test
