#include "programs/callgrind/valgrind_options.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "programs/callgrind/valgrind_log.hpp"
#include "programs/callgrind/valgrind_names.hpp"

namespace tally::callgrind {
namespace {

using Words = std::vector<std::string>;
using Tool = ValgrindOptions::Tool;

ValgrindOptions parsed(const Words& words) {
  const auto options = parse_valgrind_options(words, {});
  EXPECT_TRUE(options) << options.error().message;
  return options ? *options : ValgrindOptions{};
}

std::string refused(const Words& words) {
  const auto options = parse_valgrind_options(words, {});
  return options ? "" : options.error().message;
}

TEST(ValgrindOptions, end_at_the_program) {
  const ValgrindOptions options = parsed({"-q", "--tool=callgrind", "--trace-children=yes", "prog", "--cache-sim=yes"});
  EXPECT_EQ(options.tool, Tool::callgrind);
  EXPECT_TRUE(options.quiet);
  EXPECT_TRUE(options.traces_children);
  EXPECT_FALSE(options.simulates_caches()) << "this is the program's option";
  EXPECT_EQ(options.command, (Words{"prog", "--cache-sim=yes"}));
  EXPECT_EQ(parsed({"--tool=cachegrind", "--", "-prog"}).command, Words{"-prog"});
}

TEST(ValgrindOptions, may_have_their_value_in_the_next_word) {
  const ValgrindOptions options = parsed({"--tool", "callgrind", "--toggle-collect", "f", "prog"});
  EXPECT_EQ(options.tool, Tool::callgrind);
  EXPECT_EQ(options.toggles, Words{"f"});
  EXPECT_EQ(options.command, Words{"prog"});
}

TEST(ValgrindOptions, of_one_tool_may_begin_with_its_name) {
  EXPECT_TRUE(parsed({"--callgrind:dump-instr=yes"}).dump_instructions);
}

TEST(ValgrindOptions, caches_have_three_numbers) {
  const ValgrindOptions options = parsed({"--tool=callgrind", "--D1=32768,8,64"});
  EXPECT_EQ(options.d1, (CacheGeometry{32768, 8, 64}));
  EXPECT_TRUE(options.simulates_caches()) << "a cache implies the simulation";
  EXPECT_FALSE(parsed({"--cache-sim=no", "--D1=32768,8,64"}).simulates_caches());
  EXPECT_TRUE(parsed({"--tool=cachegrind"}).simulates_caches());
  EXPECT_NE(refused({"--LL=8388608,16"}), "");
  EXPECT_NE(refused({"--LL=8388608,16,x"}), "");
  EXPECT_NE(refused({"--I1=1000,3,64"}), "");
}

TEST(ValgrindOptions, without_effect_are_named) {
  EXPECT_EQ(parsed({"--vgdb=no", "--fair-sched=try", "--read-inline-info=yes", "-s"}).notes, Words{});
  EXPECT_EQ(parsed({"--collect-jumps=no", "--separate-callers=0", "--demangle=yes"}).notes, Words{});
  const Words notes = parsed({"--collect-systime=nsec", "--separate-callers2=f", "--demangle=no", "--new=1"}).notes;
  ASSERT_EQ(notes.size(), 4u);
  EXPECT_EQ(notes[0].find("--collect-systime=nsec is ignored: "), 0u);
  EXPECT_EQ(notes[1].find("--separate-callers2=f is ignored: "), 0u);
  EXPECT_EQ(notes[2].find("--demangle=no is ignored: "), 0u);
  EXPECT_EQ(notes[3], "--new=1 is unknown, and ignored");
}

TEST(ValgrindOptions, that_change_counts_are_refused) {
  EXPECT_NE(refused({"--dump-before=f"}), "");
  EXPECT_NE(refused({"--simulate-hwpref=yes"}), "");
  EXPECT_EQ(refused({"--simulate-hwpref=no"}), "");
  EXPECT_EQ(refused({"--dump-every-bb=0"}), "");
}

TEST(ValgrindOptions, with_wrong_values_are_refused) {
  EXPECT_EQ(refused({"--cache-sim=maybe"}), "--cache-sim=maybe: 'yes' or 'no' is needed");
  EXPECT_EQ(refused({"--tool=memchek"}), "--tool=memchek: tally has callgrind and cachegrind");
  EXPECT_EQ(refused({"--cache-sim"}), "missing value: --cache-sim=yes|no");
  EXPECT_EQ(refused({"--quiet=yes"}), "--quiet has no value");
  EXPECT_EQ(refused({"--log-fd=x"}), "--log-fd=x: a descriptor is needed");
}

TEST(ValgrindOptions, of_the_table_are_read) {
  for (const ValgrindOption& option : valgrind_options()) {
    if (option.use != OptionUse::used) continue;
    const std::string word = "--" + std::string(option.name);
    std::string value = "x";
    if (option.value == "yes|no") value = "yes";
    if (option.value == "TOOL") value = "cachegrind";
    if (option.value == "N") value = "3";
    if (option.value == "SIZE,WAYS,LINE") value = "32768,8,64";
    const auto plain = parse_valgrind_options({}, {});
    const auto one = parse_valgrind_options({option.value.empty() ? word : word + "=" + value}, {});
    ASSERT_TRUE(one) << one.error().message;
    EXPECT_EQ(one->notes, Words{}) << word;
    EXPECT_NE(option.text, "") << word;
  }
}

TEST(ValgrindNames, contain_the_process_and_variables) {
  const Variable variable = [](const std::string& name) { return name == "HERE" ? "there" : nullptr; };
  EXPECT_EQ(file_name_of("--log-file", "a.%p.%q{HERE}.%n.%%", 12, variable).value_or(""), "a.12.there.1.%");
  EXPECT_FALSE(file_name_of("--log-file", "%q{MISSING}", 12, variable));
  EXPECT_FALSE(file_name_of("--log-file", "%q", 12, variable));
  EXPECT_FALSE(file_name_of("--log-file", "%x", 12, variable));
  EXPECT_FALSE(file_name_of("--log-file", "a%", 12, variable));
}

// The lines that callgrind 3.19 printed for these counts.
TEST(ValgrindLog, summarizes_as_callgrind_does) {
  const std::vector<NamedCount> counts{{"Ir", 133431}, {"Dr", 29269},  {"Dw", 12934}, {"I1mr", 1222}, {"D1mr", 922},
                                       {"D1mw", 602},  {"ILmr", 1204}, {"DLmr", 772}, {"DLmw", 579},  {"Bc", 26786},
                                       {"Bcm", 3304},  {"Bi", 311},    {"Bim", 168}};
  EXPECT_EQ(collected_lines(counts),
            (Words{"Events    : Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw Bc Bcm Bi Bim",
                   "Collected : 133431 29269 12934 1222 922 602 1204 772 579 26786 3304 311 168"}));
  EXPECT_EQ(
      summary_lines(counts, false),
      (Words{"I   refs:      133,431", "I1  misses:      1,222", "LLi misses:      1,204", "I1  miss rate:    0.92%",
             "LLi miss rate:    0.90%", "", "D   refs:       42,203  (29,269 rd + 12,934 wr)",
             "D1  misses:      1,524  (   922 rd +    602 wr)", "LLd misses:      1,351  (   772 rd +    579 wr)",
             "D1  miss rate:     3.6% (   3.2%   +    4.7%  )", "LLd miss rate:     3.2% (   2.6%   +    4.5%  )", "",
             "LL refs:         2,746  ( 2,144 rd +    602 wr)", "LL misses:       2,555  ( 1,976 rd +    579 wr)",
             "LL miss rate:      1.5% (   1.2%   +    4.5%  )", "",
             "Branches:       27,097  (26,786 cond +    311 ind)", "Mispredicts:     3,472  ( 3,304 cond +    168 ind)",
             "Mispred rate:     12.8% (  12.3%     +   54.0%   )"}));
}

// The lines that cachegrind 3.19 printed for these counts.
TEST(ValgrindLog, summarizes_as_cachegrind_does) {
  const std::vector<NamedCount> counts{{"Ir", 132544}, {"I1mr", 1211}, {"ILmr", 1193}, {"Dr", 30018}, {"D1mr", 1141},
                                       {"DLmr", 995},  {"Dw", 11065},  {"D1mw", 375},  {"DLmw", 350}};
  const Words lines = summary_lines(counts, true);
  ASSERT_EQ(lines.size(), 15u);
  EXPECT_EQ(lines[6], "D   refs:       41,083  (30,018 rd   + 11,065 wr)");
  EXPECT_EQ(lines[9], "D1  miss rate:     3.7% (   3.8%     +    3.4%  )");
  const Words branches = summary_lines({{"Ir", 132544}, {"Bc", 26216}, {"Bcm", 3302}, {"Bi", 294}, {"Bim", 157}}, true);
  EXPECT_EQ(branches, (Words{"I   refs:      132,544", "", "Branches:       26,510  (26,216 cond + 294 ind)",
                             "Mispredicts:     3,459  ( 3,302 cond + 157 ind)",
                             "Mispred rate:     13.0% (  12.6%     + 53.4%   )"}));
}

TEST(ValgrindLog, lines_begin_with_the_process) {
  EXPECT_EQ(log_lines(7, {"a", ""}), "==7== a\n==7== \n");
  EXPECT_EQ(log_warning(7, "a"), "--7-- warning: a\n");
}

}  // namespace
}  // namespace tally::callgrind
