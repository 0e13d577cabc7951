// Regions of code that is unloaded before they are written.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

using nlohmann::json;

TEST(Plugins, keep_their_names_when_others_are_loaded_at_their_address) {
  const TemporaryFile file("regions.json");
  const Finished finished =
      Running({"/usr/bin/env", "TALLY_OUTPUT=" + file.path(), PLUGINS, FIRST_PLUGIN, SECOND_PLUGIN}).finish();
  if (finished.code() == 77) GTEST_SKIP() << finished.out;
  ASSERT_EQ(finished.code(), 0) << finished.out << finished.err;
  const json all = json::parse(file.content().value_or(""));
  ASSERT_EQ(all.at("regions").size(), 2u) << all;
  EXPECT_EQ(all.at("regions").at(0).at("region"), "of the first one");
  EXPECT_EQ(all.at("regions").at(0).at("entries"), 1);
  EXPECT_EQ(all.at("regions").at(1).at("region"), "of the other one");
  EXPECT_EQ(all.at("regions").at(1).at("entries"), 2);
  const std::size_t end = finished.out.find('\n');
  if (finished.out != finished.out.substr(0, end + 1) + finished.out.substr(0, end + 1)) {
    GTEST_SKIP() << "the second plugin was loaded elsewhere: " << finished.out;
  }
}

}  // namespace
}  // namespace tally::test
