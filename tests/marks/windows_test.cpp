// `tally sample --start-at` and `--stop-at`: windows of a part of programs without tally's calls.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

using nlohmann::json;

struct Sampled {
  Finished finished;
  json head;
  std::vector<json> rows;

  std::int64_t instructions() const {
    std::int64_t sum = 0;
    for (const json& row : rows) sum += row["counts"]["instructions:u"].get<std::int64_t>();
    return sum;
  }
  std::set<std::int64_t> all(const char* key) const {
    std::set<std::int64_t> found;
    for (const json& row : rows) found.insert(row[key].get<std::int64_t>());
    return found;
  }
};

Sampled sample(const Words& options, const Words& program) {
  const TemporaryFile file("w.jsonl");
  Words words = with({"sample", "--backend", "engine", "-e", "instructions", "-o", file.path()}, options);
  words.emplace_back("--");
  Sampled made{tally(with(words, program)), {}, {}};
  std::istringstream lines(file.content().value_or(""));
  std::string line;
  if (std::getline(lines, line)) made.head = json::parse(line, nullptr, false);
  while (std::getline(lines, line)) made.rows.push_back(json::parse(line, nullptr, false));
  if (!made.rows.empty()) made.rows.pop_back();  // the last line describes the measurement again
  return made;
}

TEST(WindowsOfAPart, begin_with_the_first_instruction_and_end_before_the_stop_address) {
  const Sampled tail = sample({"--every", "1", "--start-at", "jumped_to", "--stop-at", "known"}, {PARTS, "tail"});
  EXPECT_EQ(tail.finished.code(), 0) << tail.finished.err;
  ASSERT_EQ(tail.rows.size(), 1u) << "its jump; later arrivals are not the first";
  EXPECT_EQ(tail.rows[0]["trigger"], "instructions:u");
  EXPECT_EQ(tail.head["start_at"], "jumped_to");
  EXPECT_EQ(tail.head["stop_at"], "known");

  const Sampled leap = sample({"--every", "2", "--start-at", "leaps", "--stop-at", "known"}, {PARTS, "leap"});
  ASSERT_EQ(leap.rows.size(), 2u) << leap.finished.err;
  EXPECT_EQ(leap.instructions(), 3);
  EXPECT_EQ(leap.rows[1]["trigger"], "end");
  EXPECT_EQ(leap.rows[1]["number"], 2);
}

TEST(WindowsOfAPart, count_what_regions_count) {
  const TemporaryFile file("r.json");
  tally({"stat", "--backend", "engine", "-q", "-e", "instructions", "--format", "json", "-o", file.path(), "--from",
         "main", "--to", "_exit", "--", PARTS, "fork"});
  const json stat = json::parse(file.content().value_or(""), nullptr, false);
  const Sampled part = sample({"--every", "100", "--start-at", "main", "--stop-at", "_exit"}, {PARTS, "fork"});
  std::int64_t first = 0;
  for (const json& row : part.rows)
    if (row["process"] == *part.all("process").begin()) first += row["counts"]["instructions:u"].get<std::int64_t>();
  const std::int64_t region = stat["regions"][0]["regions"][0]["events"][0]["value"].get<std::int64_t>();
  EXPECT_NEAR(static_cast<double>(first), static_cast<double>(region), 100) << "addresses and the stack differ";
}

TEST(WindowsOfAPart, continue_in_children_and_begin_in_threads_that_get_there) {
  const Sampled forked = sample({"--every", "100", "--start-at", "known"}, {PARTS, "fork"});
  EXPECT_EQ(forked.finished.code(), 0) << forked.finished.err;
  EXPECT_EQ(forked.all("process").size(), 2u);
  const Sampled threads = sample({"--every", "10", "--start-at", "known"}, {PARTS, "threads"});
  EXPECT_EQ(threads.all("thread").size(), 3u) << "the first thread never gets there";
}

TEST(WindowsOfAPart, are_of_every_process_of_the_program_and_of_its_libraries) {
  const std::string program = PARTS;
  const Sampled shell = sample({"--every", "1", "--start-at", "jumped_to", "--stop-at", "known"},
                               {"/bin/sh", "-c", program + " tail; true"});
  EXPECT_EQ(shell.finished.code(), 0) << shell.finished.err;
  ASSERT_EQ(shell.rows.size(), 1u);
  EXPECT_EQ(shell.rows[0]["program"], "parts");
  const Sampled late = sample({"--every", "10", "--start-at", "parts_late.so:late"}, {PARTS, "load", LATE});
  EXPECT_EQ(late.finished.code(), 0) << late.finished.err;
  EXPECT_FALSE(late.rows.empty());
}

TEST(WindowsOfAPart, have_vectors_of_the_part_alone) {
  const TemporaryFile vectors("w.bb");
  const Sampled part = sample({"--every", "100", "--start-at", "touches", "--bbv", vectors.path()}, {PARTS, "touch"});
  std::istringstream lines(vectors.content().value_or(""));
  std::int64_t sum = 0, count = 0;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with('T')) continue;
    ++count;
    std::istringstream cells(line.substr(1));
    for (std::string cell; cells >> cell;) sum += std::stol(cell.substr(cell.rfind(':') + 1));
  }
  EXPECT_EQ(count, static_cast<std::int64_t>(part.rows.size()));
  EXPECT_EQ(sum, part.instructions());
  EXPECT_GE(sum, 513);
}

TEST(WindowsOfAPart, report_what_was_not_reached) {
  const Sampled never = sample({"-q", "--every", "100", "--start-at", "touches"}, {PARTS, "tail"});
  EXPECT_EQ(never.finished.code(), 125);
  EXPECT_TRUE(never.rows.empty());
  EXPECT_NE(never.finished.err.find("no thread reached 'touches' (--start-at)"), std::string::npos)
      << never.finished.err;
  const Sampled unknown = sample({"--every", "100", "--start-at", "touchs"}, {PARTS, "tail"});
  EXPECT_EQ(unknown.finished.code(), 125);
  EXPECT_NE(unknown.finished.err.find("did you mean touches"), std::string::npos) << unknown.finished.err;
  const Sampled on = sample({"--every", "100", "--stop-at", "touches"}, {PARTS, "tail"});
  EXPECT_EQ(on.finished.code(), 0);
  EXPECT_NE(on.finished.err.find("no thread reached 'touches' (--stop-at): windows continue"), std::string::npos)
      << on.finished.err;
  EXPECT_FALSE(on.rows.empty());
}

// One row for each pair of traps, without them; the program continues, and ends as it would without tally.
TEST(WindowsOfEntries, are_rows_of_the_code_between_two_traps) {
  for (const std::string trap : {"int2e", "int3"}) {
    for (const Words& more : {Words{}, Words{"--block-size", "1"}, Words{"--hot-from", "1"}}) {
      const Sampled entries = sample(with({"--trap", trap}, more), {COUNTERS, trap});
      EXPECT_EQ(entries.finished.code(), 0) << entries.finished.err;
      ASSERT_EQ(entries.rows.size(), 2u) << trap;
      EXPECT_EQ(entries.all("length"), (std::set<std::int64_t>{4, 9}));
      EXPECT_EQ(entries.all("number"), (std::set<std::int64_t>{1, 2}));
      EXPECT_EQ(entries.rows[0]["trigger"], "end");
      EXPECT_EQ(entries.head["start_at"], trap);
    }
    const Sampled divided = sample({"--trap", trap, "--every", "2"}, {COUNTERS, trap});
    EXPECT_EQ(divided.instructions(), 4 + 9);
    EXPECT_GE(divided.rows.size(), 2u + 5u);
  }
}

TEST(WindowsOfEntries, are_as_many_as_entries) {
  const Sampled entries = sample({"-q", "--trap", "int2e"}, {COUNTERS, "traps"});
  EXPECT_EQ(entries.rows.size(), 20'000u);
  EXPECT_EQ(entries.instructions(), 130'000);
  const Sampled leaps = sample({"-q", "--per-entry", "--start-at", "known", "--stop-at", "leaps"}, {PARTS, "leap"});
  EXPECT_EQ(leaps.rows.size(), 19u + 1u) << "the last one ends with the program";
}

TEST(WindowsOfEntries, are_rows_of_stat_too) {
  const TemporaryFile csv("rows.csv"), hpctool("hpctool.csv");
  const Words counted{"stat", "-q", "--backend", "engine", "--trap", "int2e", "--per-entry"};
  const Finished finished = tally(with(counted, {"-o", csv.path(), "--", COUNTERS, "int2e"}));
  EXPECT_EQ(finished.code(), 0) << finished.err;
  const std::string text = csv.content().value_or("");
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3) << text;
  const Finished seven = tally(with(counted, {"--format", "hpctool", "--model", "haswell", "-e",
                                              "instructions,cycles,ref-cycles,branches,branch-misses,loads,stores",
                                              "-o", hpctool.path(), "--", COUNTERS, "int2e"}));
  EXPECT_EQ(seven.code(), 0) << seven.err;
  const std::string rows = hpctool.content().value_or("");
  EXPECT_TRUE(rows.starts_with("ins,l_cycle,ref_cycle,event1,event2,event3,event4\r\n")) << rows;
  EXPECT_EQ(std::count(rows.begin(), rows.end(), '\n'), 3) << rows;
  const std::string exported = tally({"export", "--format", "csv", hpctool.path()}).out;
  EXPECT_NE(exported.find(",modelled"), std::string::npos) << exported;
}

TEST(WindowsOfEntries, need_both_ends) {
  EXPECT_EQ(tally({"sample", "--per-entry", "--", "true"}).code(), 2);
  EXPECT_EQ(tally({"sample", "--per-entry", "--start-at", "main", "--", "true"}).code(), 2);
  EXPECT_EQ(tally({"sample", "--trap", "int3", "--start-at", "main", "--", "true"}).code(), 2);
  EXPECT_EQ(tally({"sample", "--trap", "int3", "--per-entry", "--every", "5", "--", "true"}).code(), 2);
  const Finished never = tally({"sample", "-q", "--trap", "int3", "--", "true"});
  EXPECT_EQ(never.code(), 125);
  EXPECT_NE(never.err.find("no thread reached a trap"), std::string::npos) << never.err;
}

TEST(WindowsOfAPart, are_refused_natively) {
  const Finished native = tally({"sample", "--every", "1ms", "--start-at", "main", "--", PARTS, "tail"});
  EXPECT_EQ(native.code(), 125);
  EXPECT_NE(native.err.find("uprobes"), std::string::npos) << native.err;
  EXPECT_EQ(tally({"sample", "--every", "1k", "--start-at", "0xzz", "--", PARTS, "tail"}).code(), 2);
}

}  // namespace
}  // namespace tally::test
