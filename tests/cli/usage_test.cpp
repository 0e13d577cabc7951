// tally's answers to requests that it cannot or need not carry out.
#include <gtest/gtest.h>

#include <algorithm>

#include "tally/core/base/text.hpp"
#include "tally/hardware/event/event.hpp"
#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

TEST(Usage, help_and_version_go_to_standard_output) {
  for (const Words& words : {Words{"--help"},
                             {"-h"},
                             {"--version"},
                             {"stat", "--help"},
                             {"stat", "-h"},
                             {"help"},
                             {"help", "register"},
                             {"-V"}}) {
    const Finished finished = tally(words);
    EXPECT_EQ(finished.code(), 0) << words.back();
    EXPECT_FALSE(finished.out.empty()) << words.back();
    EXPECT_EQ(finished.err, "") << words.back();
  }
  EXPECT_TRUE(holds(tally({"--help"}).out, "stat"));
  EXPECT_TRUE(holds(tally({"stat", "--help"}).out, "tally stat -- bzip2"));
  EXPECT_FALSE(holds(tally({"stat", "--help"}).out, "block-size"));
  EXPECT_EQ(tally({"help", "register"}).out, tally({"register", "--help"}).out);
  EXPECT_EQ(tally({"help", "stat"}).out, tally({"stat", "--help-all"}).out);
}

TEST(Usage, help_is_in_columns_of_a_terminal) {
  const std::string overview = tally({"--help"}).out;
  const std::size_t start = overview.find("Commands:\n") + 10;
  for (const std::string& line : split(overview.substr(start, overview.find("\n\n", start) - start), '\n')) {
    EXPECT_EQ(line.substr(11, 2), "  ") << line;
    const std::string name = line.substr(2, line.find(' ', 2) - 2);
    const std::string help = tally({name, "--help"}).out, whole = tally({"help", name}).out;
    for (const std::string& one : split(help + whole, '\n')) {
      EXPECT_LE(display_width(one), 80) << name << ": " << one;
    }
    EXPECT_LE(std::count(help.begin(), help.end(), '\n'), 48) << name << ": more than two screens of 24 lines";
    EXPECT_EQ(help.find(" TEXT"), std::string::npos) << name << ": CLI11's type name of a value";
    EXPECT_EQ(help.find("\n\n\n"), std::string::npos) << name;
  }
}

// The options in the help of `tally stat`; a group of options is one entry. This number may only fall.
TEST(Usage, stat_has_few_options) {
  constexpr int limit = 21;
  int entries = 0;
  bool in_options = false;
  for (const std::string& line : split(tally({"stat", "--help"}).out, '\n')) {
    if (line.empty()) in_options = false;
    const std::size_t indent = line.find_first_not_of(' ');
    entries += in_options && (indent == 2 || (indent == 6 && line[6] == '-'));
    if (line == "Options:" || line.starts_with("More options")) in_options = true;
  }
  EXPECT_EQ(entries, limit) << "a new option of `tally stat` belongs to a group, or replaces another one";
}

TEST(Usage, help_describes_groups_of_options) {
  EXPECT_TRUE(holds(tally({"help"}).out, "Topics of `tally help TOPIC`:\n  running "));
  const std::string running = tally({"help", "running"}).out;
  for (const char* option : {"--repeatable", "--environment", "--clock", "--cpu-model", "--pin"}) {
    EXPECT_TRUE(holds(running, std::string("\n      ") + option)) << running;
    for (const char* command : {"stat", "sample", "profile"}) {
      const std::string help = tally({command, "--help"}).out;
      EXPECT_TRUE(holds(help, option)) << command << option;
      EXPECT_FALSE(holds(help, std::string("\n      ") + option)) << command << option;
      EXPECT_TRUE(holds(tally({"help", command}).out, std::string("\n      ") + option)) << command << option;
    }
  }
  for (const std::string& line : split(running, '\n'))
    EXPECT_TRUE(display_width(line) <= 80 || line.starts_with("  tally")) << line;
  const Finished unknown = tally({"help", "xyzzy"});
  EXPECT_EQ(unknown.code(), 2);
  EXPECT_TRUE(holds(tally({"help", "cycles"}).err, "`tally event cycles` describes this event; `tally help models`"));
  EXPECT_TRUE(holds(unknown.err, "unknown topic 'xyzzy'\n       topics: running, attaching, counting, regions, "))
      << unknown.err;
  EXPECT_TRUE(holds(tally({"help", "runing"}).err, "did you mean `tally help running`?"));
  EXPECT_TRUE(holds(tally({"help", "trust"}).out, "\n  partial  "));
  EXPECT_TRUE(holds(tally({"help", "exit"}).out, "125 tally could not measure"));
}

TEST(Usage, mistakes_end_with_2_and_a_hint) {
  const struct {
    Words words;
    std::string message;
  } cases[] = {
      {{}, "Usage: tally COMMAND"},
      {{"stta", "--", "ls"}, "did you mean `tally stat`"},
      {{"bzip2", "file"}, "tally stat -- PROGRAM"},
      {{"record", "--", "ls"}, "use `tally profile -- PROGRAM`"},
      {{"help", "top"}, "use `tally watch`"},
      {{"sched"}, "tally has no equivalent of `perf sched`"},
      {{"--frobnicate"}, "unknown option '--frobnicate'"},
      {{"stat"}, "missing PROGRAM"},
      {{"stat", "--"}, "missing PROGRAM"},
      {{"stat", "--frobnicate", "--", "true"}, "unknown option '--frobnicate'"},
      {{"stat", "-y", "true"}, "unknown option '-y'"},
      {{"stat", "-y", "true"}, "`tally stat --help` lists the options"},
      {{"stat", "--functions", "main", "--", "true"}, "did you mean --function?"},
      {{"events", "--alll"}, "did you mean --all?"},
      {{"stat", "-j", "--format", "csv", "--", "true"}, "-j cannot be used with --format"},
      {{"stat", "--control", "fd:99", "--", "true"}, "file descriptor 99 is not open"},
      {{"stat", "--control", "99", "--", "true"}, "fd:"},
      {{"stat", "-D", "-1", "--", "true"}, "--control"},
      {{"stat", "--no-aggr", "-a"}, "`-a --per-core`"},
      {{"stat", "-x", "", "true"}, "-x has an empty separator"},
      {{"profile", "-r", "3", "-a", "true"}, "-r cannot be used with running processes"},
      {{"profile", "--topdown", "true"}, "`tally profile -e cycles` prints the main cause of each row"},
      {{"profile", "--by", "cause", "true"}, "`tally profile -e cycles` prints the main cause of each row"},
      {{"stat", "-o", "", "true"}, "--output: the file name is empty"},
      {{"events", "--event-table", ""}, "--event-table: the file name is empty"},
      {{"stat", "-x", ",", "--format", "json", "true"}, "-x cannot be used with --format json"},
      {{"stat", "-x", "::", "--format", "csv", "true"}, "must be one character"},
      {{"stat", "-x", ",", "--per-process", "-q", "true"}, "cannot represent processes"},
      {{"stat", "--append", "true"}, "add -o FILE"},
      {{"stat", "--append", "-o", "-", "true"}, "add -o FILE"},
      {{"stat", "--metrics", "IPX", "true"}, "did you mean IPC"},
      {{"stat", "--metrics", "mine=loads /", "true"}, "something is missing at its end"},
      {{"stat", "--metrics", "mine=lodas / stores", "true"}, "did you mean loads"},
      {{"stat", "--format", "hpctool", "true"}, "needs cycles and ref-cycles too"},
      {{"export"}, "missing FILE"},
      {{"export", "/nowhere/file.json"}, "cannot read '/nowhere/file.json': No such file or directory"},
      {{"export", "/dev/null"}, "'/dev/null' is not a result of `tally stat`: it is empty"},
      {{"stat", "-e", "instrctions", "--", "true"}, "did you mean instructions"},
      {{"stat", "-e", "loads,,stores", "true"}, "missing event name"},
      {{"stat", "-e", "loads:x", "true"}, "unknown suffix ':x'"},
      {{"stat", "-e", "page-faults:k", "true"}, "does not support a suffix"},
      {{"stat", "-e", "loads stores", "true"}, "an event name contains a space"},
      {{"stat", "-e"}, "missing value after --event"},
      {{"doctor", "here"}, "unexpected argument 'here'"},
      {{"doctor", "--here"}, "unknown option '--here'"},
      {{"help", "stta"}, "did you mean `tally help stat`"},
      {{"stat", "-r", "0", "true"}, "--repeat: 0 is out of range: 1 to 1000000"},
      {{"stat", "-r", "many", "true"}, "--repeat: 'many' is not a whole number"},
      {{"stat", "--metrics", "mine=loads/", "true"}, "something is missing after its '/'"},
      {{"stat", "--metrics", "mine=loads/stores", "true"}, "has a single '/': put spaces around a division"},
      {{"stat", "--output=", "./prog", "true"}, "missing value after --output="},
      {{"stat", "--timeout=", "5", "true"}, "missing value after --timeout="},
      {{"stat", "-e", "cycels", "true"}, "did you mean cycles, "},
      {{"memory", "--regions", "foo"}, "--regions: 'foo' is not a size"},
      {{"memory", "--node", "foo"}, "--node: 'foo' is not a number"},
      {{"discover", "--event", "foo"}, "unknown option '--event'"},
      {{"discover", "--event", "foo"}, "did you mean --events?"},
      {{"stat", "--format", "xml", "true"}, "the formats are: table, csv, json, markdown, html, hpctool"},
      {{"stat", "--pin", "99999", "true"}, "processor 99999 does not exist"},
      {{"stat", "--pin", "-1", "true"}, "--pin: -1 is out of range: 0 to 2147483647"},
      {{"stat", "--pin", "0,1", "true"}, "--pin: '0,1' is not a whole number"},
      {{"stat", "--backend", "prf", "true"}, "did you mean perf?"},
  };
  for (const auto& one : cases) {
    const Finished finished = tally(one.words);
    EXPECT_EQ(finished.code(), 2) << one.message;
    EXPECT_TRUE(holds(finished.err, one.message)) << one.message << "\n" << finished.err;
    EXPECT_EQ(finished.out, "") << one.message;
  }
}

TEST(Usage, what_cannot_be_run_ends_as_in_a_shell) {
  const TemporaryFile plain("plain", "text", 0644);
  const TemporaryFile bad_interpreter("script", "#!/nowhere/interpreter\n", 0755);
  const TemporaryFile damaged("damaged", "\177ELF and nothing more", 0755);
  EXPECT_EQ(tally({"stat", "--", "/nowhere/program"}).code(), 127);
  EXPECT_EQ(tally({"stat", "--", "no-program-has-this-name"}).code(), 127);
  EXPECT_EQ(tally({"stat", "--", ""}).code(), 127);
  EXPECT_EQ(tally({"stat", "--", plain.path() + "/below"}).code(), 127);
  EXPECT_EQ(tally({"stat", "--", bad_interpreter.path()}).code(), 127);
  EXPECT_EQ(tally({"stat", "--", plain.path()}).code(), 126);
  EXPECT_EQ(tally({"stat", "--", plain.folder()}).code(), 126);
  EXPECT_TRUE(holds(tally({"stat", "--", plain.folder()}).err, "is a directory"));
  EXPECT_TRUE(holds(tally({"stat", "--", "no-program-has-this-name"}).err, "'no-program-has-this-name'"));
}

TEST(Usage, events_that_need_a_pmu_are_reported) {
  const Finished alone = tally({"stat", "-e", "r1234", "--", "true"});
  EXPECT_EQ(alone.code(), 125);
  EXPECT_TRUE(holds(alone.err, "cannot count r1234: needs a PMU")) << alone.err;
  EXPECT_TRUE(holds(alone.err, "instructions, branches, loads, stores")) << alone.err;
  const Finished kernel = tally({"stat", "-e", "instructions:k", "--", "true"});
  EXPECT_EQ(kernel.code(), 125) << "the same answer as for other events that are absent here";
  EXPECT_TRUE(holds(kernel.err, "cannot count instructions:k: ")) << kernel.err;
  const Finished native = tally({"stat", "-e", "instructions", "--backend", "none", "--", "true"});
  EXPECT_EQ(native.code(), 125);
  EXPECT_TRUE(holds(native.err, "the program runs natively")) << native.err;
  const Finished mixed = tally({"stat", "-e", "page-faults,branch-misses", "--backend", "none", "--", "true"});
  EXPECT_EQ(mixed.code(), 0);
  EXPECT_TRUE(holds(mixed.err, "absent")) << mixed.err;
}

TEST(Usage, perf_without_a_pmu_cannot_measure_and_says_so) {
  const Finished finished = tally({"stat", "--backend", "perf", "--", "true"});
  if (finished.code() == 0) GTEST_SKIP() << "there is a PMU here";
  EXPECT_EQ(finished.code(), 125);
  EXPECT_TRUE(holds(finished.err, "cannot count with a PMU: "));
  EXPECT_TRUE(holds(finished.err, "--backend"));
}

TEST(Usage, results_that_cannot_be_written_end_with_125) {
  const Words tail{"-e", "page-faults", "--", "true"};
  const auto with = [&](Words words) {
    words.insert(words.end(), tail.begin(), tail.end());
    return words;
  };
  const Finished full = tally(with({"stat", "-o", "/dev/full"}));
  EXPECT_EQ(full.code(), 125);
  EXPECT_TRUE(holds(full.err, "'/dev/full': No space left on device")) << full.err;
  const Finished nowhere = tally(with({"stat", "-o", "/nowhere/file"}));
  EXPECT_EQ(nowhere.code(), 125);
  EXPECT_TRUE(holds(nowhere.err, "No such file or directory")) << nowhere.err;

  Environment closed_pipe;
  closed_pipe.output_reader_closed = true;
  for (const char* format : {"table", "json"}) {
    const Finished broken = tally(with({"stat", "-q", "--format", format, "-o", "-"}), closed_pipe);
    EXPECT_EQ(broken.code(), 0) << "the reader has what it wanted";
    EXPECT_EQ(broken.err, "");
  }
  const Finished three = tally({"stat", "-q", "-e", "page-faults", "-o", "-", "--", "sh", "-c", "exit 3"}, closed_pipe);
  EXPECT_EQ(three.code(), 3) << three.err;
  const Finished watched = tally({"watch", "--batch", "-I", "50", "-n", "100"}, closed_pipe);
  EXPECT_EQ(watched.code(), 0);
  EXPECT_EQ(watched.err, "");

  Environment closed;
  closed.closed_output = true;
  EXPECT_EQ(tally(with({"stat", "-o", "-"}), closed).code(), 125);
  closed.closed_error = true;
  EXPECT_EQ(tally(with({"stat"}), closed).code(), 125);
}

TEST(Usage, results_that_cannot_be_written_to_a_file_are_on_standard_error) {
  for (const char* format : {"table", "json", "folded"}) {
    const Finished full = tally({"profile", "--format", format, "-o", "/dev/full", "--", "true"});
    EXPECT_EQ(full.code(), 125) << format;
    EXPECT_TRUE(holds(full.err, "'/dev/full': No space left on device")) << full.err;
    EXPECT_TRUE(holds(full.err, "instructions:u")) << format << "\n" << full.err;
    EXPECT_TRUE(holds(full.err, "ld-linux")) << format << "\n" << full.err;
  }
  for (const char* format : {"table", "csv", "jsonl"}) {
    const Finished full = tally({"sample", "--every", "50000", "--format", format, "-o", "/dev/full", "--", "true"});
    EXPECT_EQ(full.code(), 125) << format;
    EXPECT_TRUE(holds(full.err, "the rows from there on are on standard error")) << full.err;
    EXPECT_TRUE(holds(full.err, "instructions")) << format << "\n" << full.err;
    EXPECT_TRUE(holds(full.err, "50000") || holds(full.err, "50,000")) << format << "\n" << full.err;
  }
}

TEST(Usage, a_wrong_output_file_is_reported_before_the_program_runs) {
  const TemporaryFile trace("trace");
  EXPECT_EQ(tally({"stat", "-o", "/nowhere/file", "--", "touch", trace.path()}).code(), 125);
  EXPECT_FALSE(trace.content());
}

TEST(Usage, a_file_that_was_not_written_is_unchanged) {
  const TemporaryFile fresh("result");
  EXPECT_EQ(tally({"stat", "-o", fresh.path(), "--", "/nowhere/program"}).code(), 127);
  EXPECT_FALSE(fresh.content());
  const TemporaryFile old("result", "an earlier result, longer than nothing");
  EXPECT_EQ(tally({"stat", "-o", old.path(), "--", "/nowhere/program"}).code(), 127);
  EXPECT_EQ(old.content(), "an earlier result, longer than nothing");
}

}  // namespace
}  // namespace tally::test
