// What zsh and fish offer with the completion that the command prints. manual_test.cpp asks bash.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "tally/core/base/text.hpp"
#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

bool have(const std::string& program) {
  return Running({"/bin/sh", "-c", "command -v \"$0\" >/dev/null", program}).finish().code() == 0;
}

/// A line that is typed, a word that must be offered, and one that must not; empty for none of these.
struct Completion {
  std::string line, offered, not_offered;
};

/// Both shells complete the same.
std::vector<Completion> cases(const std::string& file) {
  return {
      {"tally st", "stat", "sample"},
      {"tally --v", "--version", ""},
      {"tally help st", "stat", "sample"},
      {"tally help run", "running", "stat"},
      {"tally stat --cpu-m", "--cpu-model", ""},
      {"tally stat --per-", "--per-thread", "--block-size"},
      {"tally stat --format c", "csv", "table"},
      {"tally stat --format=c", "--format=csv", "--format=table"},
      {"tally stat --backend no", "none", "auto"},
      {"tally stat -e instructions,sto", "instructions,stores", "instructions,loads"},
      {"tally stat --event=instructions,sto", "--event=instructions,stores", ""},
      {"tally stat -M IPC,loads-per-s", "IPC,loads-per-store", ""},
      {"tally event loads,sto", "loads,stores", ""},
      {"tally profile --sort c", "callees", "own"},
      {"tally stat --prefetch o", "off", "ON"},
      {"tally stat -r ", "", "stat"},
      {"tally stat -o " + file, file, ""},
      {"tally report " + file, file, ""},
      {"tally stat -r 3 tru", "true", "--trap"},
      {"tally stat -r 3 -- tru", "true", "--trap"},
      {"tally sample --every 10k -- cat " + file, file, ""},
      {"tally stat cat --form", "", "--format"},
      {"tally stat -- cat --form", "", "--format"},
      {"tally stat -e loads -- git --no-pa", "--no-pager", ""},
      {"tally profile git --no-pa", "--no-pager", ""},
  };
}

void expect_offers(const std::string& shell, const Completion& one, const Words& offers) {
  const auto has = [&](const std::string& word) {
    // zsh offers the last name of a path.
    return std::any_of(offers.begin(), offers.end(), [&](const std::string& offer) {
      return offer == word || (word.starts_with('/') && word.ends_with("/" + offer));
    });
  };
  const std::string message = shell + ": " + one.line + ": " + join(offers, " ");
  EXPECT_TRUE(one.offered.empty() || has(one.offered)) << message;
  EXPECT_FALSE(!one.not_offered.empty() && has(one.not_offered)) << message;
}

TEST(FishCompletion, offers_commands_options_values_and_what_the_program_completes) {
  if (!have("fish")) GTEST_SKIP() << "fish is not installed";
  const TemporaryFile script("tally.fish", tally({"--print-fish-completion"}).out);
  for (const Completion& one : cases(script.path())) {
    if (one.line.find("git") != std::string::npos && !have("git")) continue;
    const Finished finished = Running({"/usr/bin/env", "HOME=" + script.folder(), "fish", "-c",
                                       "source $argv[1]; complete -C $argv[2]", script.path(), one.line})
                                  .finish();
    EXPECT_EQ(finished.err, "") << one.line;
    Words offers;
    for (const std::string& line : split(trimmed(finished.out), '\n'))
      offers.push_back(line.substr(0, line.find('\t')));
    expect_offers("fish", one, offers);
  }
}

TEST(ZshCompletion, offers_commands_options_values_and_what_the_program_completes) {
  if (!have("zsh")) GTEST_SKIP() << "zsh is not installed";
  const TemporaryFile script("_tally", tally({"--print-zsh-completion"}).out);
  std::vector<Completion> all = cases(script.path());
  if (!have("git")) std::erase_if(all, [](const Completion& one) { return one.line.find("git") != std::string::npos; });
  Words words{"/usr/bin/env", "HOME=" + script.folder(), "timeout",      "1200", "zsh",
              "-f",           TALLY_ZSH_OFFERS,          script.folder()};
  for (const Completion& one : all) words.push_back(one.line);
  const Finished finished = Running(words).finish();
  EXPECT_EQ(finished.code(), 0) << finished.err;
  std::size_t index = 0;
  Words offers;
  for (const std::string& line : split(finished.out, '\n')) {
    if (!line.empty()) {
      offers.push_back(line);
      continue;
    }
    if (index < all.size()) expect_offers("zsh", all[index], offers);
    ++index;
    offers.clear();
  }
  EXPECT_GE(index, all.size()) << finished.out;
}

}  // namespace
}  // namespace tally::test
