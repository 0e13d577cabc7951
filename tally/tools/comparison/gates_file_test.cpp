#include "tally/tools/comparison/gates_file.hpp"

#include <gtest/gtest.h>

namespace tally::comparison {
namespace {

TEST(GatesFile, has_hard_and_soft_gates_in_its_order) {
  const auto gates = parse_gates_file(
      "# limits\n[fail-above]\npage-faults = 100\ninstructions = \"1%\"\n\"branch-misses:u@parse(int)\" = \"5%\"\n"
      "[warn-above]\nbranches = '2%'\n",
      "g.toml");
  ASSERT_TRUE(gates) << gates.error().message;
  ASSERT_EQ(gates->size(), 4u);
  EXPECT_EQ(gates->at(0).text, "page-faults=100");
  EXPECT_EQ(gates->at(0).limit, 100);
  EXPECT_EQ(gates->at(1).text, "instructions=1%");
  EXPECT_EQ(gates->at(1).origin, "g.toml:4");
  EXPECT_EQ(gates->at(2).function, "parse(int)");
  EXPECT_TRUE(gates->at(2).is_hard);
  EXPECT_FALSE(gates->at(3).is_hard);
}

TEST(GatesFile, reports_errors_with_their_lines) {
  const auto error_of = [](const char* text) {
    const auto gates = parse_gates_file(text, "g.toml");
    return gates ? std::string("none") : gates.error().message;
  };
  EXPECT_EQ(error_of("[fail-above]\ninstructions = \"1%\"\n\n[fail-abvoe]\nloads = 1\n").substr(0, 33),
            "g.toml:4: unknown key 'fail-abvoe");
  EXPECT_EQ(error_of("instructions = \"1%\"\n"), "g.toml:1: unknown key 'instructions'");
  EXPECT_EQ(error_of("fail-above = 1\n"), "g.toml:1: 'fail-above' is not a table");
  EXPECT_EQ(error_of("[fail-above]\ninstructions = \"1 percent\"\n").substr(0, 10), "g.toml:2: ");
  EXPECT_EQ(error_of("[fail-above]\ninstructions = -1\n").substr(0, 10), "g.toml:2: ");
  EXPECT_EQ(error_of("[fail-above]\nloads = 1\ninstructions = true\n").substr(0, 10), "g.toml:3: ");
  EXPECT_EQ(error_of("[fail-above]\ninstructions = [\n").substr(0, 9), "g.toml:2:");
  EXPECT_EQ(error_of("[fail-above]\nloads = 1\nloads = 2\n").substr(0, 9), "g.toml:3:");
  EXPECT_EQ(error_of(""), "g.toml: the file has no gate");
  EXPECT_EQ(error_of("[fail-above]\n"), "g.toml: the file has no gate");
}

}  // namespace
}  // namespace tally::comparison
