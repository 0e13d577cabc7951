// `tally stat --function`, `--from` and `--to`: programs without tally's calls, under the engine.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

using nlohmann::json;

Words stat_words(const Words& options, const Words& program) {
  Words words{"stat", "--backend", "engine", "-q"};
  words.insert(words.end(), options.begin(), options.end());
  words.emplace_back("--");
  words.insert(words.end(), program.begin(), program.end());
  return words;
}

struct Numbers {
  std::int64_t entries, total, least, most;
  bool operator==(const Numbers&) const = default;
};
std::ostream& operator<<(std::ostream& stream, const Numbers& n) {
  return stream << n.entries << " entries, " << n.total << ", " << n.least << " to " << n.most;
}

// The counts of `program` with these options, from the JSON.
class Counted {
 public:
  Counted(const Words& options, const Words& program) {
    const TemporaryFile file("result.json");
    Words all{"--format", "json", "-o", file.path()};
    all.insert(all.end(), options.begin(), options.end());
    const Finished finished = tally(stat_words(all, program));
    EXPECT_EQ(finished.code(), 0) << finished.err;
    result_ = json::parse(file.content().value_or(""), nullptr, false);
  }

  const json& region(const std::string& name, std::size_t process = 0) const {
    static const json none;
    if (!result_.contains("regions") || result_["regions"].size() <= process) return none;
    for (const json& region : result_["regions"][process]["regions"]) {
      if (region["region"] == name) return region;
    }
    return none;
  }
  Numbers of(const std::string& name, std::size_t event = 0, std::size_t process = 0) const {
    return numbers(region(name, process), event);
  }
  static Numbers numbers(const json& counts, std::size_t event = 0) {
    if (counts.is_null()) return {};
    const json& one = counts["events"][event];
    return {counts["entries"], one["value"], one["least"], one["most"]};
  }

 private:
  json result_;
};

// However the engine cuts code into traces, discards them or re-creates them.
class Functions : public testing::TestWithParam<Words> {
 protected:
  Counted counted(Words options, const Words& program, const char* events = "instructions,branches") const {
    options.insert(options.end(), {"-e", events});
    options.insert(options.end(), GetParam().begin(), GetParam().end());
    return {options, program};
  }
};

TEST_P(Functions, AreCountedToTheInstruction) {
  const Counted result = counted({"--function", "known"}, {PARTS, "known"});
  EXPECT_EQ(result.of("known"), (Numbers{7, 63, 3, 15}));
  EXPECT_EQ(result.of("known", 1), (Numbers{7, 35, 2, 8}));
  EXPECT_EQ(result.region("known")["events"][0]["trust"], "exact");
  EXPECT_EQ(result.region("known")["recursive"], 0);  // it jumps to its own beginning, and calls no function
}

TEST_P(Functions, AreCountedOftenAndManyAtATime) {
  const Counted result = counted({"--function", "known", "--function", "main"}, {PARTS, "often"});
  EXPECT_EQ(result.of("known"), (Numbers{100'000, 700'000, 7, 7}));
  EXPECT_EQ(result.of("main").entries, 1);
  EXPECT_GT(result.of("main").total, 1'000'000);
}

TEST_P(Functions, EndAfterTheirTailCalls) {
  const Counted result = counted({"--function", "jumped_to", "--function", "known"}, {PARTS, "tail"});
  EXPECT_EQ(result.of("jumped_to"), (Numbers{4, 28, 4, 10}));
  EXPECT_EQ(result.of("known"), (Numbers{4, 24, 3, 9}));
}

TEST_P(Functions, AreEnteredOnceHoweverDeepTheyRecurse) {
  const Counted result = counted({"--function", "down"}, {PARTS, "down"});
  EXPECT_EQ(result.of("down"), (Numbers{2, 54, 21, 33}));
  EXPECT_EQ(result.region("down")["recursive"], 8);
}

TEST_P(Functions, EndWhereALongjmpLands) {
  const Counted result = counted({"--function", "leaps", "--from", "leaps", "--to", "landing"}, {PARTS, "leap"});
  EXPECT_EQ(result.of("leaps").entries, 20);
  EXPECT_EQ(result.of("leaps"), result.of("leaps .. landing"));
  EXPECT_EQ(result.region("leaps")["dropped"], 0);
}

TEST_P(Functions, EndWhereAnExceptionLands) {
  const Counted result =
      counted({"--function", "parts::throws", "--from", "parts::throws(int)", "--to", "__cxa_begin_catch"},
              {PARTS, "throw"}, "instructions");
  const Numbers function = result.of("parts::throws");
  const Numbers poll = result.of("parts::throws(int) .. __cxa_begin_catch");
  EXPECT_EQ(function.entries, 20);
  EXPECT_EQ(result.region("parts::throws")["recursive"], 60);
  EXPECT_EQ(result.region("parts::throws")["dropped"], 0);
  // It begins again in each recursive call, and ends some instructions after the landing.
  EXPECT_EQ(poll.entries, 20);
  EXPECT_GT(function.least, poll.least);
  EXPECT_LT(function.least, poll.least + 60);
}

TEST_P(Functions, CountTheSameHoweverTheyAreTranslated) {
  const Words options{"--repeatable", "--function", "main", "--function", "parts::throws"};
  const Counted result = counted(options, {PARTS, "throw"});
  Words plain = options;
  plain.insert(plain.end(), {"-e", "instructions,branches"});
  const Counted expected(plain, {PARTS, "throw"});
  for (const char* name : {"main", "parts::throws"}) {
    EXPECT_EQ(result.of(name), expected.of(name)) << name;
    EXPECT_EQ(result.of(name, 1), expected.of(name, 1)) << name;
  }
}

TEST_P(Functions, AreFoundByTheNamesOfTheirSource) {
  const Counted result =
      counted({"--function", "parts::over(double)", "--function", "parts::Object::Object"}, {PARTS, "over"});
  EXPECT_EQ(result.of("parts::over(double)").entries, 1);
  EXPECT_EQ(result.of("parts::Object::Object").entries, 1);
}

TEST_P(Functions, HaveTheirCountsByThread) {
  const Counted result = counted({"--function", "known"}, {PARTS, "threads"});
  EXPECT_EQ(result.of("known"), (Numbers{6, 3 + 2 * 5 + 3 * 7, 3, 7}));
  const json& threads = result.region("known")["threads"];
  ASSERT_EQ(threads.size(), 3u);
  std::vector<std::int64_t> totals;
  for (const json& thread : threads) totals.push_back(Counted::numbers(thread).total);
  std::sort(totals.begin(), totals.end());
  EXPECT_EQ(totals, (std::vector<std::int64_t>{3, 10, 21}));
}

TEST_P(Functions, HaveTheirCountsByProcess) {
  const Counted result = counted({"--function", "known", "--function", "main"}, {PARTS, "fork"});
  EXPECT_EQ(result.of("known", 0, 0), (Numbers{1, 3, 3, 3}));
  EXPECT_EQ(result.of("known", 0, 1), (Numbers{2, 10, 5, 5}));
  // The child did not enter it.
  EXPECT_EQ(result.of("main", 0, 0).entries, 1);
  EXPECT_TRUE(result.region("main", 1).is_null());
}

TEST_P(Functions, ThatAThreadEndsInAreCountedUntilThen) {
  const Counted result = counted({"--function", "parts::ends"}, {PARTS, "exit"});
  EXPECT_EQ(result.of("parts::ends").entries, 1);
  EXPECT_GT(result.of("parts::ends").total, 100);  // exit(3) has work to do
  EXPECT_EQ(result.region("parts::ends")["open"], 1);
}

TEST_P(Functions, OfLibrariesThatAreLoadedLaterAreFound) {
  const Counted result = counted({"--function", "late"}, {PARTS, "load", LATE});
  EXPECT_EQ(result.of("late"), (Numbers{3, 12, 4, 4}));
  const Counted named = counted({"--function", "parts_late:late"}, {PARTS, "load", LATE});
  EXPECT_EQ(named.of("parts_late:late"), (Numbers{3, 12, 4, 4}));
}

TEST_P(Functions, AreCountedByModelsToo) {
  const Counted result = counted({"--model", "haswell", "--function", "touches"}, {PARTS, "touch"},
                                 "L1-dcache-load-misses,loads,cycles,L1-load-hits,r81d0");
  EXPECT_EQ(result.of("touches"), (Numbers{1, 128, 128, 128}));
  EXPECT_EQ(result.of("touches", 1), (Numbers{1, 129, 129, 129}));  // and the load of the return address
  const json& region = result.region("touches");
  EXPECT_EQ(region["events"][0]["trust"], "modelled");
  EXPECT_EQ(region["events"][2]["trust"], "modelled");
  EXPECT_GT(region["events"][2]["value"], 128 * 12) << "each line of the stream takes longer than a hit in L1";
  EXPECT_EQ(result.of("touches", 3), (Numbers{1, 1, 1, 1}));  // the return address: a number of both kinds
  EXPECT_EQ(result.of("touches", 4), (Numbers{1, 129, 129, 129}));
}

TEST_P(Functions, AddressesMayBeOfAnyInstruction) {
  // After `dec %rdi`, and at the return: the code between has one jump less than known(n).
  const Counted result = counted({"--from", "known+3", "--to", "known+5"}, {PARTS, "known"});
  EXPECT_EQ(result.of("known+3 .. known+5").entries, 7);
  const Counted turns = counted({"--from", "known", "--to", "known"}, {PARTS, "known"}, "instructions");
  // It was passed 28 times, and the end of the program ends the last region.
  EXPECT_EQ(turns.of("known .. known").entries, 28);
  EXPECT_EQ(turns.region("known .. known")["open"], 1);
  EXPECT_EQ(turns.of("known .. known").least, 2);
}

INSTANTIATE_TEST_SUITE_P(Each, Functions,
                         testing::Values(Words{}, Words{"--block-size", "1"}, Words{"--hot-from", "1"},
                                         Words{"--cache-limit", "200"}),
                         [](const auto& one) {
                           return one.param.empty()                ? std::string("as_it_is")
                                  : one.param[0] == "--block-size" ? "single"
                                  : one.param[0] == "--hot-from"   ? "reoptimized"
                                                                   : "thrown_away";
                         });

TEST(FunctionRegions, TheTableAndRowsShowEntries) {
  const Finished table = tally(stat_words({"-e", "instructions", "--function", "down"}, {PARTS, "down"}));
  EXPECT_NE(table.err.find("down: 2 entries, plus 8 recursive"), std::string::npos) << table.err;
  const Finished rows =
      tally(stat_words({"-e", "instructions", "--function", "down", "--format", "csv"}, {PARTS, "down"}));
  EXPECT_NE(rows.err.find(",down,entries,2,exact"), std::string::npos) << rows.err;
  EXPECT_NE(rows.err.find(",down,instructions:u,54,exact"), std::string::npos) << rows.err;
}

/// Without symbols, tally names functions by their file and address.
TEST(FunctionRegions, AreFoundByEachNameThatAProfilePrints) {
  const TemporaryFile file("profile.json");
  const Finished profile =
      tally({"profile", "-q", "--backend", "engine", "-e", "instructions", "-o", file.path(), "--", STRIPPED, "known"});
  ASSERT_EQ(profile.code(), 0) << profile.err;
  const json functions = json::parse(file.content().value_or(""), nullptr, false)["functions"];
  const std::string prefix = "parts_stripped+";
  int found = 0;
  for (const json& function : functions) {
    const std::string name = function["name"];
    if (!name.starts_with(prefix + "0x")) continue;
    ++found;
    const std::string address = name.substr(prefix.size());
    const Counted result({"-e", "instructions", "--repeatable", "--function", name, "--from", name, "--to", address},
                         {STRIPPED, "known"});
    EXPECT_GT(result.of(name).entries, 0) << name;
    const Counted by_address({"-e", "instructions", "--repeatable", "--function", address}, {STRIPPED, "known"});
    EXPECT_EQ(result.of(name), by_address.of(address));
  }
  EXPECT_GT(found, 2) << functions;
}

/// The dynamic linker has the names of its debug file, or addresses; functions that choose an implementation have a
/// mark.
TEST(FunctionRegions, OfTheDynamicLinkerAndOfThoseThatChooseAnImplementationAreFound) {
  const TemporaryFile file("profile.json");
  const Finished profile =
      tally({"profile", "-q", "--backend", "engine", "-e", "instructions", "-o", file.path(), "--", "ls", "/"});
  ASSERT_EQ(profile.code(), 0) << profile.err;
  Words options{"-e", "instructions"}, names;
  int of_linker = 0, choosing = 0;
  const json functions = json::parse(file.content().value_or(""), nullptr, false)["functions"];
  for (const json& function : functions) {
    const std::string name = function["name"];
    const bool is_of_linker = name == "_dl_relocate_object" || name.starts_with("ld-linux-x86-64.so.2+0x");
    const bool chooses = name.ends_with("@ifunc");
    if (!is_of_linker && !chooses) continue;
    if (++(chooses ? choosing : of_linker) > 3) continue;
    names.push_back(name);
    options.insert(options.end(), {"--function", name});
  }
  ASSERT_GT(of_linker, 0);
  ASSERT_GT(choosing, 0);
  const Counted result(options, {"ls", "/"});
  for (const std::string& name : names) EXPECT_GT(result.of(name).entries, 0) << name;
}

TEST(FunctionRegions, MissingFunctionsAreReportedWithTheFilesThatWereSearched) {
  const Finished finished = tally(stat_words({"-e", "instructions", "--function", "knwon"}, {PARTS, "known"}));
  EXPECT_EQ(finished.code(), 125);
  EXPECT_NE(finished.err.find("no function 'knwon' in the code that was mapped: "), std::string::npos) << finished.err;
  EXPECT_NE(finished.err.find("did you mean known"), std::string::npos) << finished.err;
  EXPECT_NE(finished.err.find("instructions:u"), std::string::npos) << finished.err;  // the rest was counted
  // A name without its scope is found with its scope.
  const Finished scoped = tally(stat_words({"-e", "instructions", "--function", "thrwos"}, {PARTS, "known"}));
  EXPECT_NE(scoped.err.find("did you mean parts::throws"), std::string::npos) << scoped.err;
  const Finished stripped = tally(stat_words({"-e", "instructions", "--function", "known"}, {STRIPPED, "known"}));
  EXPECT_EQ(stripped.code(), 125);
  EXPECT_NE(stripped.err.find("parts_stripped (stripped: "), std::string::npos) << stripped.err;
  const Finished inlined = tally(stat_words({"--function", "std::to_string"}, {PARTS, "known"}));
  EXPECT_NE(inlined.err.find("it may be inlined: `tally profile --inlines`"), std::string::npos) << inlined.err;
  EXPECT_NE(inlined.err.find(" other file"), std::string::npos) << inlined.err;
  const Finished section = tally(stat_words({"--function", "[.text]"}, {PARTS, "known"}));
  EXPECT_NE(section.err.find("'[.text]' is code outside of known functions"), std::string::npos) << section.err;
  // An address needs no name. The program's own exit code has priority over tally's.
  EXPECT_EQ(tally(stat_words({"--function", "knwon"}, {PARTS, "nothing"})).code(), 1);
}

// glibc's memcpy is chosen when the library is loaded; next to it is an older version that is one function.
TEST(FunctionRegions, FunctionsChosenAtLoadTimeAreRefused) {
  const Finished finished = tally(stat_words({"-e", "instructions", "--function", "memcpy"}, {"ls", "/"}));
  EXPECT_EQ(finished.code(), 125);
  EXPECT_NE(finished.err.find("is not one function"), std::string::npos) << finished.err;
}

TEST(FunctionRegions, AmbiguousNamesAreRefusedBeforeTheProgramRuns) {
  const Finished finished = tally(stat_words({"--function", "parts::over"}, {PARTS, "over"}));
  EXPECT_EQ(finished.code(), 2);
  EXPECT_NE(finished.err.find("'parts::over' is the name of 2 functions in parts:"), std::string::npos) << finished.err;
  EXPECT_NE(finished.err.find("parts::over(double)"), std::string::npos) << finished.err;
}

TEST(FunctionRegions, OtherBackendsRefuseThem) {
  const Finished none = tally({"stat", "--backend", "none", "--function", "main", "--", "true"});
  EXPECT_EQ(none.code(), 125);
  EXPECT_NE(none.err.find("under the engine only"), std::string::npos) << none.err;
  const Finished half = tally({"stat", "--from", "main", "--", "true"});
  EXPECT_EQ(half.code(), 2);
  EXPECT_NE(half.err.find("must be used together"), std::string::npos) << half.err;
  EXPECT_EQ(tally({"stat", "--function", ":f", "--", "true"}).code(), 2);
}

// The tutorials' ratios of HPCTool, for a marked region.
TEST(Metrics, AreThoseOfEachRegion) {
  for (const Words& part : {Words{"--function", "known"}, Words{"--from", "known", "--to", "known"}}) {
    const TemporaryFile file("result.json");
    Words words{"--format",
                "json",
                "-o",
                file.path(),
                "--model",
                "haswell",
                "--metrics",
                "IPC,branch-misses-per-instruction,cache-misses-per-instruction,loads-per-instruction,"
                "stores-per-instruction,branch-rate"};
    words.insert(words.end(), part.begin(), part.end());
    ASSERT_EQ(tally(stat_words(words, {PARTS, "known"})).code(), 0);
    const json result = json::parse(file.content().value_or(""), nullptr, false);
    const json& region = result.at("regions").at(0).at("regions").at(0);
    std::map<std::string, json> metrics;
    for (const json& one : region.at("metrics")) metrics[one.at("metric").get<std::string>()] = one;
    for (const char* modelled : {"IPC", "branch-misses-per-instruction", "cache-misses-per-instruction"})
      EXPECT_EQ(metrics.at(modelled).at("trust"), "modelled") << modelled;
    for (const char* exact : {"loads-per-instruction", "stores-per-instruction", "branch-rate"})
      EXPECT_EQ(metrics.at(exact).at("trust"), "exact") << exact;
    if (part[0] != "--function") continue;
    EXPECT_DOUBLE_EQ(metrics.at("branch-rate").at("value").get<double>(), 35.0 / 63.0);
    const Finished table = tally(stat_words({"--metrics", "branch-rate", "--function", "known"}, {PARTS, "known"}));
    EXPECT_NE(table.err.rfind(" branch-rate "), table.err.find(" branch-rate "))
        << "of the whole program, and of the part";
  }
}

TEST(Events, ThatOnlyAWholeCommandHasAreAbsentInRegionsWithTheReason) {
  const Words csv{"--format", "csv", "-o", "-", "--function", "known"};
  Words asked = csv;
  asked.insert(asked.end(), {"-e", "page-faults,instructions"});
  const std::string rows = tally(stat_words(asked, {PARTS, "known"})).out;
  EXPECT_NE(rows.find(",known,page-faults,,absent,"), std::string::npos) << rows;
  EXPECT_NE(rows.find("the kernel reports it only for the whole command"), std::string::npos) << rows;
  EXPECT_NE(rows.find(",known,instructions:u,63,exact"), std::string::npos) << rows;
  const std::string usual = tally(stat_words(csv, {PARTS, "known"})).out;
  EXPECT_EQ(usual.find(",known,page-faults"), std::string::npos) << "not requested: " << usual;
}

// A row of HPCTool's or fields of perf's are for a whole program: nobody must mistake them for the region's.
TEST(FormatsWithoutRegions, AreRefusedBeforeTheProgramRuns) {
  const TemporaryFile trace("trace");
  for (const Words& part :
       {Words{"--trap", "int2e"}, Words{"--function", "main"}, Words{"--from", "main", "--to", "exit"}}) {
    for (const Words& format : {Words{"--format", "hpctool"}, Words{"-x", ","}}) {
      Words words{"--model", "haswell", "-e", "instructions,cycles,ref-cycles,branches,loads,stores,calls"};
      words.insert(words.end(), part.begin(), part.end());
      words.insert(words.end(), format.begin(), format.end());
      const Finished finished = tally(stat_words(words, {"touch", trace.path()}));
      EXPECT_EQ(finished.code(), 2) << finished.err;
      const std::string asked = format.front() == "-x" ? "-x" : "the format hpctool";
      EXPECT_NE(finished.err.find(asked + " cannot represent regions of a program"), std::string::npos) << finished.err;
      EXPECT_FALSE(trace.content());
    }
  }
}

TEST(FormatsWithoutRegions, AreRefusedForStoredResultsToo) {
  const TemporaryFile stored("result.json");
  const Words words{
      "--model", "haswell", "--function",  "known", "--format",
      "json",    "-o",      stored.path(), "-e",    "instructions,cycles,ref-cycles,branches,loads,stores,calls"};
  ASSERT_EQ(tally(stat_words(words, {PARTS, "known"})).code(), 0);
  const Finished refused = tally({"export", "--format", "hpctool", stored.path()});
  EXPECT_EQ(refused.code(), 2);
  EXPECT_EQ(refused.out, "");
  EXPECT_NE(refused.err.find("cannot represent regions of a program"), std::string::npos) << refused.err;
  EXPECT_NE(tally({"export", stored.path()}).out.find(",known,instructions:u,63,exact"), std::string::npos);
}

}  // namespace
}  // namespace tally::test
