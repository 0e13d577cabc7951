// Results for other tools: what those tools read, and what happens if results cannot be written.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tally/core/base/text.hpp"
#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

using nlohmann::json;

constexpr const char* header =
    "run,interval_ns,pid,tid,cpu,region,event,value,trust,running_percent,error_percent,model,reason,"
    "command,parent,end,least,most\r\n";

// A count that is the same in every run and needs no engine.
const Words tail{"--backend", "none", "-e", "major-faults,instructions", "--", "true"};

Finished stat(Words words) {
  words.insert(words.begin(), "stat");
  words.insert(words.end(), tail.begin(), tail.end());
  return tally(words);
}

std::size_t lines(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

Finished shell_with_tally(const std::string& script, const Words& arguments = {}) {
  Words words{"/bin/sh", "-c", script, TALLY_COMMAND};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return Running(words).finish();
}

bool have(const std::string& program) { return shell_with_tally("command -v " + program).code() == 0; }

TEST(Formats, the_outputs_name_selects_the_format_and_format_overrides_it) {
  const TemporaryFile object("a.json"), lines_file("a.jsonl"), rows("a.csv"), table("b.json");
  ASSERT_EQ(stat({"-q", "-o", object.path()}).code(), 0);
  EXPECT_EQ(json::parse(*object.content())["schema"], "tally-stat/2");
  ASSERT_EQ(stat({"-q", "-o", lines_file.path()}).code(), 0);
  EXPECT_EQ(lines(*lines_file.content()), 1u);
  ASSERT_EQ(stat({"-q", "-o", rows.path()}).code(), 0);
  EXPECT_TRUE(rows.content()->starts_with(header));
  ASSERT_EQ(stat({"-q", "--format", "table", "-o", table.path()}).code(), 0);
  EXPECT_TRUE(holds(*table.content(), " event "));
  const TemporaryFile exported("c.json"), fields("d.csv");
  ASSERT_EQ(tally({"export", object.path(), "-o", exported.path()}).code(), 0);
  EXPECT_EQ(json::parse(*exported.content()), json::parse(*object.content()));
  ASSERT_EQ(stat({"-q", "-x", ",", "-o", fields.path()}).code(), 0);
  EXPECT_FALSE(holds(*fields.content(), "run,interval_ns")) << "-x names a format, too";
}

TEST(Formats, the_outputs_name_selects_the_format_in_other_commands) {
  const TemporaryFile code("code.json"), watched("watched.csv"), list("list.csv");
  ASSERT_EQ(tally({"stat", "-q", "--model", "haswell", "--asm", "nop", "-o", code.path()}).code(), 0);
  EXPECT_EQ(json::parse(*code.content())["schema"], "tally-asm/2");
  ASSERT_EQ(tally({"watch", "-n", "1", "-I", "20", "-o", watched.path()}).code(), 0);
  EXPECT_TRUE(holds(watched.content()->substr(0, watched.content()->find('\n')), ","));
  ASSERT_EQ(tally({"watch", "--format", "table", "-n", "1", "-I", "20", "-o", list.path()}).code(), 0);
  EXPECT_TRUE(holds(*list.content(), "=====  Processor information"));
}

TEST(Formats, an_unknown_extension_is_refused) {
  const std::string stored = TALLY_GOLDEN "/processes.json", memory = TALLY_GOLDEN "/memory.json";
  const struct {
    Words words;
    std::string name, endings;
  } cases[] = {
      {{"stat", "--backend", "none"}, "x.xml", ".csv, .json, .jsonl, .md, .html, .htm;"},
      {{"stat", "--asm", "nop"}, "x.jsonl", ".csv, .json;"},
      {{"sample", "--every", "1ms"}, "x.xml", ".csv, .jsonl, .csv.gz, .json;"},
      {{"profile"},
       "x.csv",
       ".speedscope.json, .pb.gz, .pprof, .pgo, .afdo, .fdata, .preagg, .order, .info, .cobertura.xml, .coverage.html, "
       ".code.json, .html, .json;"},
      {{"export", stored}, "x.zip", ".csv, .json, .jsonl, .md, .html, .htm;"},
      {{"export", memory}, "x.zip", ".csv, .json, .html, .lens-csv;"},
      {{"report", memory}, "x.zip", "the suffixes are: .html, .htm\n"},
      {{"memory", "clock"}, "x.jsonl", ".csv, .json, .html, .lens-csv;"},
      {{"verify", "--quick"}, "x.csv", "the suffixes are: .json, .html;"},
      {{"discover"}, "x.html", "the suffixes are: .jsonl\n"},
      {{"watch", "-n", "1"}, "x.html", ".csv, .json, .jsonl;"},
  };
  for (const auto& one : cases) {
    const TemporaryFile file(one.name);
    const bool has_program = one.words[0] == "profile" || one.words[0] == "sample" || one.words.back() == "none";
    const Finished refused =
        tally(with(with(one.words, {"-o", file.path()}), has_program ? Words{"--", "true"} : Words{}));
    EXPECT_EQ(refused.code(), 2) << one.words[0] << refused.err;
    EXPECT_TRUE(holds(refused.err, "no format of this command has the file name suffix of '" + file.path() + "'"))
        << one.words[0] << refused.err;
    EXPECT_TRUE(holds(refused.err, one.endings)) << one.words[0] << refused.err;
    EXPECT_FALSE(file.content());
  }
  const TemporaryFile named("x.html"), text("x.log");
  EXPECT_EQ(stat({"-q", "--format", "csv", "-o", named.path()}).code(), 0);
  EXPECT_EQ(stat({"-q", "-o", text.path()}).code(), 0);
}

TEST(Formats, binary_formats_are_not_for_terminals) {
  if (!have("script")) GTEST_SKIP() << "script is not installed";
  const TemporaryFile windows("w.csv.gz");
  ASSERT_EQ(tally({"sample", "-q", "--every", "1", "--by", "page-faults:u", "-e", "page-faults:u", "-o", windows.path(),
                   "--", "true"})
                .code(),
            0);
  const std::string tally = TALLY_COMMAND;
  for (const std::string& command :
       {tally + " profile -q -e cpu-clock --format pprof -- true",
        tally + " profile -q -e cpu-clock --format pprof -o - -- true",
        tally + " sample -q --every 1 --by page-faults -e page-faults --format csv.gz -o - -- true",
        tally + " export --format csv.gz " + windows.path()}) {
    const Finished shown = shell_with_tally("script -qec '" + command + "' /dev/null");
    EXPECT_EQ(shown.code(), 2) << command << shown.out;
    EXPECT_TRUE(holds(shown.out, "refusing to write binary data to a terminal")) << command << shown.out;
    EXPECT_TRUE(holds(shown.out, "use `-o FILE`")) << shown.out;
  }
  EXPECT_EQ(shell_with_tally(tally + " export --format csv.gz " + windows.path()).out, windows.content());
  EXPECT_TRUE(shell_with_tally(tally + " profile -q -e cpu-clock --format pprof -- true").err.starts_with("\x1f\x8b"));
}

TEST(Formats, tables_fit_the_terminal_and_are_complete_elsewhere) {
  if (!have("script") || !have("stty")) GTEST_SKIP() << "script or stty is not installed";
  const std::string command = " export --format table --per-process " + std::string(TALLY_GOLDEN) + "/processes.json";
  const std::string long_name = "/usr/lib/gcc/x86_64-linux-gnu/12/cc1plus";
  EXPECT_TRUE(holds(shell_with_tally("\"$0\"" + command).out, long_name));
  for (const std::size_t columns : {60u, 80u, 200u}) {
    const std::string text =
        shell_with_tally("script -qec \"stty cols " + std::to_string(columns) + "; $0" + command + "\" /dev/null").out;
    EXPECT_EQ(holds(text, long_name), columns == 200) << text;
    EXPECT_TRUE(holds(text, "cc1plus")) << text;
    for (const char* number : {"90,000", "89,108", "17,821", "26,732", "8,910"})
      EXPECT_TRUE(holds(text, number) || holds(text, "left out: ")) << number << " in\n" << text;
    std::size_t rows = 0;
    for (const std::string& line : split(text, '\n')) {
      if (!line.starts_with("  100") && !line.starts_with(" 1002")) continue;
      ++rows;
      EXPECT_LE(display_width(trimmed(line)), columns) << line;
    }
    EXPECT_GE(rows, 2u) << text;
  }
}

TEST(Formats, other_tables_fit_the_terminal_too) {
  if (!have("script") || !have("stty")) GTEST_SKIP() << "script or stty is not installed";
  const std::string page_faults = "-q --every 1 --by page-faults:u -e page-faults:u,task-clock";
  for (const std::string& words :
       {std::string("export --format table " TALLY_GOLDEN "/memory.json"),
        "sample " + page_faults + " -o - --format table -- true", std::string("watch --batch -n 1 -I 20"),
        std::string("verify --list"), std::string("stat -q --model haswell --asm 'imul r12, r11' -o -")}) {
    const std::string text =
        shell_with_tally("script -qec \"stty cols 60; $0 " + words + " 2>/dev/null\" /dev/null").out;
    EXPECT_GT(lines(text), 2u) << words << text;
    for (const std::string& line : split(text, '\n')) {
      if (words.starts_with("watch") && line.find(": ") != std::string::npos) continue;  // facts of the machine
      EXPECT_LE(display_width(trimmed(line)), 60u) << words << "\n" << line;
    }
  }
}

TEST(Formats, threads_that_were_stored_without_their_processes_have_their_counts) {
  json result = json::parse(*TemporaryFile::read(TALLY_GOLDEN "/processes.json"));
  const json threads = {{{"run", 1},
                         {"pid", 1003},
                         {"image", 0},
                         {"tid", 1004},
                         {"name", "worker"},
                         {"events", result["processes"].back()["events"]}}};
  result.erase("processes");
  result["threads"] = threads;
  const TemporaryFile file("threads.json", result.dump());
  const Finished table = tally({"export", "--format", "table", "--per-thread", file.path()});
  EXPECT_TRUE(holds(table.out, "\n 1003  1004  ")) << table.out;
  EXPECT_TRUE(holds(table.out, "thread worker\n")) << table.out;
  EXPECT_TRUE(holds(table.out, " instructions:u  ")) << table.out;
  EXPECT_FALSE(holds(table.out, "unknown")) << table.out;
  const std::string rows = tally({"export", "--per-thread", file.path()}).out;
  EXPECT_TRUE(holds(rows, "\r\n1,,1003,1004,,,")) << rows;
  EXPECT_FALSE(holds(rows, "unknown")) << rows;
  const json again =
      json::parse(tally({"export", "--format", "json", "--per-thread", "--per-process", file.path()}).out);
  EXPECT_EQ(again["processes"], json::array());
  EXPECT_EQ(again["threads"][0]["tid"], 1004);
}

TEST(Formats, unsupported_files_are_refused_with_their_kind) {
  const TemporaryFile trace("t.json"), profile("p.json");
  ASSERT_EQ(tally({"sample", "-q", "--every", "1", "--by", "page-faults:u", "-e", "page-faults:u", "-o", trace.path(),
                   "--", "true"})
                .code(),
            0);
  for (const char* command : {"report", "export"}) {
    const Finished refused = tally({command, trace.path(), "-o", "-"});
    EXPECT_EQ(refused.code(), 2);
    EXPECT_TRUE(holds(refused.err, "is a trace for a viewer") && holds(refused.err, "ui.perfetto.dev")) << refused.err;
  }
  ASSERT_EQ(tally({"profile", "-q", "-e", "cpu-clock", "-o", profile.path(), "--", "true"}).code(), 0);
  const Finished refused = tally({"report", profile.path(), "--format", "csv"});
  EXPECT_EQ(refused.code(), 2);
  EXPECT_TRUE(holds(refused.err, "unknown format 'csv'")) << refused.err;
  const TemporaryFile verification("v.json", "{\"schema\": \"tally-verify/2\"}");
  const Finished page_only = tally({"report", verification.path(), "--format", "csv"});
  EXPECT_EQ(page_only.code(), 2);
  EXPECT_TRUE(holds(page_only.err, "is a result of `tally verify`")) << page_only.err;
  EXPECT_TRUE(holds(page_only.err, "-o page.html` makes a page")) << page_only.err;
}

TEST(Formats, report_converts_as_export_did) {
  const std::string stored = TALLY_GOLDEN "/processes.json", memory = TALLY_GOLDEN "/memory.json";
  for (const std::string& file : {stored, memory}) {
    const std::string csv = tally({"export", file}).out;
    EXPECT_FALSE(csv.empty());
    EXPECT_EQ(tally({"report", file, "--format", "csv"}).out, csv);
    const TemporaryFile named("x.csv");
    EXPECT_EQ(tally({"report", file, "-o", named.path()}).code(), 0);
    EXPECT_EQ(named.content(), csv);
  }
  EXPECT_EQ(tally({"report", stored, "--per-process"}).out,
            tally({"export", stored, "--per-process", "--format", "table"}).out);
  EXPECT_FALSE(holds(tally({"--help"}).out, "\n  export "));
  EXPECT_EQ(tally({"export", "--help"}).out, tally({"report", "--help"}).out);
  const Finished refused = tally({"report", memory, "--per-process"});
  EXPECT_EQ(refused.code(), 2);
  EXPECT_TRUE(holds(refused.err, "only --format and -o can be used")) << refused.err;
}

TEST(Formats, a_profile_reports_its_backend_as_stat_does) {
  const Finished counted = tally({"stat", "-e", "instructions", "--", "true"});
  const Finished profiled = tally({"profile", "-e", "instructions", "--", "true"});
  const std::string notice = counted.err.substr(0, counted.err.find('\n'));
  if (!notice.starts_with("tally: ")) GTEST_SKIP() << "a PMU is available here";
  EXPECT_TRUE(profiled.err.starts_with(notice + "\n")) << profiled.err;
  EXPECT_FALSE(holds(tally({"profile", "-q", "-e", "instructions", "--", "true"}).err, notice));
  EXPECT_TRUE(tally({"profile", "-e", "instructions", "--format", "json", "--", "true"}).err.starts_with("{"));
  EXPECT_TRUE(holds(tally({"profile", "--backend", "perf", "--", "true"}).err,
                    "tally: no PMU of this machine can be sampled: cpu-clock"));
}

TEST(Formats, csv_is_the_file_and_json_is_next_to_it) {
  const TemporaryFile file("rows.csv");
  ASSERT_EQ(stat({"--format", "csv", "-r", "2", "-o", file.path()}).code(), 0);
  const std::string rows = *file.content();
  EXPECT_EQ(rows.find(header), 0u);
  EXPECT_EQ(lines(rows), 5u) << rows;
  EXPECT_TRUE(holds(rows, "\r\n2,,,,,,instructions:u,,absent,")) << rows;
  const Finished metadata = tally({"export", "--format", "table", file.path() + ".meta.json"});
  EXPECT_EQ(metadata.code(), 0) << metadata.err;
  EXPECT_TRUE(holds(metadata.out, "major-faults"));
}

TEST(Formats, the_json_file_can_be_placed_elsewhere) {
  const TemporaryFile meta("meta.json");
  const Finished finished = stat({"--format", "csv", "-o", "-", "--meta", meta.path()});
  EXPECT_EQ(finished.out.find(header), 0u);
  EXPECT_EQ(json::parse(*meta.content())["schema"], "tally-stat/2");
  const TemporaryFile rows("rows.csv");
  stat({"--format", "csv", "-o", rows.path(), "--meta", meta.path()});
  EXPECT_FALSE(std::filesystem::exists(rows.path() + ".meta.json"));
}

TEST(Formats, append_continues_and_refuses_other_files) {
  const TemporaryFile file("rows.csv");
  for (int i = 0; i < 2; ++i) ASSERT_EQ(stat({"--format", "csv", "--append", "-r", "2", "-o", file.path()}).code(), 0);
  const std::string rows = *file.content();
  EXPECT_EQ(lines(rows), 9u) << rows;
  EXPECT_EQ(rows.rfind(header), 0u) << "one header";
  EXPECT_TRUE(holds(rows, "\r\n4,,,,,,instructions:u,")) << rows;
  const Finished both = tally({"export", "-o", "-", file.path() + ".meta.jsonl"});
  EXPECT_EQ(both.out, rows) << "stored and written again it is the same";

  const TemporaryFile other("other.csv", "run,value\r\n1,2\r\n");
  const TemporaryFile trace("trace");
  const Finished refused = tally({"stat", "--backend", "none", "--format", "csv", "--append", "-o", other.path(), "-e",
                                  "page-faults", "--", "touch", trace.path()});
  EXPECT_EQ(refused.code(), 2);
  EXPECT_TRUE(holds(refused.err, "different header, 'run,value'")) << refused.err;
  EXPECT_FALSE(trace.content()) << "it must be reported before the program runs";
  EXPECT_EQ(other.content(), "run,value\r\n1,2\r\n");
}

TEST(Formats, json_is_appended_line_by_line) {
  const TemporaryFile file("results.jsonl");
  for (int i = 0; i < 2; ++i) ASSERT_EQ(stat({"--format", "json", "--append", "-o", file.path()}).code(), 0);
  EXPECT_EQ(lines(*file.content()), 2u);
  EXPECT_EQ(lines(tally({"export", file.path()}).out), 5u);
}

TEST(Formats, a_file_without_an_end_of_line_gets_one) {
  const TemporaryFile file("notes.txt", "what this is");
  ASSERT_EQ(stat({"--append", "-o", file.path()}).code(), 0);
  EXPECT_EQ(file.content()->find("what this is\n\n event"), 0u) << *file.content();
}

TEST(Formats, results_that_cannot_be_written_are_shown) {
  for (const char* format : {"csv", "json", "table"}) {
    const Finished full = stat({"--format", format, "-o", "/dev/full"});
    EXPECT_EQ(full.code(), 125) << format;
    EXPECT_TRUE(holds(full.err, "No space left on device")) << full.err;
    EXPECT_TRUE(holds(full.err, " major-faults ")) << "the counts must not be lost: " << full.err;
  }
  Environment closed_pipe;
  closed_pipe.output_reader_closed = true;
  Words words{"stat", "-x", ",", "-o", "-"};
  words.insert(words.end(), tail.begin(), tail.end());
  const Finished broken = tally(words, closed_pipe);
  EXPECT_EQ(broken.code(), 0) << "the reader has what it wanted";
  EXPECT_FALSE(holds(broken.err, "Broken pipe") || holds(broken.err, " major-faults ")) << broken.err;
  Environment closed;
  closed.closed_output = true;
  const Finished nothing = tally(words, closed);
  EXPECT_EQ(nothing.code(), 125);
  EXPECT_TRUE(holds(nothing.err, " major-faults ")) << nothing.err;
}

TEST(Formats, a_program_that_removes_the_folder_of_the_results_does_not_hide_them) {
  for (const std::string format : {"table", "csv", "json"}) {
    const Finished removed =
        shell_with_tally("folder=$(mktemp -d) && \"$0\" stat -q --backend none -e major-faults --format " + format +
                         " -o \"$folder/x\" -- rm -rf \"$folder\"");
    EXPECT_EQ(removed.code(), 125) << format;
    EXPECT_TRUE(holds(removed.err, "removed meanwhile")) << removed.err;
    EXPECT_TRUE(holds(removed.err, " major-faults ")) << removed.err;
  }
}

TEST(Formats, an_unwritable_folder_is_reported_before_the_program_runs) {
  const TemporaryFile trace("trace");
  const Finished refused = stat({"-o", "/proc/self/x"});
  EXPECT_EQ(refused.code(), 125);
  EXPECT_TRUE(holds(refused.err, "cannot write the results to '/proc/self/x': ")) << refused.err;
  tally({"stat", "--backend", "none", "-e", "page-faults", "-o", "/proc/self/x", "--", "touch", trace.path()});
  EXPECT_FALSE(trace.content()) << "the program must not run for an hour first";
}

TEST(Formats, a_full_disk_leaves_the_rows_that_were_there) {
  const TemporaryFile file("rows.csv");
  stat({"--format", "csv", "--append", "-o", file.path()});
  const std::string before = *file.content();
  // A limit on file sizes replaces the full disk; SIGXFSZ is ignored, as many programs do.
  const std::string script =
      "trap '' XFSZ; ulimit -f 1; exec \"$0\" stat -q --backend none -r 60 -e major-faults --format csv --append -o "
      "\"$1\" --meta /dev/null -- true";
  const Finished limited = Running({"/bin/bash", "-c", script, TALLY_COMMAND, file.path()}).finish();
  EXPECT_EQ(limited.code(), 125) << limited.err;
  EXPECT_TRUE(holds(limited.err, "File too large")) << limited.err;
  EXPECT_TRUE(holds(limited.err, " major-faults ")) << limited.err;
  EXPECT_EQ(file.content(), before);
}

TEST(Formats, hpctool_is_refused_where_cycles_are_absent) {
  const TemporaryFile trace("trace");
  const Finished finished = tally({"stat", "--backend", "none", "--format", "hpctool", "-e",
                                   "instructions,cycles,ref-cycles,page-faults,major-faults,minor-faults,user_time",
                                   "--", "touch", trace.path()});
  EXPECT_EQ(finished.code(), 2);
  EXPECT_TRUE(holds(finished.err, "instructions:u is absent")) << finished.err;
  EXPECT_FALSE(trace.content()) << "it must be reported before the program runs";
}

TEST(Formats, stored_results_become_hpctools_file) {
  const TemporaryFile stored("result.json", *TemporaryFile::read(TALLY_GOLDEN "/hpctool.json"));
  const TemporaryFile out("hpcoutput.csv");
  ASSERT_EQ(tally({"export", "--format", "hpctool", "-o", out.path(), stored.path()}).code(), 0);
  EXPECT_EQ(out.content(), "ins,l_cycle,ref_cycle,event1,event2,event3,event4\r\n7890,0,65550,1777,145,2302,1917\r\n");
  const json metadata = json::parse(*TemporaryFile::read(out.path() + ".meta.json"));
  EXPECT_EQ(metadata["columns"]["event1"], "branches:u");
  EXPECT_EQ(metadata["columns"]["ins"], "instructions:u");
}

TEST(Formats, hpctools_files_are_read) {
  const TemporaryFile rows("hpcoutput-poll.csv", std::string("ins,l_cycle,ref_cycle,event1,event2,event3,event4\r\n"
                                                             "7890,0,65550,1777,145,2302,1917\r\n"));
  const Finished csv = tally({"export", rows.path()});
  EXPECT_EQ(csv.code(), 0) << csv.err;
  EXPECT_TRUE(holds(csv.out, "\r\n1,,,,,,instructions,7890,partial,,,,\"copied from the file, which")) << csv.out;
  EXPECT_TRUE(holds(csv.out, "1,,,,,,cycles,,absent,,,,0 in every row")) << csv.out;
  EXPECT_TRUE(holds(tally({"export", "--format", "table", rows.path()}).out, "an HPCTool file"));
  const TemporaryFile stored("hpctool.json", tally({"export", "--format", "json", rows.path()}).out);
  EXPECT_EQ(tally({"export", stored.path()}).out, csv.out) << "stored and read again it is the same";
}

// Without a PMU, cycles come from a model, and no file format may raise their trust.
TEST(Formats, hpctools_file_that_tally_wrote_keeps_its_trust) {
#if !TALLY_HAS_ENGINE
  GTEST_SKIP() << "there is no engine";
#endif
  const TemporaryFile rows("product.csv");
  const Words measure{"stat",
                      "-q",
                      "--backend",
                      "engine",
                      "--model",
                      "haswell",
                      "--format",
                      "hpctool",
                      "--append",
                      "-o",
                      rows.path(),
                      "-e",
                      "instructions,cycles,ref-cycles,branches,branch-misses,cache-references,cache-misses",
                      "--",
                      "true"};
  for (const char* rows_so_far : {"one", "two"}) {
    ASSERT_EQ(tally(measure).code(), 0) << rows_so_far;
    const std::string csv = tally({"export", rows.path()}).out;
    EXPECT_TRUE(holds(csv, ",exact,,,,,")) << csv;
    EXPECT_TRUE(holds(csv, ",modelled,,,\"haswell, fast; error not measured\",")) << csv;
    EXPECT_FALSE(holds(csv, "counted")) << csv;
  }
  std::filesystem::remove(rows.path() + ".meta.jsonl");
  const std::string alone = tally({"export", rows.path()}).out;
  EXPECT_TRUE(holds(alone, "1,,,,,,cycles,")) << alone;
  EXPECT_TRUE(holds(alone, ",partial,,,,\"copied from the file, which does not name the backend\"")) << alone;
  EXPECT_FALSE(holds(alone, "counted,")) << alone;
}

// Of two processes: the seven columns do not name them, but the JSON file next to the rows does.
TEST(Formats, hpctools_windows_keep_their_trust_and_their_processes) {
#if !TALLY_HAS_ENGINE
  GTEST_SKIP() << "there is no engine";
#endif
  const TemporaryFile rows("windows.csv"), again("again.csv"), page("page.html");
  ASSERT_EQ(
      tally({"sample", "-q", "--backend", "engine", "--model", "haswell", "--format", "hpctool", "--every", "100k",
             "-o", rows.path(), "-e", "instructions,cycles,ref-cycles,branches,branch-misses,loads,stores", "--",
             "/bin/sh", "-c", "/bin/true; /bin/true; exit 0"})
          .code(),
      0);
  const std::string csv = tally({"export", "--format", "csv", rows.path()}).out;
  EXPECT_TRUE(csv.starts_with("series,number,time_ns,")) << csv.substr(0, 200);
  EXPECT_TRUE(holds(csv, "\r\n2,1,")) << csv;
  EXPECT_TRUE(holds(csv, ",true,")) << csv;
  EXPECT_TRUE(holds(csv, ",modelled\r\n")) << csv;
  EXPECT_FALSE(holds(csv, "partial")) << csv;
  ASSERT_EQ(tally({"export", "--format", "hpctool", "-o", again.path(), rows.path()}).code(), 0);
  EXPECT_EQ(tally({"export", "--format", "csv", again.path()}).out, csv) << "the copy has a description, too";
  ASSERT_EQ(tally({"report", rows.path(), "-o", page.path()}).code(), 0);
  EXPECT_TRUE(holds(page.content().value_or(""), " · 5 threads")) << "a process and two programs in each of two others";
}

TEST(Formats, names_of_columns_do_not_change_what_rows_of_hpctool_are) {
  std::string text = "ins,l_cycle,ref_cycle,event1,event2,event3,event4\r\n";
  for (int i = 0; i < 48; ++i) text += std::to_string(50'005 + i) + ",0,150,1,2,3,4\r\n";
  const TemporaryFile rows("sampl.csv", text + "5690,0,150,1,0,0,0\r\n"), page("page.html");
  const auto report = [&] {
    EXPECT_EQ(tally({"report", rows.path(), "-o", page.path()}).code(), 0);
    return page.content().value_or("");
  };
  EXPECT_TRUE(holds(report(), "49 windows, each ended by instructions · threads unknown"));
  std::ofstream(rows.path() + ".meta.json") << R"({"columns": {"event1": "branches:u"}})";
  const std::string named = report();
  EXPECT_TRUE(holds(named, "49 windows, each ended by instructions · threads unknown"));
  EXPECT_TRUE(holds(named, "branches:u"));
  std::filesystem::remove(rows.path() + ".meta.json");
}

TEST(Formats, rows_alone_are_no_result_and_the_json_file_is_named) {
  const TemporaryFile rows("rows.csv");
  ASSERT_EQ(stat({"--format", "csv", "-o", rows.path()}).code(), 0);
  const Finished refused = tally({"export", rows.path()});
  EXPECT_EQ(refused.code(), 2);
  EXPECT_TRUE(holds(refused.err, rows.path() + ".meta.json")) << refused.err;
}

TEST(Formats, metrics_count_what_they_need) {
  const Finished finished =
      tally({"stat", "-q", "--backend", "none", "--metrics", "cpus", "--format", "csv", "-o", "-", "--", "true"});
  EXPECT_TRUE(holds(finished.out, "1,,,,,,user_time,")) << finished.out;
  EXPECT_TRUE(holds(finished.out, "1,,,,,,CPUs,0.")) << finished.out;
  const Finished list = tally({"stat", "--metrics", "list"});
  EXPECT_EQ(list.code(), 0);
  EXPECT_TRUE(holds(list.out, "IPC ")) << list.out;
  EXPECT_TRUE(holds(list.out, "instructions / cycles")) << list.out;
}

TEST(Formats, quiet_hides_the_notice_about_the_backend) {
  EXPECT_EQ(tally({"stat", "-q", "-e", "loads,page-faults", "-o", "/dev/null", "--", "true"}).err, "");
  const auto with = [](const std::string& value) {
    return shell_with_tally("TALLY_QUIET=" + value + " \"$0\" stat -e loads,page-faults -o /dev/null -- true").err;
  };
  EXPECT_EQ(with("1"), "");
  EXPECT_NE(with("0"), "");
  EXPECT_NE(with(""), "");
}

TEST(Formats, runs_read_a_file_again_and_a_pipe_only_once) {
  const std::string options = " stat -q --backend none -r 3 -e page-faults ";
  const TemporaryFile input("input", "one\ntwo\n");
  const Finished redirected =
      Running({"/bin/sh", "-c", "{ read first; \"$0\"" + options + "cat; cat; } <\"$1\"", TALLY_COMMAND, input.path()})
          .finish();
  EXPECT_EQ(redirected.out, "two\ntwo\ntwo\n")
      << "each run reads from where the first began, not from the end of the last";
  EXPECT_FALSE(holds(redirected.err, "standard input is")) << redirected.err;
  const Finished piped = shell_with_tally("echo one | \"$0\"" + options + "cat");
  EXPECT_EQ(piped.out, "one\n");
  EXPECT_TRUE(holds(piped.err, "standard input is a pipe")) << piped.err;
  EXPECT_FALSE(
      holds(shell_with_tally("echo one | \"$0\" stat -q --backend none -e page-faults cat").err, "standard input is"));
}

TEST(Formats, a_quiet_run_is_exported_without_the_notices_of_its_backend) {
  const Words asked{"stat", "-e", "instructions", "--format", "json", "-o"};
  const TemporaryFile loud("loud.json"), quiet("quiet.json");
  ASSERT_EQ(tally(with(asked, {loud.path(), "--", "true"})).code(), 0);
  const json notices = json::parse(loud.content().value_or(""), nullptr, false)["notices"];
  if (notices.empty()) GTEST_SKIP() << "the backend needs no notice here";
  ASSERT_EQ(tally(with(asked, {quiet.path(), "-q", "--", "true"})).code(), 0);
  const std::string loud_table = tally({"export", "--format", "table", loud.path()}).out;
  const std::string quiet_table = tally({"export", "--format", "table", quiet.path()}).out;
  for (const json& notice : notices) {
    EXPECT_TRUE(holds(loud_table, notice.get<std::string>())) << loud_table;
    EXPECT_FALSE(holds(quiet_table, notice.get<std::string>())) << quiet_table;
  }
}

TEST(Formats, pandas_reads_the_rows_as_they_are) {
  const Words python{"/usr/bin/env", "python3", "-c", "import pandas"};
  const bool in_path = Running(python).finish().code() == 0;
  const std::string interpreter = in_path ? "/usr/bin/env python3" : "/usr/bin/python3";
  if (!in_path && shell_with_tally(interpreter + " -c 'import pandas'").code() != 0) {
    GTEST_SKIP() << "pandas is not installed (package python3-pandas)";
  }
  const TemporaryFile file("rows.csv");
  ASSERT_EQ(stat({"--format", "csv", "-r", "3", "-o", file.path()}).code(), 0);
  const std::string code =
      "import pandas, sys; d = pandas.read_csv(sys.argv[1]); m = d[d.event == 'major-faults']; "
      "print(len(d), list(m.run), m.value.sum() >= 0, d.value.isna().sum(), sorted(set(d.trust)))";
  const Finished read = Running({"/bin/sh", "-c", interpreter + " -c \"$0\" \"$1\"", code, file.path()}).finish();
  EXPECT_EQ(read.out, "6 [1, 2, 3] True 3 ['absent', 'counted']\n") << read.err;
}

TEST(Formats, sqlite_imports_the_rows_as_they_are) {
  if (!have("sqlite3")) GTEST_SKIP() << "sqlite3 is not installed";
  const TemporaryFile file("rows.csv");
  ASSERT_EQ(stat({"--format", "csv", "-r", "3", "-o", file.path()}).code(), 0);
  const Finished read =
      Running({"/bin/sh", "-c",
               "sqlite3 :memory: \".import --csv $0 r\" \"select count(*), sum(value = ''), max(run), "
               "group_concat(distinct trust), sum(instr(reason, char(13))) from r\"",
               file.path()})
          .finish();
  EXPECT_EQ(read.out, "6|3|3|counted,absent|0\n") << read.err;
}

}  // namespace
}  // namespace tally::test
