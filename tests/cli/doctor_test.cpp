// `tally doctor` on the machine that the tests run on.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

TEST(Doctor, the_exit_code_is_the_answer_in_both_forms) {
  const Finished text = tally({"doctor"});
  const Finished json = tally({"doctor", "--json"});
  EXPECT_EQ(text.err, "");
  EXPECT_EQ(json.err, "");
  ASSERT_EQ(text.code(), json.code());
  const auto object = nlohmann::json::parse(json.out);
  EXPECT_EQ(text.code(), object["hardware"].get<bool>() ? 0 : 1);
  EXPECT_EQ(object["cause"] == "counts", object["hardware"]);
  EXPECT_NE(text.out.find(text.code() == 0 ? "can be counted here" : "cannot be counted here"), std::string::npos);
}

TEST(Doctor, an_answer_that_cannot_be_written_is_an_error) {
  Surroundings closed;
  closed.closed_output = true;
  const Finished finished = tally({"doctor"}, closed);
  EXPECT_EQ(finished.code(), 125);
  EXPECT_NE(finished.err, "");
}

TEST(Doctor, takes_no_arguments) {
  EXPECT_EQ(tally({"doctor", "--frobnicate"}).code(), 2);
  EXPECT_EQ(tally({"doctor", "me"}).code(), 2);
}

#if TALLY_HAS_SIM
TEST(Doctor, says_that_the_simulated_pmu_works_where_it_does) {
  const auto object = nlohmann::json::parse(tally({"doctor", "--json"}).out);
  const Finished counted = tally({"stat", "-e", "instructions", "--backend", "sim", "--", "true"});
  EXPECT_EQ(object["simulated_pmu"]["works"], counted.err.find("exact") != std::string::npos) << counted.err;
}
#endif

}  // namespace
}  // namespace tally::test
