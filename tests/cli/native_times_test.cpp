// `tally stat --native-times`: the program runs twice, and its times are those of the native run.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

#if TALLY_HAS_ENGINE
Finished native_times(const Words& words) {
  return tally(with({"stat", "--native-times", "--backend", "engine", "--format", "json", "-o", "-"}, words));
}

nlohmann::json row(const nlohmann::json& result, const std::string& name) {
  for (const auto& event : result.at("events"))
    if (event.at("event") == name) return event;
  return {};
}

TEST(NativeTimes, are_counted_by_a_second_run) {
  const TemporaryFile trace("trace");
  const Finished finished = native_times({"-r", "2", "-e", "loads,user_time,duration_time,page-faults", "--", "/bin/sh",
                                          "-c", "echo run >> \"$0\"", trace.path()});
  ASSERT_EQ(finished.code(), 0) << finished.err;
  EXPECT_EQ(trace.content(), "run\nrun\nrun\nrun\n") << "two by the engine, two native ones";
  const auto result = nlohmann::json::parse(finished.out);
  EXPECT_EQ(row(result, "loads").at("trust"), "exact");
  for (const char* name : {"user_time", "duration_time", "page-faults"}) {
    EXPECT_EQ(row(result, name).at("trust"), "counted") << name;
    EXPECT_TRUE(row(result, name).at("reason").get<std::string>().ends_with("from a second, native run")) << name;
  }
}

TEST(NativeTimes, read_a_file_again) {
  const TemporaryFile input("input", "a\nb\n");
  const TemporaryFile trace("trace");
  const Finished finished =
      Running({"/bin/sh", "-c", "\"$0\" stat -q --native-times --backend engine -- tee -a \"$2\" < \"$1\" 2>/dev/null",
               TALLY_COMMAND, input.path(), trace.path()})
          .finish();
  EXPECT_EQ(finished.code(), 0);
  EXPECT_EQ(trace.content(), "a\nb\na\nb\n");
}

TEST(NativeTimes, are_not_used_if_the_native_run_ends_differently) {
  const TemporaryFile flag("flag");
  const Finished finished = native_times(
      {"-e", "loads,duration_time", "--", "/bin/sh", "-c", "test -e \"$0\" && exit 3; : > \"$0\"", flag.path()});
  EXPECT_EQ(finished.code(), 0);
  const auto result = nlohmann::json::parse(finished.out);
  EXPECT_EQ(row(result, "duration_time").at("trust"), "partial");
  EXPECT_NE(result.at("notices").dump().find("ended with exit code 3"), std::string::npos) << result.at("notices");
}

TEST(NativeTimes, refuse_a_pipe_and_code) {
  const Finished piped =
      Running({"/bin/sh", "-c", "echo | \"$0\" stat --native-times --backend engine -- cat", TALLY_COMMAND}).finish();
  EXPECT_EQ(piped.code(), 2);
  EXPECT_NE(piped.err.find("standard input is a pipe"), std::string::npos) << piped.err;
  EXPECT_EQ(tally({"stat", "--native-times", "--asm", "nop"}).code(), 2);
}
#endif

}  // namespace
}  // namespace tally::test
