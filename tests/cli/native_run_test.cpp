// `tally stat --native`: the program runs again, and its times and estimated cycles are those of the native run.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

#if TALLY_HAS_ENGINE
Finished native_run(const Words& words) {
  return tally(with({"stat", "--native", "--backend", "engine", "--format", "json", "-o", "-"}, words));
}

nlohmann::json row(const nlohmann::json& result, const std::string& name) {
  for (const auto& event : result.at("events"))
    if (event.at("event") == name) return event;
  return {};
}

TEST(NativeRun, are_counted_by_a_second_run) {
  const TemporaryFile trace("trace");
  const Finished finished = native_run({"-r", "2", "-e", "loads,user_time,duration_time,page-faults", "--", "/bin/sh",
                                        "-c", "echo run >> \"$0\"", trace.path()});
  ASSERT_EQ(finished.code(), 0) << finished.err;
  EXPECT_EQ(trace.content(), "run\nrun\nrun\nrun\n") << "two by the engine, two native ones";
  const auto result = nlohmann::json::parse(finished.out);
  EXPECT_EQ(row(result, "loads").at("trust"), "exact");
  for (const char* name : {"user_time", "duration_time", "page-faults"}) {
    EXPECT_EQ(row(result, name).at("trust"), "counted") << name;
    EXPECT_TRUE(row(result, name).at("reason").get<std::string>().ends_with("from a native run")) << name;
  }
}

TEST(NativeRun, read_a_file_again) {
  const TemporaryFile input("input", "a\nb\n");
  const TemporaryFile trace("trace");
  const Finished finished =
      Running({"/bin/sh", "-c", "\"$0\" stat -q --native --backend engine -- tee -a \"$2\" < \"$1\" 2>/dev/null",
               TALLY_COMMAND, input.path(), trace.path()})
          .finish();
  EXPECT_EQ(finished.code(), 0);
  EXPECT_EQ(trace.content(), "a\nb\na\nb\n");
}

TEST(NativeRun, are_not_used_if_the_native_run_ends_differently) {
  const TemporaryFile flag("flag");
  const Finished finished = native_run(
      {"-e", "loads,duration_time", "--", "/bin/sh", "-c", "test -e \"$0\" && exit 3; : > \"$0\"", flag.path()});
  EXPECT_EQ(finished.code(), 0);
  const auto result = nlohmann::json::parse(finished.out);
  EXPECT_EQ(row(result, "duration_time").at("trust"), "partial");
  EXPECT_NE(result.at("notices").dump().find("ended with exit code 3"), std::string::npos) << result.at("notices");
}

double metric(const nlohmann::json& result, const std::string& name) {
  for (const auto& one : result.at("metrics"))
    if (one.at("metric") == name && one.at("value").is_number()) return one.at("value");
  return 0;
}

/// Whether the bound of the estimate is too large, as on a machine whose hypervisor takes much of the time.
bool is_on_a_busy_machine(const nlohmann::json& estimate) {
  return estimate.at("trust") == "absent" &&
         estimate.at("reason").get<std::string>().find("the error could exceed") != std::string::npos;
}

const Words busy = {"/bin/sh", "-c", "i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done"};

TEST(NativeRun, estimates_cycles_and_their_ratio_to_instructions) {
  const auto result = nlohmann::json::parse(native_run(with({"-e", "instructions,cycles", "--"}, busy)).out);
  const auto cycles = row(result, "core-cycles-estimate");
  if (is_on_a_busy_machine(cycles)) GTEST_SKIP() << cycles.at("reason");
  ASSERT_EQ(cycles.at("trust"), "estimated") << cycles;
  EXPECT_GT(cycles.at("error_percent"), 3);
  EXPECT_LT(cycles.at("error_percent"), 20);
  EXPECT_EQ(row(result, "instructions").at("trust"), "exact");
  const auto value = [&](const char* event) { return row(result, event).at("value").get<double>(); };
  const double of_user_mode = value("user_time") / (value("user_time") + value("system_time"));
  const double native_cycles = cycles.at("value").get<double>() * of_user_mode;
  const double ipc = value("instructions") / native_cycles;
  EXPECT_NEAR(metric(result, "estimated-IPC"), ipc, 1e-6);
  EXPECT_GT(metric(result, "estimated-GHz"), 0.3);
  EXPECT_LT(metric(result, "estimated-GHz"), 8);
  const double error = value("cycles") / native_cycles - 1;
  EXPECT_NEAR(metric(result, "model-error"), error, 1e-6);
}

TEST(NativeRun, have_the_error_of_a_model_without_named_events) {
  const auto result = nlohmann::json::parse(native_run(with({"--model", "host", "--"}, busy)).out);
  EXPECT_NE(metric(result, "model-error"), 0);
  EXPECT_EQ(native_run(with({"--"}, busy)).out.find("model-error"), std::string::npos) << "no cycles without a model";
  const std::string compared = native_run(with({"--model", "bonnell", "--"}, busy)).out;
  EXPECT_EQ(metric(nlohmann::json::parse(compared), "model-error"), 0);
  EXPECT_NE(compared.find("cycles are those of another core"), std::string::npos) << compared;
}

TEST(NativeRun, are_repeated_for_a_short_program_and_not_for_a_very_short_one) {
  const TemporaryFile trace("trace");
  const auto result = nlohmann::json::parse(
      native_run({"-e", "instructions", "--", "/bin/sh", "-c",
                  "echo run >> \"$0\"; i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done", trace.path()})
          .out);
  const auto cycles = row(result, "core-cycles-estimate");
  EXPECT_TRUE(is_on_a_busy_machine(cycles) || cycles.at("trust") == "estimated") << cycles;
  EXPECT_GT(trace.content().value_or("").size(), std::string("run\nrun\nrun\n").size());
  const auto brief =
      row(nlohmann::json::parse(native_run({"-e", "instructions", "--", "true"}).out), "core-cycles-estimate");
  EXPECT_EQ(brief.at("trust"), "absent");
  EXPECT_NE(brief.at("reason").get<std::string>().find("too short"), std::string::npos) << brief;
}

/// Each run is too short for an estimate, all together are not.
TEST(NativeRun, have_an_estimate_in_a_series_of_short_runs) {
  const auto result = nlohmann::json::parse(native_run({"-r", "5", "-e", "instructions", "--", "/bin/sh", "-c",
                                                        "i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done"})
                                                .out);
  const auto cycles = row(result, "core-cycles-estimate");
  if (is_on_a_busy_machine(cycles)) GTEST_SKIP() << cycles.at("reason");
  EXPECT_EQ(cycles.at("trust"), "estimated") << result;
}

TEST(NativeRun, scale_a_profile_to_the_estimated_cycles) {
  const TemporaryFile stored("profile.json");
  const Finished finished =
      tally({"profile", "--native", "--backend", "engine", "-e", "cycles", "-o", stored.path(), "--format", "json",
             "--", "dd", "if=/dev/zero", "of=/dev/null", "bs=64K", "count=10000", "status=none"});
  ASSERT_EQ(finished.code(), 0) << finished.err;
  const auto profile = nlohmann::json::parse(*stored.content());
  const auto& events = profile.at("events");
  const auto position = std::find_if(events.begin(), events.end(),
                                     [](const auto& event) { return event.at("name") == "core-cycles-estimate"; });
  ASSERT_NE(position, events.end());
  const auto estimate = *position;
  if (is_on_a_busy_machine(estimate)) GTEST_SKIP() << estimate.at("reason");
  ASSERT_EQ(estimate.at("trust"), "estimated") << estimate;
  EXPECT_NE(estimate.at("reason").get<std::string>().find("this bound is that of the total: functions "),
            std::string::npos)
      << estimate;
  std::int64_t sum = 0;
  for (const auto& function : profile.at("functions"))
    sum += function.at("counts").at(position - events.begin()).get<std::int64_t>();
  EXPECT_EQ(sum, estimate.at("value"));
  const Finished compared = tally({"compare", stored.path(), stored.path(), "--fail-above", "core-cycles-estimate=1%"});
  EXPECT_NE(compared.out.find("undecided: needs "), std::string::npos) << compared.out << compared.err;
}

TEST(NativeRun, need_cycles_to_scale_a_profile) {
  const Finished finished = tally({"profile", "--native", "--backend", "engine", "--", "true"});
  EXPECT_EQ(finished.code(), 2);
  EXPECT_NE(finished.err.find("-e cycles"), std::string::npos) << finished.err;
}

TEST(NativeRun, refuse_a_pipe_and_code) {
  const Finished piped =
      Running({"/bin/sh", "-c", "echo | \"$0\" stat --native --backend engine -- cat", TALLY_COMMAND}).finish();
  EXPECT_EQ(piped.code(), 2);
  EXPECT_NE(piped.err.find("standard input is a pipe"), std::string::npos) << piped.err;
  EXPECT_EQ(tally({"stat", "--native", "--asm", "nop"}).code(), 2);
}

TEST(NativeRun, are_refused_in_a_rank) {
  setenv("PMI_RANK", "0", 1);
  for (const char* const command : {"stat", "profile"}) {
    const Finished finished = tally({command, "--native", "--backend", "engine", "-e", "cycles", "--", "true"});
    EXPECT_EQ(finished.code(), 2);
    EXPECT_NE(finished.err.find("put tally before mpirun"), std::string::npos) << finished.err;
  }
  unsetenv("PMI_RANK");
  setenv("SLURM_PROCID", "0", 1);  // also of steps without MPI
  EXPECT_EQ(native_run({"-e", "loads", "--", "true"}).code(), 0);
  unsetenv("SLURM_PROCID");
}

TEST(NativeRun, that_fail_are_the_reason_of_what_lacks_their_times) {
  const TemporaryFile flag("flag");
  const Finished finished =
      native_run({"-e", "loads,duration_time,core-cycles-estimate", "-M", "RATE=loads / core-cycles-estimate", "--",
                  "/bin/sh", "-c", "test -e \"$0\" && exit 3; : > \"$0\"", flag.path()});
  const auto result = nlohmann::json::parse(finished.out);
  for (const char* const name : {"duration_time", "core-cycles-estimate"})
    EXPECT_NE(row(result, name).at("reason").get<std::string>().find("ended with exit code 3"), std::string::npos)
        << row(result, name);
  EXPECT_EQ(finished.out.find("add --native"), std::string::npos) << finished.out;
  EXPECT_EQ(finished.out.find("use --native"), std::string::npos) << finished.out;
}
#endif

}  // namespace
}  // namespace tally::test
