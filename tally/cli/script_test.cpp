// --from-script: which commands it accepts, and what it makes of them.
#include "tally/cli/script.hpp"

#include <gtest/gtest.h>

namespace tally::cli {
namespace {

using Words = std::vector<std::string>;

Words changed(const Words& command) {
  const auto found = script_command(command, "RUN");
  EXPECT_TRUE(found) << found.error().message;
  return found ? *found : Words{};
}

std::string refusal(const Words& command) {
  const auto found = script_command(command, "RUN");
  EXPECT_FALSE(found);
  return found ? "" : found.error().message;
}

TEST(FromScript, runs_the_script_in_the_runner) {
  EXPECT_EQ(changed({"python3", "a.py"}), (Words{"python3", "RUN", "a.py"}));
  EXPECT_EQ(changed({"/usr/bin/python3.11", "a.py", "-c", "b"}),
            (Words{"/usr/bin/python3.11", "RUN", "a.py", "-c", "b"}));
  EXPECT_EQ(changed({"pypy3", "a"}), (Words{"pypy3", "RUN", "a"}));
}

TEST(FromScript, keeps_the_interpreters_options) {
  EXPECT_EQ(changed({"python3", "-BE", "-X", "utf8", "-Wcm", "-W", "error", "a.py"}),
            (Words{"python3", "-BE", "-X", "utf8", "-Wcm", "-W", "error", "RUN", "a.py"}));
  EXPECT_EQ(changed({"python3", "--check-hash-based-pycs", "never", "a.py"}),
            (Words{"python3", "--check-hash-based-pycs", "never", "RUN", "a.py"}));
}

TEST(FromScript, refuses_commands_without_a_script) {
  EXPECT_NE(refusal({"./a.py"}).find("needs a Python interpreter as the program, not 'a.py'"), std::string::npos);
  for (const Words& command : {Words{"python3"}, {"python3", "-"}, {"python3", "-B"}, {"python3", "-X"}})
    EXPECT_NE(refusal(command).find("needs a script after the interpreter"), std::string::npos);
  EXPECT_NE(refusal({"python3", "-m", "json.tool"}).find("-m runs other code"), std::string::npos);
  EXPECT_NE(refusal({"python3", "-Sc", "1"}).find("-Sc runs other code"), std::string::npos);
}

}  // namespace
}  // namespace tally::cli
