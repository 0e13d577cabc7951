// The name of the engine as a backend, and `sim`, its name in earlier versions.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

#if TALLY_HAS_ENGINE
TEST(BackendName, either_name_selects_the_engine) {
  for (const char* name : {"engine", "sim"}) {
    const Finished finished =
        tally({"stat", "--backend", name, "-e", "instructions", "--format", "json", "-o", "-", "--", "true"});
    ASSERT_EQ(finished.code(), 0) << finished.err;
    const auto result = nlohmann::json::parse(finished.out);
    EXPECT_EQ(result["backend"], "engine");
    EXPECT_EQ(result["events"][0]["trust"], "exact");
  }
}

TEST(BackendName, every_command_accepts_the_older_one) {
  const Words commands[] = {{"profile", "-q", "--backend", "sim", "-o", "/dev/null", "--", "true"},
                            {"sample", "-q", "--backend", "sim", "--every", "10000", "-o", "/dev/null", "--", "true"},
                            {"verify", "--quick", "--backend", "sim", "-e", "loads", "-o", "/dev/null"},
                            {"stat", "--backend", "sim", "-o", "/dev/null", "--asm", "nop"}};
  for (const Words& command : commands) {
    const Finished finished = tally(command);
    EXPECT_EQ(finished.code(), 0) << command.front() << ": " << finished.err;
  }
}
#endif

TEST(BackendName, what_discover_cannot_use_is_refused_with_the_names) {
  const Finished refused = tally({"discover", "--backend", "none"});
  EXPECT_EQ(refused.code(), 2);
  EXPECT_NE(refused.err.find("engine"), std::string::npos) << refused.err;
  EXPECT_EQ(refused.err.find("sim"), std::string::npos) << refused.err;
}

TEST(BackendName, the_older_one_is_listed_nowhere) {
  for (const char* command : {"stat", "sample", "profile", "verify", "discover"}) {
    const Finished help = tally({command, "--help"});
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
