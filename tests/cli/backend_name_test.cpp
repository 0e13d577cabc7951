// The name of the engine as a backend, and `sim`, its name before version 0.9.
#include <gtest/gtest.h>

#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

TEST(BackendName, every_command_refuses_the_older_one_and_names_the_new_one) {
  const Words commands[] = {{"profile", "--backend", "sim", "--", "true"},
                            {"sample", "--backend", "sim", "--every", "10000", "--", "true"},
                            {"verify", "--quick", "--backend", "sim", "-e", "loads"},
                            {"stat", "--backend", "sim", "--", "true"}};
  for (const Words& command : commands) {
    const Finished refused = tally(command);
    EXPECT_EQ(refused.code(), 2) << command.front();
    EXPECT_NE(refused.err.find("'sim' is now called 'engine'"), std::string::npos) << refused.err;
  }
}

TEST(BackendName, what_discover_cannot_use_is_refused_with_the_names) {
  const Finished refused = tally({"discover", "--backend", "none"});
  EXPECT_EQ(refused.code(), 2);
  EXPECT_NE(refused.err.find("engine"), std::string::npos) << refused.err;
  EXPECT_EQ(refused.err.find("sim"), std::string::npos) << refused.err;
}

TEST(BackendName, the_older_one_is_listed_nowhere) {
  for (const char* command : {"stat", "sample", "profile", "verify", "discover"}) {
    const Finished help = tally({"help", command});
    EXPECT_NE(help.out.find("engine"), std::string::npos) << command;
    EXPECT_EQ(help.out.find("sim,"), std::string::npos) << command;
    EXPECT_EQ(help.out.find("--backend sim"), std::string::npos) << command;
  }
  const Finished completion = tally({"--print-bash-completion"});
  EXPECT_NE(completion.out.find("auto perf engine none"), std::string::npos);
  EXPECT_EQ(completion.out.find(" sim "), std::string::npos);
  const Finished unknown = tally({"stat", "--backend", "simulator", "--", "true"});
  EXPECT_EQ(unknown.code(), 2);
  EXPECT_NE(unknown.err.find("auto, perf, engine, none"), std::string::npos) << unknown.err;
}

}  // namespace
}  // namespace tally::test
