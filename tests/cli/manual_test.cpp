// Man pages and completion, as the command prints them.
#include <gtest/gtest.h>

#include <algorithm>

#include "tally/core/base/text.hpp"
#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

// The commands that `tally --help` lists.
Words commands() {
  Words names;
  bool in_list = false;
  for (const std::string& line : split(tally({"--help"}).out, '\n')) {
    if (in_list && line.empty()) break;
    if (in_list) names.push_back(trimmed(line.substr(0, line.find(' ', 2))));
    if (line == "Commands:") in_list = true;
  }
  return names;
}

bool have(const std::string& program) {
  return Running({"/bin/sh", "-c", "command -v \"$0\" >/dev/null", program}).finish().code() == 0;
}

TEST(Manual, every_command_has_a_page_with_the_text_of_its_help) {
  ASSERT_FALSE(commands().empty());
  for (const std::string& name : commands()) {
    const std::string page = tally({"--print-man", name}).out;
    EXPECT_EQ(page.find(".TH TALLY"), 0u) << name;
    for (const std::string& line : split(tally({"help", name}).out, '\n')) {
      const bool has_short_name = line.starts_with("  -") && !line.starts_with("  --");
      if (!has_short_name && !line.starts_with("      --")) continue;
      for (const std::string& word : split(line, ' ')) {
        const std::string option = word.substr(std::min(word.find("--"), word.size()));
        if (!option.starts_with("--")) continue;
        std::string escaped;
        for (const char c : option.substr(0, option.find(','))) escaped += c == '-' ? "\\-" : std::string(1, c);
        EXPECT_NE(page.find(escaped + "\\fR"), std::string::npos) << name << " " << option;
        break;
      }
    }
    EXPECT_EQ(page.find("block\\-size"), std::string::npos) << "hidden options stay hidden";
    EXPECT_NE(tally({"--print-man"}).out.find("tally\\-" + name), std::string::npos);
  }
}

TEST(Manual, pages_are_read_without_a_warning) {
  if (!have("man")) GTEST_SKIP() << "man is not installed (package man-db)";
  Words names = commands();
  names.emplace_back();
  for (const std::string& name : names) {
    const TemporaryFile page("page.1", tally(name.empty() ? Words{"--print-man"} : Words{"--print-man", name}).out);
    const Finished read =
        Running({"/bin/sh", "-c", "LC_ALL=C.UTF-8 MANWIDTH=200 man --warnings -l \"$0\" | cat", page.path()}).finish();
    EXPECT_EQ(read.err, "") << name;
    EXPECT_NE(read.out.find("SYNOPSIS"), std::string::npos) << name;
    if (name == "stat") {
      EXPECT_NE(read.out.find("tally stat -e instructions,branches -r 10 -- ./prog"), std::string::npos) << read.out;
    }
  }
}

class Completion : public testing::Test {
 protected:
  Completion() : script_("tally", tally({"--print-bash-completion"}).out) {}

  void SetUp() override {
    if (!have("bash")) GTEST_SKIP() << "bash is not installed";
  }

  // The completions that bash offers for the last of these words.
  Words completions(const Words& words, const std::string& before = "") {
    Words shell{"/usr/bin/env", "bash", "-c",
                before +
                    "\nsource \"$0\"; COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); COMP_LINE=\"$*\"; "
                    "COMP_POINT=${#COMP_LINE}; _tally; printf '%s\\n' \"${COMPREPLY[@]}\"",
                script_.path()};
    shell.insert(shell.end(), words.begin(), words.end());
    const Finished finished = Running(shell).finish();
    EXPECT_EQ(finished.err, "");
    Words list = split(trimmed(finished.out), '\n');
    std::sort(list.begin(), list.end());
    return list;
  }

  bool is_offered(const Words& words, const std::string& word, const std::string& before = "") {
    const Words list = completions(words, before);
    return std::find(list.begin(), list.end(), word) != list.end();
  }

  TemporaryFile script_;
};

TEST_F(Completion, is_a_script_that_bash_takes) {
  const Finished checked = Running({"/usr/bin/env", "bash", "-n", script_.path()}).finish();
  EXPECT_EQ(checked.code(), 0) << checked.err;
}

TEST_F(Completion, offers_commands_options_and_values) {
  EXPECT_EQ(completions({"tally", "st"}), Words{"stat"});
  EXPECT_TRUE(is_offered({"tally", "stat", "--per-"}, "--per-thread"));
  EXPECT_FALSE(is_offered({"tally", "stat", "--"}, "--block-size"));
  EXPECT_EQ(completions({"tally", "stat", "--format", "c"}), Words{"csv"});
  EXPECT_EQ(completions({"tally", "stat", "--format", "=", "c"}), Words{"csv"});
  EXPECT_EQ(completions({"tally", "stat", "--backend", "no"}), Words{"none"});
  EXPECT_EQ(completions({"tally", "stat", "-e", "instructions,prefe"}), Words{"instructions,prefetches"});
  EXPECT_EQ(completions({"tally", "stat", "-M", "IPC,loads-per-s"}), Words{"IPC,loads-per-store"});
  EXPECT_EQ(completions({"tally", "report", "--format", "h"}), (Words{"hpctool", "html"}));
  EXPECT_EQ(completions({"tally", "event", "sto"}), (Words{"store-bytes", "stores"}));
  EXPECT_EQ(completions({"tally", "event", "loads,stores"}), Words{"loads,stores"});
  EXPECT_EQ(completions({"tally", "help", "st"}), Words{"stat"});
  EXPECT_EQ(completions({"tally", "help", "runn"}), Words{"running"});
  EXPECT_EQ(completions({"tally", "profile", "--sort", "c"}), Words{"callees"})
      << "alternatives are offered, not executed";
  EXPECT_EQ(completions({"tally", "stat", "-r", ""}), Words{""}) << "a number has no suggestion";
}

TEST_F(Completion, executes_nothing_to_find_the_kind_of_a_value) {
  const Finished finished = Running({"/usr/bin/env", "bash", "-c",
                                     "source \"$0\"; PATH=/nowhere\n"
                                     "for command in $(_tally_commands); do\n"
                                     "  for option in '' $(_tally_options \"$command\"); do\n"
                                     "    _tally_kind \"$command:$option\" >/dev/null\n"
                                     "  done\n"
                                     "done",
                                     script_.path()})
                                .finish();
  EXPECT_EQ(finished.err, "");
}

TEST_F(Completion, offers_files_where_files_are_meant) {
  EXPECT_EQ(completions({"tally", "stat", "-o", script_.folder() + "/ta"}), Words{script_.path()});
  EXPECT_EQ(completions({"tally", "report", script_.folder() + "/ta"}), Words{script_.path()});
}

TEST_F(Completion, after_the_program_all_words_are_the_programs) {
  EXPECT_TRUE(is_offered({"tally", "stat", "-r", "3", "tru"}, "true"));
  EXPECT_TRUE(is_offered({"tally", "stat", "-r", "3", "--", "tru"}, "true"));
  EXPECT_EQ(completions({"tally", "stat", "-r", "3", "cat", script_.folder() + "/ta"}), Words{script_.path()});
  EXPECT_EQ(completions({"tally", "stat", "cat", "--format", "cs"}), Words{""}) << "these are not tally's options";
}

TEST_F(Completion, after_the_program_its_own_completion_is_used) {
  const std::string library = "/usr/share/bash-completion/bash_completion";
  if (!TemporaryFile::read(library)) GTEST_SKIP() << "bash-completion is not installed";
  EXPECT_TRUE(
      is_offered({"tally", "stat", "-e", "loads", "--", "tru"}, "true", "source " + library + "; compopt() { :; }"))
      << "compopt works only within a completion";
}

}  // namespace
}  // namespace tally::test
