// The last line of a table of `tally stat` names the backend, and --quiet omits the notice about it.
#include <gtest/gtest.h>

#include "tally/core/base/text.hpp"
#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

std::string last_line(const std::string& text) { return split(trimmed(text), '\n').back(); }

bool names_backend(const std::string& line, const std::string& expected) { return line.ends_with("· " + expected); }

TEST(LastLine, names_what_counts_natively) {
  for (const Words& words : {Words{"-e", "page-faults", "--", "true"},
                             {"--backend", "none", "-r", "3", "-e", "page-faults", "--", "true"},
                             {"-I", "20", "-e", "page-faults", "--", "sleep", "0.05"}}) {
    const Finished finished = tally(with({"stat", "-q"}, words));
    EXPECT_TRUE(names_backend(last_line(finished.err), "run natively")) << finished.err;
  }
  const Finished attached = tally({"stat", "-q", "-e", "page-faults", "-p", "1", "--timeout", "20"});
  if (attached.code() != 0) GTEST_SKIP() << "process 1 cannot be counted here";
  EXPECT_TRUE(names_backend(last_line(attached.err), "the kernel's counters")) << attached.err;
}

#if TALLY_HAS_ENGINE
TEST(LastLine, names_the_engine_below_all_that_follows_the_counts) {
  const Words cases[] = {{"--", "true"},
                         {"-r", "3", "--", "true"},
                         {"-I", "20", "--", "sleep", "0.05"},
                         {"--per-thread", "--", "true"},
                         {"--per-process", "-r", "2", "--", "true"},
                         {"--function", "main", "--", TWO_LOOPS},
                         {"--model", "haswell", "--", "true"},
                         {"--", "sh", "-c", "kill -9 $$"},
                         {"--", "sh", "-c", "sleep 0.1 & exit"},
                         {"--asm", "nop"}};
  for (const Words& words : cases) {
    const Finished finished = tally(with({"stat", "-q", "--backend", "engine"}, words));
    EXPECT_TRUE(names_backend(last_line(finished.err), "engine")) << finished.err;
  }
}
#endif

TEST(Notice, is_omitted_by_quiet_in_every_command_that_prints_it) {
  for (const Words& words : {Words{"stat", "--", "true"},
                             {"stat", "--asm", "nop"},
                             {"profile", "--", "true"},
                             {"sample", "--every", "10000", "--", "true"}}) {
    Words quiet = words;
    quiet.insert(quiet.begin() + 1, "-q");
    EXPECT_EQ(tally(quiet).err.find("tally: "), std::string::npos) << words[0];
    const Finished loud = tally(words);
    EXPECT_TRUE(loud.err.find("· engine") == std::string::npos || loud.err.starts_with("tally: ")) << loud.err;
  }
}

}  // namespace
}  // namespace tally::test
