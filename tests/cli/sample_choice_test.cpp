// Which windows `tally sample` writes, where, and how they are read again.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

std::vector<std::vector<std::string>> cells_by_row(const std::string& csv) {
  std::vector<std::vector<std::string>> rows;
  std::istringstream text(csv);
  std::string line;
  std::getline(text, line);
  while (std::getline(text, line)) {
    auto& row = rows.emplace_back();
    std::istringstream cells(line);
    for (std::string cell; std::getline(cells, cell, ',');) row.push_back(cell);
  }
  return rows;
}
constexpr std::size_t window_number = 1, program = 4;

class SampleChoice : public testing::Test {
 protected:
  void SetUp() override {
#if !TALLY_HAS_ENGINE
    GTEST_SKIP() << "the engine is for x86-64";
#endif
  }
  // Windows of `sh -c 'ls / | wc -l'`, every 20,000 instructions, with more options.
  Finished sample(const Words& more, const std::string& output) {
    Words words{"sample", "--backend", "engine", "--every", "20k", "-o", output};
    words.insert(words.end(), more.begin(), more.end());
    words.insert(words.end(), {"--", "/bin/sh", "-c", "ls / | wc -l"});
    return tally(words);
  }
};

TEST_F(SampleChoice, selects_programs_by_their_names) {
  const TemporaryFile file("w.csv");
  const Finished only = sample({"--only", "wc", "--only", "ls"}, file.path());
  std::set<std::string> programs;
  for (const auto& row : cells_by_row(file.content().value_or(""))) programs.insert(row.at(program));
  EXPECT_EQ(programs, (std::set<std::string>{"ls", "wc"}));
  EXPECT_NE(only.err.find("left out: "), std::string::npos) << only.err;
  EXPECT_NE(only.err.find(" of sh"), std::string::npos) << only.err;
  sample({"--not", "wc"}, file.path());
  programs.clear();
  for (const auto& row : cells_by_row(file.content().value_or(""))) programs.insert(row.at(program));
  EXPECT_TRUE(programs.contains("ls"));
  EXPECT_FALSE(programs.contains("wc"));
  const Finished none = sample({"--only", "gzip"}, file.path());
  EXPECT_NE(none.err.find("no windows of the requested programs"), std::string::npos) << none.err;
}

TEST_F(SampleChoice, native_windows_are_chosen_alike) {
  const TemporaryFile file("w.csv");
  const Finished finished = tally({"sample", "--backend", "perf", "--every", "1", "--by", "page-faults", "--only", "ls",
                                   "-o", file.path(), "--", "/bin/sh", "-c", "ls / >/dev/null; true"});
  if (finished.code() != 0) GTEST_SKIP() << finished.err;
  const auto rows = cells_by_row(file.content().value_or(""));
  ASSERT_FALSE(rows.empty());
  for (const auto& row : rows) EXPECT_EQ(row.at(program), "ls");
}

TEST_F(SampleChoice, skips_windows_and_limits_their_number) {
  const TemporaryFile file("w.csv");
  sample({"--only", "wc", "--skip", "1", "--windows", "2"}, file.path());
  const auto rows = cells_by_row(file.content().value_or(""));
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].at(window_number), "2");
  EXPECT_EQ(rows[1].at(window_number), "3");
}

TEST_F(SampleChoice, the_outputs_name_selects_its_form) {
  for (const auto& [name, begin] : {std::pair{"w.csv.gz", "\x1f\x8b"},
                                    {"w.jsonl", "{\"schema\""},
                                    {"w.csv", "series,"},
                                    {"w.json", "{\"displayTimeUnit\""}}) {
    const TemporaryFile file(name);
    const Finished finished = sample({}, file.path());
    EXPECT_TRUE(file.content().value_or("").starts_with(begin)) << name;
    EXPECT_EQ(finished.err.find("use --format"), std::string::npos) << finished.err;
  }
  const TemporaryFile other("w.txt");
  EXPECT_NE(sample({}, other.path()).err.find("as csv; use --format"), std::string::npos);
  EXPECT_TRUE(other.content().value_or("").starts_with("series,"));
}

TEST_F(SampleChoice, what_rows_lack_is_in_the_metadata_file) {
  const TemporaryFile file("w.csv");
  sample({}, file.path());
  const auto metadata = nlohmann::json::parse(TemporaryFile::read(file.path() + ".meta.json").value_or(""));
  EXPECT_EQ(metadata["schema"], "tally-windows/1");
  EXPECT_EQ(metadata["every"][0]["count"], 20'000);
  EXPECT_EQ(metadata["events"][0]["trust"], "exact");
  const TemporaryFile lines("w.jsonl");
  sample({}, lines.path());
  EXPECT_FALSE(std::filesystem::exists(lines.path() + ".meta.json")) << "its first line is the description";
  EXPECT_EQ(tally({"sample", "--every", "1k", "-o", file.path(), "--meta", file.path(), "--", "true"}).code(), 2);
}

TEST_F(SampleChoice, the_metadata_file_is_written_when_nobody_reads_the_rows) {
  const TemporaryFile file("w.meta.json");
  const Finished run =
      Running({"/bin/sh", "-c",
               "sh -c 'while :; do (:); done' & p=$!; \"$0\" sample -q --backend perf -p $p -e page-faults:u --by "
               "page-faults:u --every 100 --format csv --meta \"$1\" -o - | head -2; kill $p",
               tally_words({}).front(), file.path()})
          .finish();
  if (holds(run.err, "cannot")) GTEST_SKIP() << run.err;
  EXPECT_TRUE(holds(file.content().value_or(""), "tally-windows/1")) << run.out << run.err;
}

// The thread belongs to a forked child, and ends before its rows are read.
TEST_F(SampleChoice, where_names_the_function_of_an_address) {
  const TemporaryFile file("w.csv"), lines("w.jsonl");
  const Finished finished = tally({"sample", "--backend", "engine", "-q", "--where", "-e", "instructions", "--every",
                                   "10k", "-o", file.path(), "--", WORKERS, "1", "1", "400000"});
  EXPECT_EQ(finished.code(), 0) << finished.err;
  constexpr std::size_t process = 5, thread = 6, trigger = 9, function = 11;
  int inside = 0, named = 0;
  for (const auto& row : cells_by_row(file.content().value_or(""))) {
    ASSERT_EQ(row.size(), 15u);
    if (row[process] == row[thread] || row[trigger] == "end") continue;
    ++inside;
    named += row[function].find("count_down") != std::string::npos ? 1 : 0;
  }
  EXPECT_GE(inside, 80);
  EXPECT_GE(named, inside - 3) << "but for the thread's beginning and end";
  const std::string rows = file.content().value_or("");
  EXPECT_EQ(tally({"export", file.path(), "-o", lines.path()}).code(), 0);
  EXPECT_EQ(cells_by_row(tally({"export", lines.path()}).out).size(), cells_by_row(rows).size());
  EXPECT_NE(tally({"export", lines.path()}).out.find("count_down"), std::string::npos);
}

TEST_F(SampleChoice, where_is_refused_without_the_engine) {
  const Finished native = tally({"sample", "--where", "--every", "1ms", "--", "true"});
  EXPECT_EQ(native.code(), 2);
  EXPECT_NE(native.err.find("--where needs the engine"), std::string::npos) << native.err;
  const Finished trace =
      tally({"sample", "--where", "--every", "10k", "-o", "/dev/null", "--format", "chrome-trace", "--", "true"});
  EXPECT_EQ(trace.code(), 2);
}

// The rows are written before it is known what the program does at its end.
TEST_F(SampleChoice, what_continues_natively_is_partial_in_every_file) {
  const TemporaryFile rows("w.csv"), lines("w.jsonl");
  for (const std::string& file : {rows.path(), lines.path()}) {
    const Finished finished =
        tally({"sample", "--backend", "engine", "-q", "-e", "instructions,loads", "--every", "100k", "-o", file, "--",
               "/usr/bin/perl", "-e", "syscall(157, 59, 1, 1, 0x7fffffffffff, 0)"});
    EXPECT_TRUE(finished.err.starts_with(
        "tally: instructions:u, loads:u are partial: perl: it intercepts its own system calls"))
        << finished.err;
    const std::string text = TemporaryFile::read(file == rows.path() ? file + ".meta.json" : file).value_or("");
    EXPECT_EQ(text.find(R"("trust":"exact","source)"), std::string::npos);
    const auto last = nlohmann::json::parse(text.substr(text.rfind('\n', text.size() - 2) + 1));
    EXPECT_EQ(last["events"][1]["trust"], "partial");
    EXPECT_NE(last["events"][1]["reason"].get<std::string>().find("it intercepts"), std::string::npos) << last;
    const std::string page = tally({"report", file, "-o", "-", "--format", "html"}).out;
    EXPECT_NE(page.find("it intercepts its own system calls"), std::string::npos);
  }
  // Without its last line the trust of the whole is unknown.
  std::string cut = lines.content().value_or("");
  cut.resize(cut.rfind('\n', cut.size() - 2) + 1);
  const TemporaryFile shorter("cut.jsonl", cut);
  EXPECT_NE(
      tally({"report", shorter.path(), "-o", "-", "--format", "html"}).out.find("the last line of the file is missing"),
      std::string::npos);
}

TEST_F(SampleChoice, every_form_is_exported_to_the_same_rows) {
  const TemporaryFile packed("w.csv.gz"), lines("w.jsonl"), csv("w.csv");
  sample({"--only", "wc"}, packed.path());
  EXPECT_TRUE(std::filesystem::exists(packed.path() + ".meta.json"));
  const std::string rows = tally({"export", packed.path()}).out;
  EXPECT_GT(cells_by_row(rows).size(), 2u);
  EXPECT_EQ(tally({"export", packed.path(), "-o", lines.path()}).code(), 0);
  EXPECT_EQ(tally({"export", lines.path()}).out, rows);
  EXPECT_EQ(tally({"export", lines.path(), "-o", csv.path()}).code(), 0);
  EXPECT_EQ(tally({"export", csv.path()}).out, rows);
  const TemporaryFile again("again.csv.gz");
  tally({"export", lines.path(), "-o", again.path()});
  EXPECT_EQ(again.content(), packed.content());
}

TEST_F(SampleChoice, merged_rows_are_of_processes_and_their_sums_are_the_threads) {
  const TemporaryFile file("w.csv"), apart("t.csv");
  const Words command{"--", WORKERS, "1", "4", "20000"};
  const Words options{"sample", "--backend", "engine", "-q", "-e", "instructions,loads", "--every", "8000", "-o"};
  const Finished finished = tally(with(with(options, {file.path(), "--merged"}), command));
  EXPECT_EQ(finished.code(), 0) << finished.err;
  tally(with(with(options, {apart.path()}), command));
  constexpr std::size_t process = 5, trigger = 10, instructions = 8, length = 3;
  std::map<std::string, std::set<std::string>> series;
  std::map<std::string, long> sums, ends;
  for (const auto& row : cells_by_row(file.content().value_or(""))) {
    series[row.at(process) + row.at(program)].insert(row.at(0));
    sums[row.at(program)] += std::stol(row.at(instructions));
    EXPECT_EQ(row.at(length), row.at(instructions));
    if (row.at(trigger) == "end")
      ++ends[row.at(0)];
    else
      EXPECT_GE(std::stol(row.at(length)), 8000);
    EXPECT_LT(std::stol(row.at(length)), 9000) << "a part is 1000";
  }
  for (const auto& [of, numbers] : series) EXPECT_EQ(numbers.size(), 1u) << of;
  for (const auto& [of, end_count] : ends) EXPECT_EQ(end_count, 1) << of;
  EXPECT_FALSE(sums.empty());
  long threads = 0, processes = 0;
  for (const auto& row : cells_by_row(apart.content().value_or(""))) threads += std::stol(row.at(instructions));
  for (const auto& [of, sum] : sums) processes += sum;
  EXPECT_NEAR(static_cast<double>(processes), static_cast<double>(threads), 0.02 * static_cast<double>(threads))
      << "two runs of threads that wait for each other";
}

TEST_F(SampleChoice, merged_rows_of_one_thread_are_the_threads) {
  const TemporaryFile file("w.csv"), apart("t.csv");
  const Words options{"sample", "--backend",          "engine",  "-q",   "--repeatable",
                      "-e",     "instructions,loads", "--every", "8000", "-o"};
  tally(with(options, {file.path(), "--merged", "--", "/bin/true"}));
  tally(with(options, {apart.path(), "--", "/bin/true"}));
  const auto merged = cells_by_row(file.content().value_or("")), threads = cells_by_row(apart.content().value_or(""));
  ASSERT_EQ(merged.size(), threads.size());
  ASSERT_GT(merged.size(), 5u);
  for (std::size_t i = 0; i < merged.size(); ++i)
    for (const std::size_t cell : {1, 3, 8, 9, 10, 11})
      EXPECT_EQ(merged[i].at(cell), threads[i].at(cell)) << "row " << i + 1;
  EXPECT_EQ(tally({"sample", "--every", "1k", "--merged", "--bbv", "x.bb", "--", "true"}).code(), 2);
}

TEST(SampleChoiceUsage, empty_code_is_refused) {
  const Finished finished = tally({"stat", "--asm", " "});
  EXPECT_EQ(finished.code(), 2);
  EXPECT_NE(finished.err.find("--asm: the code is empty"), std::string::npos) << finished.err;
}

}  // namespace
}  // namespace tally::test
