// The tables of every command on terminals of 40 to 200 columns: rows fit, and no number is broken.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <regex>

#include "tally/core/base/text.hpp"
#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

namespace fs = std::filesystem;

// What tally writes on a terminal with this many columns; 0: to a pipe.
std::string shown(const Words& words, unsigned short columns) {
  const Words all = with({TALLY_COMMAND}, words);
  if (columns == 0) {
    const Finished finished = Running(all).finish();
    return finished.out + finished.err;
  }
  winsize size{.ws_row = 50, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
  int terminal = -1;
  const pid_t child = forkpty(&terminal, nullptr, nullptr, &size);
  if (child == 0) {
    std::vector<char*> arguments;
    for (const std::string& word : all) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    execv(arguments.front(), arguments.data());
    _exit(127);
  }
  std::string text;
  char bytes[4096];
  for (ssize_t size_read; (size_read = read(terminal, bytes, sizeof bytes)) > 0;)
    text.append(bytes, static_cast<std::size_t>(size_read));
  close(terminal);
  waitpid(child, nullptr, 0);
  std::erase(text, '\r');
  return text;
}

class NarrowTerminal : public testing::Test {
 protected:
  std::string path(const char* name) const { return (folder_ / name).string(); }

  void SetUp() override {
    std::ofstream(path("prog.cpp")) << R"(#include <map>
#include <string>
#include <unordered_map>
#include <vector>
int main() {
  std::unordered_map<std::string, std::vector<int>> names;
  std::map<std::string, double> sums;
  for (int i = 0; i < ROUNDS; ++i) names["key" + std::to_string(i % 30)].push_back(i), sums["x" + std::to_string(i)] += i;
  return names.size() + sums.size() == 0;
}
)";
    for (const char* const rounds : {"300", "330"}) {
      ASSERT_EQ(Running({"/usr/bin/env", "g++", "-O1", "-g", std::string("-DROUNDS=") + rounds, "-o", path("prog"),
                         path("prog.cpp")})
                    .finish()
                    .code(),
                0);
      const std::string run = std::string(rounds) == "300" ? "old" : "new";
      ASSERT_EQ(
          tally({"profile", "-q", "--repeatable", "--calls", "-o", path((run + ".json").c_str()), path("prog")}).code(),
          0);
      ASSERT_EQ(tally({"stat", "-q", "--repeatable", "-r", "3", "-o", path((run + "-stat.json").c_str()), "--history",
                       path("bench.db"), "--label", run, path("prog")})
                    .code(),
                0);
    }
    std::ofstream(path("tally-bench.toml"))
        << "[[benchmark]]\nname = \"a benchmark of a name that is rather long\"\ncommand = [\"" << path("prog")
        << "\"]\nfail-above = [\"instructions=1%\", \"loads=1%\"]\n";
  }

  TemporaryFile marker_{"marker", ""};
  fs::path folder_ = marker_.folder();
};

// Lines that are no table: their words may be longer than the terminal.
bool is_command_line(const std::string& line) { return line.find('/') != std::string::npos; }

TEST_F(NarrowTerminal, shows_tables_of_all_commands_unbroken) {
  const Words commands[] = {
      {"report", path("old.json"), "--format", "table", "-o", "-"},
      {"profile", "-q", "--lines", path("prog")},
      {"report", path("old-stat.json"), "--format", "table", "-o", "-"},
      {"stat", "-q", "--mix", path("prog")},
      {"stat", "-q", "--topdown", "true"},
      {"stat", "-q", "--topdown", "--model", "haswell", "true"},
      {"stat", "-q", "--roofline", "--model", "haswell", "true"},
      {"profile", "-q", "-e", "cycles", "--model", "haswell", path("prog")},
      {"compare", path("old.json"), path("new.json"), "--all"},
      {"compare", path("old-stat.json"), path("new-stat.json"), "--all"},
      {"history", path("bench.db")},
      {"history", path("bench.db"), "--list"},
      {"bench", path("tally-bench.toml"), "-o", path("results"), "--history", path("bench2.db")},
      {"history", path("bench.db"), "--fail-above", "1%/20"},
      {"sample", "-q", "--every", "50000", path("prog")},
      {"events"},
      {"event", "LLC-load-misses"},
      {"event", "instructions"},
      {"discover", "--list"},
      {"verify", "--list"},
      {"stat", "-q", "--model", "haswell", "-r", "3", "-e",
       "L1-dcache-load-misses,L1-dcache-store-misses,dTLB-load-misses", "true"},
      {"sample", "-q", "--every", "50000", "--model", "haswell", "-e",
       "instructions,L1-dcache-load-misses,L1-dcache-store-misses,L1-icache-load-misses", "true"},
      {"discover", "--events", "0-0x1f", "--payload", "load-miss", "--payload", "divide"},
      {"watch", "--batch", "-n", "1", "-I", "50"},
      {"lab", "-e", "mov ecx, 0x186; mov eax, 0x5300c0; xor edx, edx; wrmsr"},
  };
  for (const Words& words : commands) {
    const bool is_stored = words.front() == "compare" || words.front() == "report" || words.front() == "history";
    const std::string whole = is_stored ? shown(words, 0) : "";
    for (const unsigned short columns : {40, 60, 80, 120, 200}) {
      // Measuring costs time.
      if (!is_stored && columns != 40 && columns != 80) continue;
      const std::string text = shown(words, columns);
      const std::string what = fmt::format("{} at {} columns:\n{}", join(words, " "), columns, text);
      for (std::string line : split(text, '\n')) {
        if (const std::size_t cleared = line.rfind("\033[K"); cleared != std::string::npos) line.erase(0, cleared + 3);
        if (!is_command_line(line)) {
          EXPECT_LE(display_width(line), columns) << line << "\n in " << what;
        }
        EXPECT_EQ(line.find("misses:u#"), std::string::npos) << "not readable in " << what;
        EXPECT_FALSE(std::regex_search(line, std::regex("(^| )[0-9]{1,3}(,[0-9]{3})*,$|^ *,[0-9]")))
            << line << "\n in " << what;
      }
      if (!is_stored) continue;
      bool is_table = true;  // and not the lines that name what is left out
      const std::regex number("(^| )([0-9][0-9,.]*[0-9])( |$)");
      for (const std::string& line : split(text, '\n')) {
        is_table = is_table && line.find("left out") == std::string::npos;
        is_table = is_table || line.empty();
        if (!is_table) continue;
        for (std::sregex_iterator at(line.begin(), line.end(), number), end; at != end; ++at)
          EXPECT_TRUE(holds(whole, (*at)[2].str())) << (*at)[2] << " in " << what;
      }
    }
  }
}

}  // namespace
}  // namespace tally::test
