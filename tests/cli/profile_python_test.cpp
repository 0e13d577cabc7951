// The functions of Python programs in profiles: CPython 3.11 to 3.13, by the frames that it stores.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cctype>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/cli/pages.hpp"
#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

using nlohmann::json;

constexpr const char* script = PYTHON_PROGRAMS "/functions.py";

// The interpreters to test: distributions', which contain their library, and ones with a shared library.
std::vector<std::string> interpreters() {
  std::vector<std::string> found;
  for (const char* path :
       {"/usr/bin/python3.11", "/usr/local/bin/python3.11", "/usr/bin/python3.12", "/usr/bin/python3.13"})
    if (std::filesystem::exists(path)) found.emplace_back(path);
  // Those of pyenv, which are not in PATH unless they are selected.
  const char* const home = std::getenv("HOME");
  std::error_code error;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(home == nullptr ? "" : home) + "/.pyenv/versions", error))
    for (const char* name : {"python3.12", "python3.13"})
      if (const auto path = entry.path() / "bin" / name; std::filesystem::exists(path)) found.push_back(path.string());
  if (const char* other = std::getenv("TALLY_OTHER_PYTHON")) found.emplace_back(other);
  return found;
}

struct Profiled {
  std::map<std::string, json> functions;
  json all;
  std::string err;
};

Profiled profiled(const Words& program, const Words& options = {}) {
  const TemporaryFile file("profile.json");
  Words words{"profile", "-q", "--backend", "engine", "--repeatable", "-o", file.path()};
  words.insert(words.end(), options.begin(), options.end());
  words.emplace_back("--");
  words.insert(words.end(), program.begin(), program.end());
  const Finished finished = tally(words);
  EXPECT_EQ(finished.code(), 0) << finished.err;
  Profiled made{{}, json::parse(file.content().value_or("{}")), finished.err};
  for (const json& one : made.all.at("python")) made.functions[one.at("name")] = one;
  return made;
}

std::int64_t calls(const Profiled& p, const std::string& name) {
  const auto found = p.functions.find(name);
  return found == p.functions.end() ? -1 : found->second.at("calls").get<std::int64_t>();
}

std::int64_t own(const Profiled& p, const std::string& name) { return p.functions.at(name).at("counts").at(0); }
std::int64_t inclusive(const Profiled& p, const std::string& name) {
  return p.functions.at(name).at("inclusive").at(0);
}

class ProfilePython : public testing::TestWithParam<std::string> {};

TEST_P(ProfilePython, CallsOfEveryKind) {
  const Profiled p = profiled({GetParam(), script});
  EXPECT_EQ(calls(p, "once"), 1);
  EXPECT_EQ(calls(p, "fibonacci"), 1973);
  EXPECT_EQ(calls(p, "numbers"), 12) << "a generator's creation and each resumption are calls";
  EXPECT_EQ(calls(p, "key"), 100 + 1000 + 1);
  EXPECT_EQ(calls(p, "fail"), 6);
  EXPECT_EQ(calls(p, "catch"), 1);
  EXPECT_EQ(calls(p, "Größe.method"), 1) << "names are UTF-8";
  EXPECT_EQ(calls(p, "in_thread"), 1);
  EXPECT_EQ(calls(p, "in_child"), 1);
  const json& fibonacci = p.functions.at("fibonacci");
  EXPECT_TRUE(fibonacci.at("file").get<std::string>().ends_with("/functions.py"));
  EXPECT_EQ(fibonacci.at("line"), 27);
}

TEST_P(ProfilePython, CountsAreExact) {
  const Profiled p = profiled({GetParam(), script});
  // The same code with 1,000, 2,000 and 3,000 rounds: each thousand after the first costs the same.
  EXPECT_GE(own(p, "twice") - own(p, "once"), 1000 * 10);
  // The interpreter specializes code after some executions, in each function once: some dozen instructions.
  EXPECT_NEAR(static_cast<double>(own(p, "thrice") - own(p, "twice")),
              static_cast<double>(own(p, "twice") - own(p, "once")), 100);
  // Without calls of other functions, both counts are the same; recursion is counted once.
  EXPECT_EQ(inclusive(p, "thrice"), own(p, "thrice"));
  EXPECT_EQ(inclusive(p, "fibonacci"), own(p, "fibonacci"));
  EXPECT_GT(inclusive(p, "sort"), own(p, "sort")) << "with the key function";
  EXPECT_GE(inclusive(p, "catch"), own(p, "catch") + own(p, "fail"));
  // The script contains all that it called in its own process.
  std::int64_t sum = 0;
  for (const auto& [name, one] : p.functions) sum += one.at("counts").at(0).get<std::int64_t>();
  const std::int64_t total = p.all.at("events").at(0).at("value");
  EXPECT_LT(sum, total) << "the start of the interpreter is in no function";
  EXPECT_GT(sum, inclusive(p, "<module>") / 2);
}

TEST_P(ProfilePython, TheSameCallsAsWithoutTally) {
  // The interpreter's own profiler counts the same calls of the script's functions.
  const TemporaryFile counter("count.py", R"(import os, sys
calls = {}
def count(frame, event, argument):
    if event == 'call' and frame.f_code.co_filename == sys.argv[1]:
        calls[frame.f_code.co_qualname] = calls.get(frame.f_code.co_qualname, 0) + 1
code = compile(open(sys.argv[1]).read(), sys.argv[1], 'exec')
import threading
pid = os.getpid()
threading.setprofile(count)
sys.setprofile(count)
exec(code, {'__name__': '__main__'})
sys.setprofile(None)
for name, number in calls.items(): print(number, name)
)");
  const Finished counted = Running({GetParam(), counter.path(), script}).finish();
  ASSERT_EQ(counted.code(), 0) << counted.err;
  const Profiled p = profiled({GetParam(), script});
  std::istringstream lines(counted.out);
  int compared = 0;
  for (std::string line; std::getline(lines, line); ++compared) {
    const std::string name = line.substr(line.find(' ') + 1);
    const std::int64_t in_child = name == "key" ? 1 : 0;
    const std::int64_t creation = name == "numbers" ? 1 : 0;  // the interpreter reports a generator's resumptions only
    if (name != "<module>") EXPECT_EQ(calls(p, name), std::stoll(line) + in_child + creation) << name;
  }
  EXPECT_GE(compared, 10) << counted.out;
}

TEST_P(ProfilePython, TheTableAddsUp) {
  const Finished finished =
      tally({"profile", "-q", "--backend", "engine", "-e", "instructions", "--top", "0", "--", GetParam(), script});
  EXPECT_EQ(finished.code(), 0);
  for (const char* part : {"Python function", "fibonacci", "functions.py:27", "[outside Python functions]"})
    EXPECT_NE(finished.err.find(part), std::string::npos) << part << "\n" << finished.err;
}

TEST_P(ProfilePython, WithCallsAndFromAShell) {
  const Profiled p = profiled({"/bin/sh", "-c", GetParam() + " " + script}, {"--python", "--calls"});
  EXPECT_EQ(calls(p, "fibonacci"), 1973);
  EXPECT_FALSE(p.all.at("calls").empty());
}

std::string written(const std::string& python, const std::string& name, const Words& options) {
  const TemporaryFile file(name);
  Words words{"profile", "-q", "--backend", "engine", "--repeatable", "-o", file.path()};
  words.insert(words.end(), options.begin(), options.end());
  words.insert(words.end(), {"--", python, script});
  const Finished finished = tally(words);
  EXPECT_EQ(finished.code(), 0) << finished.err;
  return file.content().value_or("");
}

// The numbers at the beginning of a line of callgrind_annotate's that contains `part`; empty if there is none.
std::vector<std::int64_t> numbers_of_line(const std::string& text, const std::string& part) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.find(part) == std::string::npos) continue;
    std::erase(line, ',');
    std::vector<std::int64_t> numbers;
    std::istringstream words(line);
    for (std::string word; words >> word && (word == "." || std::isdigit(word.front()) != 0);)
      numbers.push_back(word == "." ? 0 : std::stoll(word));
    return numbers;
  }
  return {};
}

// The sums of the costs in a file of callgrind's with four events, without those of calls.
std::vector<std::int64_t> sums_of_costs(const std::string& content) {
  const bool has_addresses = content.find("\npositions: instr line\n") != std::string::npos;
  std::vector<std::int64_t> sums(4);
  std::istringstream lines(content);
  bool is_call = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("calls=")) {
      is_call = true;
    } else if (!line.empty() && std::isdigit(line.front()) != 0 && !std::exchange(is_call, false)) {
      std::istringstream words(line);
      std::string position;
      for (int i = has_addresses ? 2 : 1; i > 0; --i) words >> position;
      std::int64_t count = 0;
      for (std::size_t e = 0; e < sums.size() && words >> count; ++e) sums[e] += count;
    }
  }
  return sums;
}

// Python functions have columns of their own: the sums of each column are the program's totals.
TEST_P(ProfilePython, CallgrindCountsNothingTwice) {
  const Profiled p = profiled({GetParam(), script}, {"-e", "instructions,loads"});
  const bool has_reader = Running({"/bin/sh", "-c", "command -v callgrind_annotate"}).finish().code() == 0;
  for (const Words& more : {Words{}, Words{"--asm"}, Words{"--calls"}}) {
    Words options{"-e", "instructions,loads"};
    options.insert(options.end(), more.begin(), more.end());
    const TemporaryFile file("callgrind.out.1", written(GetParam(), "callgrind.out.python", options));
    const std::string content = file.content().value_or("");
    EXPECT_NE(content.find("\nevents: Ir Dr PyIr PyDr\n"), std::string::npos);
    const std::vector<std::int64_t> sums = sums_of_costs(content);
    EXPECT_EQ(sums[0], sums[2]);
    EXPECT_EQ(sums[1], sums[3]);
    EXPECT_GT(sums[1], 0);
    const std::string totals = fmt::format(" {} {} {} {}\n", sums[0], sums[1], sums[2], sums[3]);
    EXPECT_NE(content.find("\nsummary:" + totals), std::string::npos) << totals;
    EXPECT_NE(content.find("\ntotals:" + totals), std::string::npos) << totals;
    if (!has_reader) continue;
    const std::string command = "callgrind_annotate --threshold=100 --show-percs=no --sort=PyIr,PyDr,Ir,Dr ";
    const Finished read = Running({"/bin/sh", "-c", command + file.path()}).finish();
    EXPECT_EQ(read.code(), 0);
    EXPECT_EQ(read.err, "");
    EXPECT_EQ(numbers_of_line(read.out, "PROGRAM TOTALS"), sums);
    const std::vector<std::int64_t> fibonacci = numbers_of_line(read.out, ":fibonacci [Python]");
    ASSERT_EQ(fibonacci.size(), 4u) << read.out;
    EXPECT_EQ(fibonacci[0], 0) << "functions of the interpreter have them";
    EXPECT_EQ(fibonacci[1], 0);
    EXPECT_EQ(fibonacci[2], own(p, "fibonacci"));
    EXPECT_FALSE(numbers_of_line(read.out, ":Größe.method [Python]").empty()) << read.out;
    EXPECT_FALSE(numbers_of_line(read.out, "[outside Python functions]").empty()) << read.out;
  }
}

// Other programs' files have no such columns.
TEST(ProfilePythonFormats, CallgrindWithoutPython) {
  const TemporaryFile file("callgrind.out.1");
  ASSERT_EQ(
      tally({"profile", "-q", "--backend", "engine", "-e", "instructions", "-o", file.path(), "--", "true"}).code(), 0);
  EXPECT_NE(file.content().value_or("").find("\nevents: Ir\n"), std::string::npos);
}

TEST_P(ProfilePython, ThePageHasATable) {
  const std::string page = written(GetParam(), "profile.html", {"-e", "instructions,loads"});
  EXPECT_NE(page.find("<h2>Python functions</h2>"), std::string::npos);
  if (browser().empty()) GTEST_SKIP() << "no browser: ./dev setup all installs chromium where it is packaged";
  const std::string shown = probe_output(render(page, R"(
    const first = () => document.querySelector("#python tbody tr").textContent;
    const sortBy = (name) => [...document.querySelectorAll("#python thead .link")].find((one) => one.textContent.startsWith(name)).click();
    const data = JSON.parse(document.getElementById("profile-data").textContent);
    const sum = data.python.reduce((all, row) => all + row.counts[0], 0);
    const seen = [sum === data.views[0].totals[0], first().includes("[outside Python functions]")];
    sortBy("inclusive");
    seen.push(!first().includes("[outside Python functions]"));
    const find = document.getElementById("find");
    find.value = "functions.py";
    find.dispatchEvent(new Event("input"));
    sortBy("calls");
    seen.push(/fibonacci.*1,973.*functions\.py:27$/.test(first()), document.querySelectorAll("#python tbody tr").length);
    document.getElementById("more-python").click();
    document.getElementById("seen").textContent = seen.join("|");
  )"));
  EXPECT_EQ(shown, "true|true|true|true|14");
}

TEST(ProfilePythonFormats, APageWithoutPython) {
  const TemporaryFile file("profile.html");
  ASSERT_EQ(tally({"profile", "-q", "--backend", "engine", "-o", file.path(), "--", "true"}).code(), 0);
  EXPECT_EQ(file.content().value_or("").find("Python functions"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Interpreters, ProfilePython, testing::ValuesIn(interpreters()),
                         [](const auto& each) { return "python" + std::to_string(each.index); });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ProfilePython);

TEST(ProfilePythonOptions, OnlyWhereItCanCount) {
  const Finished models = tally({"profile", "-q", "--python", "--model", "haswell", "--", "true"});
  EXPECT_EQ(models.code(), 2);
  EXPECT_NE(models.err.find("--python needs at most 4 events, and none of a machine model"), std::string::npos)
      << models.err;
  const Finished folded =
      tally({"profile", "-q", "--python", "--format", "folded", "--backend", "engine", "--", "true"});
  EXPECT_EQ(folded.code(), 2);
  EXPECT_NE(folded.err.find("--python: the format folded has no Python functions"), std::string::npos) << folded.err;
  const Finished parts = tally({"profile", "-q", "--python", "--parts", "--format", "callgrind", "--", "true"});
  EXPECT_EQ(parts.code(), 2);
  EXPECT_NE(parts.err.find("--python and --parts cannot be used together"), std::string::npos) << parts.err;
  // Other programs have no such functions, and cost nothing more.
  EXPECT_TRUE(profiled({"true"}).functions.empty());
}

TEST(ProfilePythonOptions, OtherVersionsAreNamed) {
  const char* const other = std::getenv("TALLY_LATER_PYTHON");
  if (other == nullptr) GTEST_SKIP() << "TALLY_LATER_PYTHON does not name a Python 3.14 or later";
  const Finished finished = tally({"profile", "--backend", "engine", "--", other, "-c", "pass"});
  EXPECT_NE(finished.err.find("tally reads the frames of release builds of Python 3.11 to 3.13"), std::string::npos)
      << finished.err;
}

/// From outside, without stopping it: every version whose frames are known, as far as it is installed.
TEST(ProfileRunningPython, NamesItsFunctions) {
  const TemporaryFile program("running.py", R"(import time
class Work:
    def heavy(self):
        return sum(i * i for i in range(30000))
    def light(self):
        return [i for i in range(20000)]
def größe(work):
    while True:
        work.heavy(); work.light()
print("begun", flush=True)
größe(Work())
)");
  int tried = 0;
  for (const char* name : {"python3.11", "python3.12", "python3.13"}) {
    SCOPED_TRACE(name);
    const Words asking{"/bin/sh", "-c", "exec \"$0\" -c 'import sys; print(sys.executable, end=\"\")' 2>/dev/null",
                       name};
    const std::string path = Running(asking).finish().out;
    if (path.empty()) continue;
    Running interpreter({path, program.path()});
    ASSERT_TRUE(interpreter.wait_for_output("begun"));
    const TemporaryFile file("profile.json");
    const Finished finished = tally({"profile", "-q", "-e", "cpu-clock", "-p", std::to_string(interpreter.pid()), "-o",
                                     file.path(), "--timeout", "1500"});
    interpreter.signal(SIGKILL);
    if (finished.code() == 125) GTEST_SKIP() << finished.err;
    ++tried;
    std::map<std::string, json> functions;
    const json all = json::parse(file.content().value_or("{}"));
    for (const json& function : all.at("python")) functions[function.at("name")] = function;
    ASSERT_TRUE(functions.count("Work.heavy.<locals>.<genexpr>") && functions.count("größe"))
        << all.at("python").dump();
    const std::int64_t total = all.at("events").at(0).at("value");
    const auto share = [&](const char* function, const char* key) {
      return static_cast<double>(functions.at(function).at(key).at(0).get<std::int64_t>()) / static_cast<double>(total);
    };
    EXPECT_GT(share("Work.heavy", "inclusive"), 0.5);
    EXPECT_LT(share("größe", "counts"), 0.3);
    EXPECT_GT(share("größe", "inclusive"), 0.8);
    EXPECT_LT(share("größe", "inclusive"), 1.01);
  }
  if (tried == 0) GTEST_SKIP() << "no Python of a version whose frames are known";
}

// A service sleeps most of the time: what it used before belongs to its functions, not to those that sleep.
TEST(ProfileRunningPython, NamesFunctionsOfAServiceThatSleeps) {
  const TemporaryFile program("service.py", R"(import time
def work():
    return sum(range(100000))
def serve():
    while True:
        work(); time.sleep(0.004)
print("begun", flush=True)
serve()
)");
  Running interpreter({"/usr/bin/python3.11", program.path()});
  if (!interpreter.wait_for_output("begun")) GTEST_SKIP() << "Python 3.11 is not installed";
  const TemporaryFile file("profile.json");
  const Finished finished = tally({"profile", "-q", "-e", "cpu-clock", "-p", std::to_string(interpreter.pid()), "-o",
                                   file.path(), "--timeout", "3000"});
  interpreter.signal(SIGKILL);
  if (finished.code() == 125) GTEST_SKIP() << finished.err;
  const json all = json::parse(file.content().value_or("{}"));
  std::int64_t named = 0;
  for (const json& function : all.at("python")) named += function.at("counts").at(0).get<std::int64_t>();
  EXPECT_GT(named, all.at("events").at(0).at("value").get<std::int64_t>() / 2) << all.at("python").dump();
  // Few samples: each share of the table has its interval.
  const std::string table = tally({"report", file.path()}).out;
  const std::size_t work = table.find(" work ");
  ASSERT_NE(work, std::string::npos) << table;
  const std::string row = table.substr(table.rfind('\n', work) + 1, work - table.rfind('\n', work));
  EXPECT_NE(row.find(" – "), std::string::npos) << table;
}

}  // namespace
}  // namespace tally::test
