// The kernel closes counters at the execve of a program that the user may not read: no count may hide this.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

/// As a user without privileges; everybody may execute the program that it runs, and only its owner may read it.
class LostCounters : public testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "only root can start programs as somebody else";
    fs::permissions(program_.folder(), fs::perms::owner_all | fs::perms::group_exec | fs::perms::others_exec);
    fs::copy_file(SAMPLED, program_.path(), fs::copy_options::overwrite_existing);
    fs::permissions(program_.path(), fs::perms::owner_all | fs::perms::group_exec | fs::perms::others_exec);
    if (as_nobody({"true"}).code() != 0) GTEST_SKIP() << "setpriv is missing (package util-linux)";
    if (as_nobody(tally_words({"--version"})).code() != 0) GTEST_SKIP() << "others may not execute what was built";
  }
  static Finished as_nobody(const Words& command) {
    return Running(
               with({"/bin/sh", "-c", "exec setpriv \"$@\"", "sh", "--reuid=65534", "--regid=65534", "--clear-groups"},
                    command))
        .finish();
  }
  static Json parsed(const Finished& finished) {
    const std::size_t begin = finished.out.find('{');
    return begin == std::string::npos ? Json() : Json::parse(finished.out.substr(begin), nullptr, false);
  }
  const std::string& program() const { return program_.path(); }

 private:
  TemporaryFile program_{"unreadable", ""};
};

TEST_F(LostCounters, are_partial_with_the_values_of_wait4) {
  const Finished finished =
      as_nobody(tally_words({"stat", "-q", "--backend", "none", "-e", "task-clock,page-faults,user_time,system_time",
                             "--format", "json", "-o", "-", "--", program()}));
  EXPECT_EQ(finished.code(), 0) << finished.err;
  const Json json = parsed(finished);
  ASSERT_TRUE(json.is_object()) << finished.out;
  const Json& clock = json["events"][0];
  const Json &user = json["events"][2], &system = json["events"][3];
  if (clock["reason"].is_string() && clock["reason"].get<std::string>().find("refuses") != std::string::npos)
    GTEST_SKIP() << "the kernel refuses perf_event_open here";
  EXPECT_EQ(clock["value"], user["value"].get<std::int64_t>() + system["value"].get<std::int64_t>()) << clock;
  if (clock["source"] == "wait4" && clock["trust"] == "counted") GTEST_SKIP() << "no counter opened here";
  EXPECT_EQ(clock["trust"], "partial") << clock;
  EXPECT_NE(clock["reason"].get<std::string>().find("may be executed but not read"), std::string::npos) << clock;
  EXPECT_GT(json["events"][1]["value"], 0);
}

TEST_F(LostCounters, are_partial_in_intervals) {
  const Finished finished = as_nobody(
      tally_words({"stat", "-q", "-e", "task-clock", "-I", "10", "--format", "json", "-o", "-", "--", program()}));
  EXPECT_EQ(finished.code(), 0) << finished.err;
  const Json json = parsed(finished);
  ASSERT_TRUE(json.is_object()) << finished.out;
  if (json["events"][0]["source"] == "wait4" && json["events"][0]["trust"] == "counted")
    GTEST_SKIP() << "no counter opened here";
  EXPECT_EQ(json["events"][0]["trust"], "partial") << json["events"][0];
  ASSERT_FALSE(json["intervals"].empty());
  for (const Json& interval : json["intervals"]) {
    EXPECT_EQ(interval["events"][0]["trust"], "partial") << interval;
    EXPECT_NE(interval["events"][0]["reason"].get<std::string>().find("the kernel took the counters away"),
              std::string::npos)
        << interval;
  }
}

TEST_F(LostCounters, are_reported_with_windows) {
  const Words sample{"sample", "-q", "--by", "task-clock", "--every", "1ms", "--format", "csv", "-o", "-", "--"};
  const Finished finished = as_nobody(tally_words(with(sample, {program()})));
  if (finished.err.find("no windows") != std::string::npos || finished.out.empty()) GTEST_SKIP() << finished.err;
  EXPECT_EQ(finished.code(), 125) << "they are incomplete";
  EXPECT_NE(finished.err.find("windows are missing: the kernel took the counters away"), std::string::npos)
      << finished.err;
  fs::permissions(program(), fs::perms::others_read, fs::perm_options::add);
  const Finished whole = as_nobody(tally_words(with(sample, {program()})));
  EXPECT_EQ(whole.err.find("windows are missing"), std::string::npos) << whole.err;
}

TEST_F(LostCounters, are_partial_in_a_profile) {
  const Finished finished =
      as_nobody(tally_words({"profile", "-q", "-e", "page-faults", "--format", "json", "-o", "-", "--", program()}));
  if (finished.err.find("perf_event_open") != std::string::npos) GTEST_SKIP() << "no samples for such a user here";
  const Json json = parsed(finished);
  ASSERT_TRUE(json.is_object()) << finished.out << finished.err;
  EXPECT_EQ(json["events"][0]["trust"], "partial") << json["events"][0];
  EXPECT_GT(json["events"][0]["value"], 0);
}

/// If no counter is closed, there is no notice.
TEST_F(LostCounters, are_not_those_of_a_program_that_may_be_read) {
  fs::permissions(program(), fs::perms::others_read, fs::perm_options::add);
  const Finished finished = as_nobody(tally_words(
      {"stat", "-q", "--backend", "none", "-e", "task-clock", "--format", "json", "-o", "-", "--", program()}));
  const Json json = parsed(finished);
  ASSERT_TRUE(json.is_object()) << finished.out;
  EXPECT_EQ(json["events"][0]["trust"], "counted") << json["events"][0];
}

}  // namespace
}  // namespace tally::test
