// Text of the measured program in every output form: whatever the text is, the run succeeds, and the text neither
// controls a terminal nor breaks a record.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tally/core/base/foreign_text.hpp"
#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

namespace fs = std::filesystem;

const Words hostile_words{"\xff", "two\nlines", "\x1b[31mred", "cut \xe5\x90",
                          "\xc2\x9b"
                          "1m"};

/// Whether a terminal would show it unchanged, line by line.
bool is_printable(const std::string& text) { return ForeignText(text).in_lines() == text; }

std::size_t lines_that_begin(const std::string& text, const std::string& with) {
  std::size_t lines = 0;
  for (std::size_t at = 0; (at = text.find(with, at)) != std::string::npos; at += with.size())
    if (at == 0 || text[at - 1] == '\n') ++lines;
  return lines;
}

class ForeignTexts : public testing::Test {
 protected:
  void SetUp() override {
#if !TALLY_HAS_ENGINE
    GTEST_SKIP() << "the engine is for x86-64";
#endif
  }
  static Words profiled(const std::string& format, const std::string& file, const Words& command,
                        const Words& more = {}) {
    Words words{"profile", "-q", "--backend", "engine", "--format", format, "-o", file};
    words.insert(words.end(), more.begin(), more.end());
    words.push_back("--");
    words.insert(words.end(), command.begin(), command.end());
    return words;
  }
};

TEST_F(ForeignTexts, arguments_are_escaped_in_every_form_of_a_profile) {
  for (const char* const format :
       {"table", "callgrind", "cachegrind", "folded", "speedscope", "pprof", "autofdo", "bolt", "bolt-preagg", "order",
        "lcov", "cobertura", "coverage", "code", "html", "json"}) {
    SCOPED_TRACE(format);
    const TemporaryFile file("profile");
    const Words calls = format == std::string("autofdo") ? Words{"--calls"} : Words{};
    const Finished finished = tally(profiled(format, file.path(), with({PROFILED}, hostile_words), calls));
    EXPECT_EQ(finished.code(), 0) << finished.err;
    const std::string text = file.content().value_or("");
    ASSERT_FALSE(text.empty());
    if (format != std::string("pprof")) {
      EXPECT_TRUE(is_printable(text)) << text.substr(0, 500);
    }
    if (format == std::string("json") || format == std::string("speedscope")) {
      EXPECT_FALSE(nlohmann::json::parse(text, nullptr, false).is_discarded());
    }
    if (holds(format, "grind")) {
      EXPECT_EQ(lines_that_begin(text, "cmd: "), 1u);
      EXPECT_TRUE(holds(text, "two\\nlines \\x1b[31mred")) << text.substr(0, 300);
    }
  }
}

TEST_F(ForeignTexts, arguments_are_escaped_in_every_form_of_counts) {
  for (const char* const format : {"table", "csv", "json"}) {
    SCOPED_TRACE(format);
    const TemporaryFile file("counts");
    const Finished finished = tally(with(
        {"stat", "-q", "--backend", "engine", "--per-thread", "--format", format, "-o", file.path(), "--", PROFILED},
        hostile_words));
    EXPECT_EQ(finished.code(), 0) << finished.err;
    std::string text = file.content().value_or("");
    std::erase(text, '\r');
    EXPECT_TRUE(is_printable(text)) << text.substr(0, 500);
  }
}

/// The kernel cuts names of threads at 15 bytes, even within a character.
TEST_F(ForeignTexts, names_of_threads_are_escaped) {
  const Words command{"/usr/bin/python3", "-c",
                      "import ctypes, threading\n"
                      "def work():\n"
                      "  ctypes.CDLL(None).prctl(15, 'inner-job\\n\\u540c\\u6b65\\u4efb'.encode(), 0, 0, 0)\n"
                      "t = threading.Thread(target=work); t.start(); t.join()\n"};
  if (tally(with({"stat", "-q", "--backend", "none", "--"}, command)).code() != 0)
    GTEST_SKIP() << "there is no python3";
  for (const char* const format : {"json", "table"}) {
    const TemporaryFile file("threads");
    const Finished finished = tally(profiled(format, file.path(), command, {"--by", "thread"}));
    EXPECT_EQ(finished.code(), 0) << finished.err;
    EXPECT_TRUE(is_printable(file.content().value_or("\x1b"))) << file.content().value_or("no file");
  }
}

/// A file whose name is not a valid module name still gets the names of its functions.
TEST_F(ForeignTexts, names_of_files_are_escaped_and_their_functions_are_found) {
  for (const char* const name : {"a\nb", "a\\b", "a\\012b", "a\x1b[31m\xff"}) {
    SCOPED_TRACE(ForeignText(name).in_line());
    const TemporaryFile program(name, "");
    fs::copy_file(PROFILED, program.path(), fs::copy_options::overwrite_existing);
    fs::permissions(program.path(), fs::perms::owner_all);
    const TemporaryFile file("callgrind.out");
    const Finished finished = tally(profiled("callgrind", file.path(), {program.path()}));
    EXPECT_EQ(finished.code(), 0) << finished.err;
    const std::string text = file.content().value_or("");
    EXPECT_TRUE(is_printable(text)) << text.substr(0, 500);
    EXPECT_TRUE(holds(text, ") eleven\n")) << finished.err << text.substr(0, 1000);
  }
}

TEST_F(ForeignTexts, symbols_are_escaped_in_every_form) {
  const TemporaryFile source("bad.s",
                             ".text\n.globl main\nmain: call \"f\xff\"\n call \"g\x1b[31m\"\n xor %eax,%eax\n ret\n"
                             "\"f\xff\": mov $500,%ecx\n1: dec %ecx\n jnz 1b\n ret\n\"g\x1b[31m\": ret\n"
                             ".section .note.GNU-stack\n");
  const std::string program = source.folder() + "/bad";
  if (Running({"/bin/sh", "-c", "cc -o " + program + " " + source.path() + " 2>/dev/null"}).finish().code() != 0)
    GTEST_SKIP() << "there is no compiler that takes such names";
  for (const char* const format : {"table", "callgrind", "cachegrind", "folded", "speedscope", "html", "json"}) {
    SCOPED_TRACE(format);
    const TemporaryFile file("profile");
    const Finished finished = tally(profiled(format, file.path(), {program}, {"--calls", "-e", "instructions"}));
    EXPECT_EQ(finished.code(), 0) << finished.err;
    const std::string text = file.content().value_or("");
    EXPECT_TRUE(is_printable(text)) << text.substr(0, 500);
    EXPECT_TRUE(holds(text, "f\uFFFD")) << text.substr(0, 500);
  }
  fs::remove(program);
}

TEST_F(ForeignTexts, line_breaks_in_symbols_end_no_record) {
  const TemporaryFile program("broken");
  const std::string build = "objcopy --redefine-sym eleven=\"$(printf 'two\\nlines')\" " PROFILED " " + program.path();
  if (Running({"/bin/sh", "-c", build}).finish().code() != 0) GTEST_SKIP() << "there is no objcopy";
  for (const char* const format : {"table", "callgrind", "cachegrind", "folded", "speedscope", "autofdo", "bolt",
                                   "bolt-preagg", "order", "lcov", "html", "json"}) {
    SCOPED_TRACE(format);
    const TemporaryFile file("profile");
    EXPECT_EQ(tally(profiled(format, file.path(), {program.path()}, {"--calls", "-e", "instructions"})).code(), 0);
    const std::string text = file.content().value_or("");
    EXPECT_FALSE(text.empty());
    EXPECT_EQ(lines_that_begin(text, "lines"), 0u) << text.substr(0, 1000);
  }
}

TEST_F(ForeignTexts, stored_profiles_are_escaped_when_they_are_read) {
  const TemporaryFile one("one.json"), other("other.json");
  for (const TemporaryFile* const file : {&one, &other}) {
    ASSERT_EQ(tally(profiled("json", file->path(), with({PROFILED}, hostile_words))).code(), 0);
    // Anybody may have written the file.
    std::string text = file->content().value_or("");
    for (std::size_t at = 0; (at = text.find("eleven", at)) != std::string::npos; at += 6)
      text.replace(at, 6, "\\u001b[31me");
    text.insert(text.find('{') + 1, R"("clock": "\u001b[31mcounted", "cpu_model": "\u001b[31mzen4",)");
    std::ofstream(file->path()) << text;
  }
  for (const Words& files : {Words{one.path()}, Words{one.path(), other.path()}})
    for (const char* const format : {"table", "html"}) {
      const Finished finished = tally(with({"report", "--top", "0", "--format", format}, files));
      EXPECT_EQ(finished.code(), 0) << finished.err;
      EXPECT_TRUE(is_printable(finished.out)) << ForeignText(finished.out).in_lines().substr(0, 500);
    }
}

/// What is not a symbol version is part of the name.
TEST_F(ForeignTexts, no_symbol_is_without_a_name) {
  const TemporaryFile source("at.s",
                             ".text\n.globl main\nmain: call g\n xor %eax,%eax\n ret\n"
                             ".type g,@function\ng: mov $500,%ecx\n1: dec %ecx\n jnz 1b\n ret\n"
                             ".section .note.GNU-stack\n");
  const std::string program = source.folder() + "/at";
  const std::string build = "cc -o " + program + " " + source.path() + " && objcopy --redefine-sym g=@plt " + program;
  if (Running({"/bin/sh", "-c", build}).finish().code() != 0) GTEST_SKIP() << "there is no compiler or no objcopy";
  const TemporaryFile file("profile");
  EXPECT_EQ(tally(profiled("folded", file.path(), {program}, {"--calls", "-e", "instructions"})).code(), 0);
  EXPECT_TRUE(holds(file.content().value_or(""), ";main;@plt 1002\n")) << file.content().value_or("no file");
  fs::remove(program);
}

TEST_F(ForeignTexts, programs_are_escaped_in_every_form_of_windows) {
  const TemporaryFile program("a\x1b[31m\nb\xff", "");
  fs::copy_file(PROFILED, program.path(), fs::copy_options::overwrite_existing);
  fs::permissions(program.path(), fs::perms::owner_all);
  for (const char* const format : {"table", "csv", "jsonl", "chrome-trace"}) {
    SCOPED_TRACE(format);
    const TemporaryFile file("windows");
    const Finished finished = tally({"sample", "-q", "--backend", "engine", "--every", "10000", "--format", format,
                                     "-o", file.path(), "--", program.path()});
    EXPECT_EQ(finished.code(), 0) << finished.err;
    std::string text = file.content().value_or("");
    std::erase(text, '\r');
    EXPECT_TRUE(is_printable(text)) << text.substr(0, 500);
  }
}

/// A minified source file has lines of megabytes.
TEST_F(ForeignTexts, lines_of_source_are_cut) {
  const std::string long_line = "int main(void) { volatile int i = 0; for (; i < 9;) i++; /*" +
                                std::string(1 << 20, 'x') + "\t\x1b[31m*/ return 0; }\r\n";
  const TemporaryFile source("long.c", long_line);
  const std::string program = source.folder() + "/long";
  if (Running({"/bin/sh", "-c", "cc -g -o " + program + " " + source.path() + " 2>/dev/null"}).finish().code() != 0)
    GTEST_SKIP() << "there is no compiler";
  const Finished finished = tally({"profile", "-q", "--backend", "engine", "--annotate", "main", "--", program});
  EXPECT_EQ(finished.code(), 0);
  EXPECT_TRUE(holds(finished.err, "int main(void)")) << finished.err.substr(0, 2000);
  EXPECT_LT(finished.err.size(), 100'000u);
  EXPECT_TRUE(is_printable(finished.err));
  fs::remove(program);
}

TEST(ForeignTextsOfUsers, messages_are_escaped) {
  for (const Words& words : std::vector<Words>{{"stat", "--", "/nowhere/\x1b[31m\n\xff"},
                                               {"stat", "-e", "\x1b[31m", "--", "true"},
                                               {"\x1b[31m"},
                                               {"export", "/nowhere/\x1b[31m\xff"},
                                               {"stat", "-o", "/nowhere/\x1b[31m", "--", "true"}}) {
    const Finished finished = tally(words);
    EXPECT_NE(finished.code(), 0);
    EXPECT_TRUE(is_printable(finished.err)) << ForeignText(finished.err).in_line();
  }
}

}  // namespace
}  // namespace tally::test
