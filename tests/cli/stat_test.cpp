// `tally stat` on a program that runs once: what the program sees, and what the output says about it.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tally/core/base/text.hpp"
#include "tally/hardware/event/event.hpp"
#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

using nlohmann::json;

Words native(const Words& words) { return with({"stat", "--backend", "none"}, words); }

/// The backend's options, followed by these words.
json result_by(const Words& words) {
  const TemporaryFile file("result.json");
  const Finished finished = tally(with({"stat", "-q", "--format", "json", "-o", file.path()}, words));
  EXPECT_EQ(finished.err, "");
  return json::parse(file.content().value_or("no file"));
}

json result_of(const Words& words) { return result_by(with({"--backend", "none"}, words)); }

TEST(Stat, streams_and_exit_code_are_the_programs_own) {
  Environment input;
  input.input = "from standard input";
  const Finished finished = tally(native({"-o", "/dev/null", "--", "sh", "-c", "cat; echo oops >&2; exit 3"}), input);
  EXPECT_EQ(finished.code(), 3);
  EXPECT_EQ(finished.out, "from standard input");
  EXPECT_EQ(finished.err, "oops\n");
}

TEST(Stat, a_killed_program_ends_tally_with_128_and_the_signal) {
  const Finished finished = tally(native({"--", "sh", "-c", "kill -SEGV $$"}));
  EXPECT_EQ(finished.code(), 128 + 11);
  EXPECT_NE(finished.err.find("killed by SIGSEGV"), std::string::npos) << finished.err;
  EXPECT_EQ(tally(native({"--", "sh", "-c", "kill -9 $$"})).code(), 128 + 9);
}

TEST(Stat, arguments_reach_the_program_letter_by_letter) {
  const Words odd{"[a,b]", "", "--", "-r", "%%", "a b", "-e", "'x'", "{}"};
  for (const Words& separator : {Words{"--"}, Words{}}) {
    Words words{"-o", "/dev/null"};
    words.insert(words.end(), separator.begin(), separator.end());
    words.insert(words.end(), {"printf", "<%s>"});
    words.insert(words.end(), odd.begin(), odd.end());
    std::string wanted;
    for (const std::string& word : odd) wanted += "<" + word + ">";
    EXPECT_EQ(tally(native(words)).out, wanted);
  }
}

TEST(Stat, the_program_inherits_no_descriptor_or_signal_of_tallys) {
  Environment closed;
  closed.closed_output = true;
  // Programs that print their own state: a shell blocks signals while it starts others.
  for (const Words& inspection :
       {Words{"/bin/ls", "/proc/self/fd"}, Words{"/bin/grep", "Sig[BIC]", "/proc/self/status"}}) {
    Words words{"-o", "/dev/null", "--"};
    words.insert(words.end(), inspection.begin(), inspection.end());
    EXPECT_EQ(tally(native(words)).out, Running(inspection).finish().out);
    EXPECT_EQ(tally(native(words), closed).err, Running(inspection, closed).finish().err);
  }
}

TEST(Stat, a_script_without_a_first_line_runs_as_in_a_shell) {
  const TemporaryFile script("script", "echo \"$# $1\"\n", 0755);
  EXPECT_EQ(tally(native({"-o", "/dev/null", "--", script.path(), "one"})).out, "1 one\n");
}

TEST(Stat, without_o_results_go_to_standard_error) {
  const Finished table = tally(native({"-e", "page-faults", "--", "true"}));
  EXPECT_EQ(table.out, "");
  EXPECT_NE(table.err.find(" page-faults "), std::string::npos);
  const Finished object = tally(native({"--format", "json", "--", "true"}));
  EXPECT_EQ(object.out, "");
  EXPECT_EQ(json::parse(object.err)["exit_code"], 0);
  const Finished automatic = tally({"stat", "--format", "json", "-e", "loads", "--", "true"});
  EXPECT_FALSE(json::parse(automatic.err)["notices"].empty()) << "tally's own messages must not break the object";
}

TEST(Stat, an_output_file_is_replaced_whole) {
  const TemporaryFile file("result.json", std::string(100'000, 'x'));
  EXPECT_EQ(tally(native({"--format", "json", "-o", file.path(), "--", "true"})).code(), 0);
  EXPECT_TRUE(json::accept(*file.content()));
}

TEST(Stat, only_software_events_run_natively_without_a_notice) {
  const TemporaryFile file("result.json");
  const Finished finished =
      tally({"stat", "-e", "page-faults,duration_time", "--format", "json", "-o", file.path(), "--", "true"});
  EXPECT_EQ(finished.err, "");
  const json result = json::parse(*file.content());
  EXPECT_EQ(result["backend"], "none");
  EXPECT_TRUE(result["notices"].empty());
}

TEST(Stat, page_faults_under_the_engine_report_how_many_are_its_own) {
#if !defined(__x86_64__)
  GTEST_SKIP() << "the engine is for x86-64";
#endif
  // 2,000 pages are the program's; the engine adds some hundreds of its own.
  const Words touches{"perl", "-e", "my $x = 'x' x 8_192_000; exit 0"};
  const json result = result_by(with({"--backend", "engine", "-e", "instructions,page-faults", "--"}, touches));
  const json& faults = result["events"][1];
  ASSERT_EQ(faults["trust"], "partial");
  const std::string reason = faults["reason"];
  if (reason == "includes the engine's overhead") GTEST_SKIP() << "the kernel does not sample page faults here";
  std::string digits;
  for (const char c : reason)
    if (c >= '0' && c <= '9') digits += c;
  ASSERT_FALSE(digits.empty()) << reason;
  const long long own = std::stoll(digits);
  EXPECT_EQ(reason, "includes " + thousands(own) + " in the engine's memory");
  const long long program = faults["value"].get<long long>() - own;
  const json native = result_of(with({"-e", "page-faults", "--"}, touches))["events"][0];
  EXPECT_NEAR(static_cast<double>(program), native["value"].get<double>(), 0.1 * native["value"].get<double>());
  EXPECT_GT(own, 100);
}

TEST(Stat, automatic_choice_is_announced) {
  const Finished finished = tally({"stat", "--", "true"});
  EXPECT_EQ(finished.err.find("tally: this "), 0u) << finished.err;
}

TEST(Stat, the_kernels_values_are_counted_and_name_their_source) {
  const json result = result_of({"--", "true"});
  std::map<std::string, json> events;
  for (const json& event : result["events"]) events[event["name"]] = event;
  ASSERT_EQ(events.size(), event::default_set().size());
  for (const char* name : {"page-faults", "user_time", "system_time"}) {
    EXPECT_EQ(events[name]["trust"], "counted") << name;
  }
  EXPECT_EQ(events["user_time"]["source"], "wait4");
  const json& source = events["page-faults"]["source"];
  EXPECT_TRUE(source == "perf_event" || source == "wait4") << source;
  EXPECT_GT(events["page-faults"]["value"], 0);
  EXPECT_GT(events["duration_time"]["value"], 0);
  EXPECT_EQ(events["peak-memory"]["unit"], "bytes");
  EXPECT_TRUE(events["instructions:u"]["value"].is_null());
  EXPECT_EQ(events["instructions:u"]["trust"], "absent");
  EXPECT_TRUE(events["instructions:u"]["reason"].is_string());
}

TEST(Stat, shows_the_processor_that_the_program_was_pinned_to) {
  EXPECT_TRUE(result_of({"-e", "page-faults", "--", "true"})["processor"].is_null());
  const Finished pinned =
      tally({"stat", "-e", "page-faults", "--pin", "0", "--format", "json", "-o", "-", "--", "true"});
  if (pinned.code() != 0) GTEST_SKIP() << pinned.err;
  EXPECT_EQ(json::parse(pinned.out)["processor"], 0);
}

TEST(Stat, ticks_of_the_time_stamp_counter_fit_the_clock) {
#if !defined(__x86_64__)
  GTEST_SKIP() << "only x86 has this counter";
#endif
  const json result = result_of({"-e", "tsc,duration_time", "--", "sleep", "0.05"});
  const double ticks_per_ns = result["metrics"][0]["value"];
  EXPECT_EQ(result["metrics"][0]["metric"], "tsc/duration_time");
  EXPECT_GT(ticks_per_ns, 0.1);
  EXPECT_LT(ticks_per_ns, 10);
}

TEST(Stat, page_faults_and_memory_are_the_programs) {
  // `true` touches next to nothing, dd a buffer of 32 MiB.
  const json small = result_of({"-e", "page-faults", "--", "true"});
  EXPECT_LT(small["events"][0]["value"], 1000);
  const json large =
      result_of({"-e", "peak-memory", "--", "dd", "if=/dev/zero", "of=/dev/null", "bs=32M", "count=1", "status=none"});
  EXPECT_GE(large["events"][0]["value"], 32 << 20);
  EXPECT_EQ(large["events"][0]["trust"], "counted");
}

TEST(Stat, json_has_every_key_that_the_schema_requires) {
  std::ifstream file(TALLY_STAT_SCHEMA);
  const json schema = json::parse(file);
  const auto check = [&](const json& object, const json& description, const std::string& where) {
    for (const json& key : description["required"]) EXPECT_TRUE(object.contains(key)) << where << " lacks " << key;
    for (const auto& [key, value] : object.items()) {
      EXPECT_TRUE(description["properties"].contains(key)) << where << " has " << key << ", which is not described";
    }
  };
  const json& definitions = schema["$defs"];
  for (const Words& words : {Words{"--", "true"}, Words{"-r", "2", "--per-process", "--per-thread", "--", "true"}}) {
    const json result = result_of(words);
    EXPECT_EQ(result["schema"], "tally-stat/2");
    check(result, schema, "the result");
    check(result["environment"], definitions["environment"], "environment");
    for (const json& event : result["events"]) check(event, definitions["event"], "an event");
    for (const json& metric : result["metrics"]) check(metric, definitions["metric"], "a metric");
    for (const json& run : result["runs"]) check(run, definitions["run"], "a run");
  }
}

TEST(Stat, processes_and_threads_are_reported_on_request) {
  const json plain = result_of({"--", "true"});
  EXPECT_FALSE(plain.contains("processes"));
  EXPECT_FALSE(plain.contains("threads"));
  const json asked = result_of({"--per-process", "--per-thread", "--", "true"});
  EXPECT_TRUE(asked["processes"].is_array());
  EXPECT_TRUE(asked["threads"].is_array());
  EXPECT_NE(asked["notices"].dump().find("a native run cannot count processes separately"), std::string::npos)
      << "it must say why they are empty";
}

TEST(Stat, the_tables_numbers_are_the_jsons) {
  // One run cannot be written twice, so the test compares numbers that do not change from run to run.
  const Words tail{"-e", "major-faults,instructions", "--", "true"};
  const json result = result_of(tail);
  std::istringstream lines(tally(native(tail)).err);
  std::map<std::string, std::string> table;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream cells(line);
    std::string name, number;
    if (cells >> name >> number) table[name] = number;
  }
  for (const json& event : result["events"]) {
    const std::string wanted = event["value"].is_null() ? "-" : thousands(event["value"].get<std::int64_t>());
    EXPECT_EQ(table[event["name"].get<std::string>()], wanted);
  }
}

}  // namespace
}  // namespace tally::test
