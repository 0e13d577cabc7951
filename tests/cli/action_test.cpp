// action.yml: its steps, run here as GitHub runs them.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>

#include "tally/output/result/setting.hpp"
#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

namespace fs = std::filesystem;

const std::string root = TALLY_GOLDEN "/../..";

// What the file needs of YAML: the defaults of the inputs, the environment of the step, and its command.
struct Action {
  std::map<std::string, std::string> defaults, environment;
  std::vector<std::string> commands;
};

Action read_action() {
  Action action;
  std::istringstream lines(*TemporaryFile::read(root + "/action.yml"));
  std::string input;
  std::smatch parts;
  for (std::string line; std::getline(lines, line);) {
    if (std::regex_match(line, parts, std::regex(R"(  ([a-z-]+):)"))) input = parts[1];
    if (std::regex_match(line, parts, std::regex(R"x(    default: "?([^"]*)"?)x"))) action.defaults[input] = parts[1];
    if (std::regex_match(line, parts, std::regex(R"(        ([A-Z_]+): \$\{\{ inputs\.([a-z-]+) \}\})")))
      action.environment[parts[1]] = parts[2];
    if (std::regex_match(line, parts, std::regex(R"(      run: '(.*)')"))) action.commands.push_back(parts[1]);
  }
  return action;
}

// Runs the steps in `folder` with these inputs, as GitHub does.
Finished run_action(const fs::path& folder, std::map<std::string, std::string> inputs) {
  const Action action = read_action();
  for (const auto& [name, text] : action.defaults) inputs.try_emplace(name, text);
  Words words{"/usr/bin/env",
              "-C",
              folder.string(),
              "GITHUB_ACTION_PATH=" + root,
              "GITHUB_STEP_SUMMARY=summary.md",
              "GITHUB_OUTPUT=output.txt"};
  for (const auto& [variable, input] : action.environment) words.push_back(variable + "=" + inputs.at(input));
  EXPECT_EQ(action.commands.size(), 1u);
  return Running(with(words, {"/bin/bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", action.commands.at(0)}))
      .finish();
}

class ActionFile : public testing::Test {
 protected:
  // A program that reads 1,000 lines, and more. (A shell's loop may depend on the process ID that it reads.)
  Finished run(int more, std::map<std::string, std::string> inputs = {}) {
    inputs.insert({{"command", "sed s/1/2/ lines"}, {"tally", TALLY_COMMAND}});
    std::ofstream lines(folder_ / "lines");
    for (int i = 0; i < 1000 + more; ++i) lines << "1\n";
    lines.close();
    return run_action(folder_, inputs);
  }
  void SetUp() override {
    if (Running({"/bin/bash", "-c", "true"}).finish().code() != 0) GTEST_SKIP() << "bash is not installed";
  }
  std::string text(const std::string& name) const {
    return TemporaryFile::read((folder_ / name).string()).value_or("");
  }

  TemporaryFile file_{"marker", ""};
  fs::path folder_ = file_.folder();
};

TEST_F(ActionFile, passes_fails_and_comments) {
  const Finished first = run(0);
  ASSERT_EQ(first.code(), 0) << first.out << first.err;
  EXPECT_NE(text("summary.md").find("no baseline yet"), std::string::npos);
  fs::rename(folder_ / "tally-result.json", folder_ / "tally-baseline.json");
  EXPECT_EQ(run(0, {{"history", "bench.db"}}).code(), 0);
  const Finished slower = run(100, {{"history", "bench.db"}, {"fail-above", "instructions=1%\nloads=50%"}});
  EXPECT_EQ(slower.code(), 1) << slower.err;
  EXPECT_NE(text("tally-comment.md").find("failed: instructions"), std::string::npos) << text("tally-comment.md");
  EXPECT_NE(text("output.txt").find("code=1\nresult=tally-result.json"), std::string::npos) << text("output.txt");
  EXPECT_EQ(run(0, {{"fail-above", "no-such-event=1%"}}).code(), 2);
  EXPECT_EQ(run(0, {{"command", ""}}).code(), 2);
  EXPECT_EQ(run(0, {{"command", "sh -c 'exit 7'"}}).code(), 7);
  const Finished history = tally({"history", (folder_ / "bench.db").string(), "--event", "instructions"});
  EXPECT_NE(history.out.find("2  "), std::string::npos) << history.out;
}

TEST_F(ActionFile, has_every_setting_that_decides_counts) {
  const Action action = read_action();
  const std::string gate = *TemporaryFile::read(root + "/ci/gate");
  for (const auto& [name, is_flag] : result::run_settings) {
    const std::string setting(name);
    EXPECT_TRUE(action.defaults.count(setting)) << setting;
    const bool is_passed = std::any_of(action.environment.begin(), action.environment.end(),
                                       [&](const auto& one) { return one.second == setting; });
    EXPECT_TRUE(is_passed) << setting;
    EXPECT_TRUE(holds(gate, "(--" + setting) || holds(gate, " " + setting + " ") || holds(gate, " " + setting + ";"))
        << setting;
  }
  ASSERT_EQ(run(0, {{"cpu-model", "x86-64-v2"}, {"clock", "counted"}, {"environment", "fixed"}}).code(), 0);
  const std::string result = text("tally-result.json");
  for (const char* const part : {"\"--cpu-model\"", "\"x86-64-v2\"", "\"--clock\"", "\"--environment\"", "\"fixed\""})
    EXPECT_TRUE(holds(result, part)) << part;
}

TEST_F(ActionFile, accepts_a_suite) {
  std::ofstream(folder_ / "suite.toml") << "[[benchmark]]\nname = \"loop\"\nfail-above = [\"instructions=1%\"]\n"
                                           "command = [\"sed\", \"s/1/2/\", \"lines\"]\n";
  const std::map<std::string, std::string> suite{{"command", ""}, {"suite", "suite.toml"}, {"history", "bench.db"}};
  const Finished first = run(0, suite);
  ASSERT_EQ(first.code(), 0) << first.out << first.err;
  fs::rename(folder_ / "tally-results", folder_ / "tally-baseline");
  EXPECT_EQ(run(0, suite).code(), 0);
  const Finished slower = run(100, suite);
  EXPECT_EQ(slower.code(), 1) << slower.out << slower.err;
  EXPECT_TRUE(holds(text("tally-comment.md"), "failed: instructions")) << text("tally-comment.md");
  EXPECT_TRUE(holds(text("output.txt"), "result=tally-results")) << text("output.txt");
  EXPECT_EQ(run(0, {{"suite", "suite.toml"}}).code(), 2) << "and a command";
}

TEST_F(ActionFile, removes_the_variables_of_the_ci_system) {
  std::string counted[2];
  for (const std::size_t length : {0, 1}) {
    setenv("GITHUB_SHA", std::string(1 + 500 * length, 'a').c_str(), 1);
    ASSERT_EQ(run(0, {{"command", "sh -c 'test -z \"$GITHUB_SHA\"'"}}).code(), 0);
    const std::string result = text("tally-result.json");
    const auto value = result.find("\"value\"");
    counted[length] = result.substr(value, result.find(',', value) - value);
  }
  EXPECT_EQ(counted[0], counted[1]);
  setenv("KEPT", "yes", 1);
  const std::string needs{"sh -c 'test \"$KEPT\" = yes'"};
  EXPECT_EQ(run(0, {{"command", needs}}).code(), 1);
  EXPECT_EQ(run(0, {{"command", needs}, {"environment", "KEPT"}}).code(), 0);
  unsetenv("KEPT");
  unsetenv("GITHUB_SHA");
}

}  // namespace
}  // namespace tally::test
