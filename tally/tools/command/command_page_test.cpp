// Options: how they are parsed, which values are rejected and with which messages, and the help.
#include "tally/tools/command/command_page.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "tally/core/base/text.hpp"
#include "tally/tools/command/command.hpp"
#include "tally/tools/command/help_text.hpp"
#include "tally/tools/command/option_groups.hpp"

namespace tally::command {
namespace {

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

using Words = std::vector<std::string>;

/// A command with one option of each kind.
struct Sample {
  Sample() {
    page.head("Counts.", "tally sample [options] FILE");
    page.add_option("FILE", file, "what is read").value_name("FILE");
    page.add_option("-n,--number", number, "how many").value_name("N").check(whole_number(1, 64));
    page.add_option("--format", format, "of the output").value_name("FORMAT").one_of({"text", "json"});
    page.add_option("--backend", backend, "count with this backend").value_name("BACKEND").renamed("sim", "engine");
    page.add_option("-e,--event", events, "what is counted").repeated().value_name("EVENTS");
    page.add_option("--parts", parts, "parts of it").value_name("PARTS").separated_by(',').one_value();
    page.add_option("--secret", secret, "not shown").hidden();
    page.add_flag("--quiet", quiet, "print less");
  }
  /// Returns the exit code, 0 if all values were stored; `errors` receives what was printed.
  int read(const Words& arguments) {
    testing::internal::CaptureStderr();
    const auto code = page.read(arguments);
    errors = testing::internal::GetCapturedStderr();
    return code.value_or(exit_ok);
  }
  Page page;
  std::string file, format, backend, secret, errors;
  int number = 0;
  Words events, parts;
  bool quiet = false;
};

TEST(Page, stores_values_where_the_options_are_bound) {
  Sample sample;
  ASSERT_EQ(sample.read({"-n", "3", "--format=json", "-e", "loads,stores", "--event", "cycles", "--quiet", "a.csv"}), 0)
      << sample.errors;
  EXPECT_EQ(sample.number, 3);
  EXPECT_EQ(sample.format, "json");
  EXPECT_EQ(sample.events, (Words{"loads,stores", "cycles"}));
  EXPECT_TRUE(sample.quiet);
  EXPECT_EQ(sample.file, "a.csv");
  EXPECT_TRUE(sample.page.has("--number"));
  EXPECT_FALSE(sample.page.has("--parts"));
}

TEST(Page, splits_a_list_and_takes_one_word_for_it) {
  Sample sample;
  ASSERT_EQ(sample.read({"--parts", "a,b", "file"}), 0) << sample.errors;
  EXPECT_EQ(sample.parts, (Words{"a", "b"}));
  EXPECT_EQ(sample.file, "file");
}

TEST(Page, names_what_replaces_a_former_name) {
  Sample sample;
  ASSERT_EQ(sample.read({"--backend", "sim"}), 2);
  EXPECT_NE(sample.errors.find("'sim' is now called 'engine'"), std::string::npos) << sample.errors;
  Sample other;
  ASSERT_EQ(other.read({"--backend", "simulator"}), 0);
  EXPECT_EQ(other.backend, "simulator");
}

TEST(Page, refuses_with_the_words_of_the_project) {
  const struct {
    Words arguments;
    const char* message;
  } cases[] = {
      {{"--number"}, "tally: missing value after --number\n"},
      {{"--format="}, "tally: missing value after --format\n"},
      {{"--number", "many"}, "'many' is not a whole number"},
      {{"--number", "0"}, "0 is out of range: 1 to 64"},
      {{"--number", "65"}, "65 is out of range: 1 to 64"},
      {{"--format", "xml"}, "--format: xml not in {text,json}"},
      {{"--numbre", "1"}, "tally: unknown option '--numbre'\n       did you mean --number? "},
      {{"--number-of-runs", "1"}, "tally: unknown option '--number-of-runs'\n       did you mean --number? "},
      {{"a", "b"}, "tally: unexpected argument 'b'\n"},
      {{""}, "FILE: the file name is empty"},
  };
  for (const auto& one : cases) {
    Sample sample;
    EXPECT_EQ(sample.read(one.arguments), exit_bad_usage) << one.message;
    EXPECT_NE(sample.errors.find(one.message), std::string::npos) << one.message << " is not in " << sample.errors;
    EXPECT_NE(sample.errors.find("`tally sample --help` lists the options"), std::string::npos) << sample.errors;
  }
}

TEST(Page, makes_foreign_text_printable) {
  Sample sample;
  EXPECT_EQ(sample.read({"--\x1b[31m"}), exit_bad_usage);
  EXPECT_EQ(sample.errors.find('\x1b'), std::string::npos);
}

TEST(Page, leaves_the_words_of_a_program_alone) {
  Page page;
  std::string event;
  page.head("Counts.", "tally count PROGRAM");
  page.add_option("-e", event, "what").value_name("EVENT");
  page.prefix_command();
  EXPECT_EQ(page.read({"-e", "loads", "--", "ls", "-e", "--event="}), std::nullopt);
  EXPECT_EQ(event, "loads");
  EXPECT_EQ(page.remaining(), (Words{"--", "ls", "-e", "--event="}));
}

TEST(Page, describes_every_option_that_is_not_hidden) {
  const Sample sample;
  Words all;
  for (const OptionDescription& option : sample.page.options())
    all.push_back(option.is_positional() ? option.positional_name : join(option.names, ",") + " " + option.value_name);
  const Words expected = {"-h,--help ",        "FILE",          "-n,--number N", "--format FORMAT", "--backend BACKEND",
                          "-e,--event EVENTS", "--parts PARTS", "--quiet "};
  EXPECT_EQ(all, expected);
}

TEST(Page, prints_help_within_80_columns) {
  Page page;
  std::string value;
  page.head("Counts what a command did.", "tally count [options]");
  std::string text;
  for (int i = 0; i < 40; ++i) text += "word ";
  page.add_option("--a-name-that-is-longer-than-the-first-column", value, text).value_name("VALUE");
  page.add_option("-s", value, text).value_name("VALUE");
  page.footer(text + "\n\nExamples:\n  tally count --that-is-one-line  # " + text);
  const std::string help = page.text();
  EXPECT_TRUE(help.starts_with("Counts what a command did.\n\nUsage: tally count [options]\n\nOptions:\n")) << help;
  for (const std::string& line : split(help, '\n')) {
    const bool is_kept = line.starts_with("  tally");
    EXPECT_TRUE(is_kept || display_width(line) <= 80) << line;
  }
  EXPECT_NE(help.find("\nExamples:\n  tally count --that-is-one-line  # word"), std::string::npos) << help;
}

TEST(Page, lists_only_the_names_of_options_in_groups) {
  Page page;
  std::string value;
  page.head("Counts.", "tally count [options]");
  page.add_option("-b,--before", value, "first text").value_name("VALUE");
  {
    const GroupScope group(page, running_group);
    page.add_option("-c,--clock", value, "second text").value_name("CLOCK");
    page.add_option("--secret", value, "not shown").hidden();
    const GroupScope inner(page, models_group);
    page.add_option("--model", value, "third text").value_name("MODEL");
  }
  page.add_option("--after", value, "fourth text").value_name("VALUE");
  const std::string help = page.text();
  EXPECT_TRUE(
      help.ends_with("      --after VALUE   fourth text\n"
                     "\n"
                     "More options, which `tally help TOPIC` describes:\n"
                     "  running    set how the program is run: -c/--clock\n"
                     "  models     simulate caches, branch prediction and the core of a machine; what\n"
                     "             instructions and cycles do: --model\n"))
      << help;
  const std::string whole = page.whole_text();
  EXPECT_TRUE(
      holds(whole, "\nOptions that set how the program is run:\n  -c, --clock CLOCK  second text\n\nRepeatable"));
  EXPECT_TRUE(holds(whole, "\n      --model MODEL  third text\n\nThe engine simulates")) << whole;
  EXPECT_EQ(page.read({"--clock", "real", "--model", "host"}), std::nullopt);
  EXPECT_EQ(value, "host");
  const auto options = page.options();
  ASSERT_EQ(options.size(), 5u);
  EXPECT_EQ(options[2].group, &running_group);
  EXPECT_EQ(options[4].group, nullptr);
}

TEST(Page, shows_the_beginnings_of_texts_if_all_of_them_do_not_fit_in_two_screens) {
  Page page;
  std::string value;
  page.head("Counts.", "tally count [options]");
  page.add_option("-e,--event", value, "count this event; " + std::string(60 * 40, 'x')).value_name("EVENT");
  std::string footer = "Formats:\n  none\n\nExamples:\n";
  for (int i = 0; i < 60; ++i) footer += "  # Two lines\n  tally count\n";
  page.footer(footer);
  const std::string help = page.text();
  EXPECT_TRUE(holds(help, "\n  -e, --event EVENT  count this event\n\nExamples:\n  # Two lines\n  tally count\n"))
      << help;
  EXPECT_FALSE(holds(help, "Formats:"));
  EXPECT_TRUE(
      help.ends_with("  tally count\n\n`tally help count` prints all of it: whole texts, formats, exit codes.\n"));
  EXPECT_LE(std::count(help.begin(), help.end(), '\n'), 48);
  EXPECT_TRUE(holds(page.whole_text(), "\nFormats:\n"));
}

TEST(Brief, ends_after_a_clause_or_marks_what_is_missing) {
  EXPECT_EQ(brief("count it", 20), "count it");
  EXPECT_EQ(brief("run it N times; report the median", 20), "run it N times");
  EXPECT_EQ(brief("run it N times (default: 1000; then again)", 20), "run it N times");
  EXPECT_EQ(brief("with this backend: auto (default), perf, engine", 40), "with this backend: auto (default) …");
  EXPECT_EQ(brief("print it, and how often it was executed", 20), "print it …");
  EXPECT_EQ(brief("emulated processor: haswell-version-3", 30), "emulated processor");
  EXPECT_EQ(brief("a text that has no end of a clause anywhere", 20), "a text that has no …");
}

TEST(WholeNumber, includes_both_ends) {
  const ValueCheck check = whole_number(-2, 10);
  EXPECT_EQ(check("-2"), "");
  EXPECT_EQ(check("10"), "");
  EXPECT_EQ(check("-3"), "-3 is out of range: -2 to 10");
  EXPECT_EQ(check("11"), "11 is out of range: -2 to 10");
  const ValueCheck open = whole_number(1);
  EXPECT_EQ(open("9223372036854775807"), "");
  EXPECT_EQ(open("0"), "0 is out of range: 1 or more");
  EXPECT_EQ(open("9223372036854775808"), "9223372036854775808 does not fit in 64 bits");
  EXPECT_EQ(check("-9223372036854775809"), "-9223372036854775809 does not fit in 64 bits");
  for (const char* text : {"", "1.5", "x", "1x"})
    EXPECT_NE(open(text).find("is not a whole number"), std::string::npos) << text;
}

}  // namespace
}  // namespace tally::command
