#include "tests/process_numbers.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

namespace tally::test {
namespace {

/// Whether the IDs of new processes got another number of digits since this was created. A limit may end all numbers of
/// some digits, so a smaller ID counts as a change, too.
class Digits {
 public:
  bool have_changed() const {
    const pid_t now = next();
    return now < first_ || std::to_string(now).size() != std::to_string(first_).size();
  }

 private:
  static pid_t next() {
    const pid_t child = fork();
    if (child == 0) _exit(0);
    if (child > 0) waitpid(child, nullptr, 0);
    return child;
  }

  pid_t first_ = next();
};

std::vector<std::string> command_line() {
  std::vector<std::string> words;
  std::ifstream file("/proc/self/cmdline");
  for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
  return words;
}

/// Executes this program again with the failed tests, if in each of them the number of digits changed.
class Repetition : public testing::EmptyTestEventListener {
  void OnTestStart(const testing::TestInfo& /*test*/) override { digits_ = {}; }

  void OnTestEnd(const testing::TestInfo& test) override {
    if (!test.result()->Failed()) return;
    if (!digits_.have_changed()) {
      has_failed_ = true;
      return;
    }
    failed_ += (failed_.empty() ? "" : ":") + std::string(test.test_suite_name()) + "." + test.name();
  }

  void OnTestProgramEnd(const testing::UnitTest& all) override {
    if (has_failed_ || failed_.empty() || all.ad_hoc_test_result().Failed()) return;
    std::printf("The number of digits of process IDs changed: running again %s\n", failed_.c_str());
    std::fflush(nullptr);
    // All of them, also if this was a part of the tests.
    unsetenv("GTEST_TOTAL_SHARDS");
    std::vector<std::string> words = command_line();
    words.push_back("--gtest_filter=" + failed_);
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    execv("/proc/self/exe", arguments.data());
  }

  Digits digits_;
  bool has_failed_ = false;
  std::string failed_;
};

const bool is_added = [] {
  testing::UnitTest::GetInstance()->listeners().Append(new Repetition);
  return true;
}();

}  // namespace

void run_with_equal_process_numbers(const std::function<void()>& run) {
  for (;;) {
    const Digits digits;
    run();
    if (!digits.have_changed()) return;
  }
}

}  // namespace tally::test
