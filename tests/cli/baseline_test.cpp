// `tally stat --baseline`: the verdict, the exit code, and the key `gate` of the JSON result.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

class Baseline : public testing::Test {
 protected:
  // A result of `tally stat` of this command.
  static std::string counted(const Words& command, const std::string& events = "instructions") {
    const TemporaryFile file("base.json");
    const Finished finished =
        tally(with({"stat", "-q", "--repeatable", "-e", events, "-o", file.path(), "--"}, command));
    EXPECT_EQ(finished.code(), 0) << finished.err;
    return file.content().value_or("");
  }

  // The same result with this many instructions.
  static std::string with_instructions(const std::string& stored, std::int64_t instructions) {
    auto document = nlohmann::ordered_json::parse(stored);
    document["events"][0]["value"] = instructions;
    return document.dump();
  }

  static Finished compare(const std::string& stored, const Words& options, const Words& command = {"true"}) {
    const TemporaryFile base("base.json", stored);
    return tally(with(with({"stat", "-q", "--repeatable", "-e", "instructions", "--baseline", base.path()}, options),
                      with({"--"}, command)));
  }
};

TEST_F(Baseline, passes_the_same_program) {
  const Finished finished = compare(counted({"true"}), {"--fail-above", "instructions=1%"});
  EXPECT_EQ(finished.code(), 0) << finished.err;
  EXPECT_NE(finished.err.find("passed: every gate"), std::string::npos) << finished.err;
  EXPECT_LT(finished.err.find("instructions:u"), finished.err.find("passed: every gate"));
  EXPECT_EQ(finished.err.find("--all"), std::string::npos) << "an option of `tally compare` only: " << finished.err;
}

TEST_F(Baseline, fails_above_a_limit) {
  const std::string stored = with_instructions(counted({"true"}), 1000);
  const Finished failed = compare(stored, {"--fail-above", "instructions=1%"});
  EXPECT_EQ(failed.code(), 1) << failed.err;
  EXPECT_NE(failed.err.find("failed: instructions:u: 1,000"), std::string::npos) << failed.err;
  EXPECT_EQ(compare(stored, {"--warn-above", "instructions=1%"}).code(), 0);
  EXPECT_EQ(compare(stored, {}).code(), 0);
}

TEST_F(Baseline, keeps_the_exit_code_of_a_program_that_fails) {
  const std::string stored = with_instructions(counted({"true"}), 1000);
  auto document = nlohmann::ordered_json::parse(stored);
  document["command"] = {"sh", "-c", "exit 7"};
  EXPECT_EQ(compare(document.dump(), {"--fail-above", "instructions=1%"}, {"sh", "-c", "exit 7"}).code(), 7);
}

TEST_F(Baseline, says_in_json_what_was_decided) {
  const std::string stored = with_instructions(counted({"true"}), 1000);
  const TemporaryFile file("new.json");
  const Finished failed = compare(stored, {"--fail-above", "instructions=1%", "-o", file.path()});
  EXPECT_EQ(failed.code(), 1);
  EXPECT_NE(failed.err.find("tally: failed: instructions:u"), std::string::npos) << failed.err;
  const auto gate = nlohmann::json::parse(*file.content())["gate"];
  EXPECT_EQ(gate["state"], "failed");
  EXPECT_EQ(gate["gates"][0]["gate"], "instructions=1%");
  EXPECT_EQ(gate["gates"][0]["state"], "failed");
  // A result with a verdict is a baseline like any other, and `tally export` keeps it.
  const Finished exported = tally({"export", "--format", "json", file.path()});
  EXPECT_EQ(nlohmann::json::parse(exported.out)["gate"], gate) << exported.err;
}

TEST_F(Baseline, writes_the_verdict_in_every_format) {
  const std::string stored = with_instructions(counted({"true"}), 1000);
  for (const char* const name : {"comment.md", "page.html", "result.json"}) {
    const TemporaryFile file(name);
    EXPECT_EQ(compare(stored, {"--fail-above", "instructions=1%", "-o", file.path()}).code(), 1);
    const std::string text = file.content().value_or("");
    EXPECT_NE(text.find("failed: instructions:u: 1,000"), std::string::npos) << text;
    EXPECT_NE(text.find("above 1%"), std::string::npos) << text;
  }
}

TEST_F(Baseline, does_not_compare_other_programs) {
  const Finished other = compare(counted({"true"}), {"--fail-above", "instructions=1%"}, {"sh", "-c", "echo started"});
  EXPECT_EQ(other.code(), 125) << other.err;
  EXPECT_EQ(other.out, "") << "refused before the program runs";
  EXPECT_NE(other.err.find("not comparable: the results are of different programs"), std::string::npos) << other.err;
}

TEST_F(Baseline, is_undecided_where_one_run_is_not_enough) {
  auto document = nlohmann::ordered_json::parse(with_instructions(counted({"true"}), 1000));
  document["events"][0]["trust"] = "counted";
  const Finished finished = compare(document.dump(), {"--fail-above", "instructions=1%"});
  EXPECT_EQ(finished.code(), 3) << finished.err;
  EXPECT_NE(finished.err.find("-r 10"), std::string::npos) << finished.err;
  EXPECT_EQ(finished.err.find(" worse "), std::string::npos) << "the table agrees with the gate: " << finished.err;
}

// Exact counts of one run of several processes may differ from run to run.
TEST_F(Baseline, has_one_verdict_in_the_table_and_the_gate) {
  const Words command{"sh", "-c", "true; /bin/true"};
  const Finished finished =
      compare(with_instructions(counted(command), 1000), {"--fail-above", "instructions=1%"}, command);
  EXPECT_EQ(finished.code(), 3) << finished.err;
  EXPECT_NE(finished.err.find("%  undecided  exact"), std::string::npos) << finished.err;
  EXPECT_EQ(finished.err.find(" worse "), std::string::npos) << finished.err;
}

TEST_F(Baseline, reports_wrong_usage_before_it_counts) {
  const Words program{"sh", "-c", "echo started"};
  const std::string stored = counted({"sh", "-c", "echo started"}, "instructions,loads");
  for (const Words& options : {Words{"--fail-above", "instructions"}, Words{"--fail-above", "stores=1%"},
                               Words{"--fail-above", "instructions=5ms"},
                               Words{"--fail-above", "loads=1%"}}) {  // loads are in the baseline, but not counted now
    const Finished finished = compare(stored, options, program);
    EXPECT_EQ(finished.code(), 2) << finished.err;
    EXPECT_EQ(finished.out, "") << options.back();
  }
  const Finished alone = tally({"stat", "--fail-above", "instructions=1%", "--", "true"});
  EXPECT_EQ(alone.code(), 2);
  EXPECT_NE(alone.err.find("--baseline"), std::string::npos) << alone.err;
}

TEST_F(Baseline, names_a_region_that_it_lacks_before_it_counts) {
  const TemporaryFile mark("mark");
  const Words command{"sh", "-c", "echo >" + mark.path()};
  auto document = nlohmann::ordered_json::parse(counted({"true"}));
  document["command"] = command;
  const Finished finished = compare(document.dump(), {"--fail-above", "instructions@parse=1%"}, command);
  EXPECT_EQ(finished.code(), 2);
  EXPECT_TRUE(holds(finished.err, "no function or region of '")) << finished.err;
  EXPECT_TRUE(holds(finished.err, "base.json' is called 'parse'")) << finished.err;
  EXPECT_FALSE(mark.content()) << "the program ran";
}

TEST_F(Baseline, reads_gates_from_a_file) {
  const std::string stored = with_instructions(counted({"true"}), 1000);
  const TemporaryFile gates("tally-gates.toml", "[fail-above]\ninstructions = \"1%\"\n");
  EXPECT_EQ(compare(stored, {"--gates", gates.path()}).code(), 1);
  const TemporaryFile soft("tally-gates.toml", "[warn-above]\ninstructions = \"1%\"\n");
  EXPECT_EQ(compare(stored, {"--gates", soft.path()}).code(), 0);
}

TEST_F(Baseline, names_the_line_of_a_wrong_gate) {
  const std::string stored = counted({"sh", "-c", "echo started"});
  const std::pair<const char*, const char*> wrong[] = {
      {"[fail-above]\ninstructions = \"1%\"\nloads = 1\n", ":3: gate 'loads=1': the event is not in"},
      {"[fail-above]\ninstructions = \"1 %\"\n", ":2: gate"},
      {"[fail_above]\ninstructions = \"1%\"\n", ":1: unknown key 'fail_above'"},
      {"[fail-above]\ninstructions = 1%\n", ":2: "}};
  for (const auto& [text, message] : wrong) {
    const TemporaryFile gates("tally-gates.toml", text);
    const Finished finished = compare(stored, {"--gates", gates.path()}, {"sh", "-c", "echo started"});
    EXPECT_EQ(finished.code(), 2) << text;
    EXPECT_EQ(finished.out, "");
    EXPECT_NE(finished.err.find(gates.path() + message), std::string::npos) << finished.err;
  }
  const Finished missing = compare(stored, {"--gates", "/nonexistent/tally-gates.toml"});
  EXPECT_EQ(missing.code(), 2);
  EXPECT_NE(missing.err.find("/nonexistent/tally-gates.toml"), std::string::npos) << missing.err;
}

TEST_F(Baseline, says_how_to_make_a_missing_baseline) {
  const Finished missing = tally({"stat", "--baseline", "/nonexistent/base.json", "--", "true", "a b"});
  EXPECT_EQ(missing.code(), 2);
  EXPECT_NE(missing.err.find("tally stat -o /nonexistent/base.json -- true 'a b'"), std::string::npos) << missing.err;
  const TemporaryFile base("base.json", counted({"true"}));
  EXPECT_EQ(tally({"stat", "--baseline", base.path(), "-o", base.path(), "--", "true"}).code(), 2);
}

}  // namespace
}  // namespace tally::test
