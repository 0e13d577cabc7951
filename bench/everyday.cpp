// Measures processor time of everyday programs: natively, under tally without and with kept translations, and under
// another tool, in turns. Asserts nothing: prints the goals next to the results.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "bench/everyday_inputs.hpp"
#include "bench/host.hpp"
#include "bench/input.hpp"
#include "bench/process.hpp"

namespace {

using Words = std::vector<std::string>;

/// Another tool for the same question.
struct Peer {
  std::string name, package;
  Words command;
};
const Peer callgrind{"callgrind",
                     "valgrind",
                     {"valgrind", "-q", "--tool=callgrind", "--trace-children=yes", "--callgrind-out-file=/dev/null"}};
const Peer cachegrind{
    "cachegrind",
    "valgrind",
    {"valgrind", "-q", "--tool=cachegrind", "--cache-sim=yes", "--branch-sim=yes", "--cachegrind-out-file=/dev/null"}};
const Peer exp_bbv{
    "exp-bbv", "valgrind", {"valgrind", "-q", "--tool=exp-bbv", "--interval-size=50000", "--bb-out-file=/dev/null"}};
const Peer qemu_user{"qemu-user", "qemu-user", {"qemu-x86_64"}};

const Words stat_counts = {"stat", "-q", "-e", "instructions"};
const Words profile_calls = {"profile", "-q", "--calls", "-e", "instructions,loads,stores", "-o", "/dev/null"};
const Words profile = {"profile", "-q", "-o", "/dev/null"};
const Words models = {"stat", "-q", "--model", "host", "-e", "branch-misses,L1-dcache-load-misses,LLC-load-misses"};
const std::string window_events = "instructions,branches,loads,stores";
const Words windows = {"sample", "-q", "--every", "50000", "-e", window_events, "-o", "/dev/null"};

/// One row of the table.
struct Row {
  std::string name;
  std::string package;  ///< Debian's, with the program
  Words command;
  Words tally = stat_counts;  ///< tally's command and options
  const Peer* peer = nullptr;
  std::string goal = {};  ///< and what is aimed at
  Words prepare = {};     ///< runs once before, without being measured
  std::string input = "/dev/null";
  Words needed = {};                 ///< programs that the command runs
  bool is_relative_to_stat = false;  ///< the base is `tally stat` with the same events, not the native run
};

struct Options {
  std::string tally = "build/release/tally";
  std::string folder = "build/release/bench-input/everyday";
  int runs = 5;
  bool has_peers = true;
  Words names;
};

Words joined(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

/// One step in CI: counts a program, compares it with a stored result, and judges a gate. The peer only counts.
Row gate_row(const std::string& name, Words command, const Options& options, std::string input = "/dev/null") {
  const std::string baseline = options.folder + "/baseline.json";
  const Words prepare =
      joined({options.tally, "stat", "-q", "--repeatable", "-e", "instructions", "-o", baseline, "--"}, command);
  const Words tally = joined(stat_counts, {"--repeatable", "--baseline", baseline, "--fail-above", "instructions=1%"});
  return {name + " gate", name, std::move(command), tally, &callgrind, "0.1 of callgrind", prepare, input, {}, false};
}

std::vector<Row> rows(const Options& options) {
  const std::string& folder = options.folder;
  const std::string python = "/usr/bin/python3";  // not a wrapper script of a version manager
  const std::string project = folder + "/project", sql = folder + "/script.sql", out = folder + "/made";
  const Words python_command = {python, "-c", bench::python_loop}, perl_command = {"perl", "-e", bench::perl_loop},
              sqlite_command = {"sqlite3", ":memory:"}, bzip2_command = {"bzip2", "-c", folder + "/mixed"};
  const Words java_command = {"java", "-cp", folder, "Work"}, lua_command = {"luajit", folder + "/loops.lua"};
  const Words compile_java = {"javac", "-d", folder, folder + "/Hello.java", folder + "/Work.java"};
  const Words make_command = {"sh", "-c", "make -s -C " + project + " clean && make -s -j2 -C " + project};
  const Words cmake_command = {"sh", "-c", "rm -rf " + out + " && cmake -S " + project + " -B " + out};
  const Words chromium_command = {"chromium",
                                  "--headless",
                                  "--no-sandbox",
                                  "--user-data-dir=" + folder + "/user",
                                  "--disable-gpu",
                                  "--dump-dom",
                                  "data:text/html,<p>hello</p>"};
  const std::string calls = "3.5 (2.5)", trees = "2.5 (1.8)", java = "3 (2)", large = "3.5 (2.5)", code = "2.5 (2)",
                    first = "first 2.2 (1.8)", stat = "1.35 (1.2)", modelled = "15 (8)", sampled = "1.3 (1.15)";
  return {
      {"python3 calls", "python3", python_command, profile_calls, &callgrind, calls},
      {"sqlite3 calls", "sqlite3", sqlite_command, profile_calls, &callgrind, calls, {}, sql},
      {"perl calls", "perl", perl_command, profile_calls, &callgrind, calls},
      {"true profile", "coreutils", {"/bin/true"}, profile, nullptr, "40 ms (20 ms)"},
      {"make -j2", "make", make_command, stat_counts, nullptr, trees, {}, "/dev/null", {"make", "cc"}},
      {"cmake", "cmake", cmake_command, stat_counts, nullptr, trees, {}, "/dev/null", {"make", "cc"}},
      {"configure", "gcc", {"sh", folder + "/configure.sh"}, stat_counts, nullptr, trees, {}, "/dev/null", {"cc"}},
      {"shell script", "dash", {"sh", folder + "/processes.sh"}, stat_counts, nullptr, trees},
      {"java hello",
       "default-jdk-headless",
       {"java", "-cp", folder, "Hello"},
       stat_counts,
       nullptr,
       java,
       compile_java},
      {"javac", "default-jdk-headless", compile_java, stat_counts, nullptr, java},
      {"rustc", "rustc", {"rustc", "-o", out + ".rs", folder + "/hello.rs"}, stat_counts, nullptr, large},
      {"chromium", "chromium", chromium_command, stat_counts, nullptr, large},
      {"luajit", "luajit", lua_command, stat_counts, &qemu_user, "2 (1.6)"},
      {"node functions", "nodejs", {"node", folder + "/functions.js"}, stat_counts, &qemu_user, "2.2 (1.7)"},
      {"qemu-user", "qemu-user", {"qemu-x86_64", bench::path_of("gzip"), "-c", sql}, stat_counts, nullptr, code},
      {"mono",
       "mono-mcs",
       {"mono", out + ".exe"},
       stat_counts,
       &qemu_user,
       code,
       {"mcs", "-out:" + out + ".exe", folder + "/work.cs"}},
      {"gcc", "gcc", {"gcc", "-O2", "-o", out + ".c", folder + "/hello.c"}, stat_counts, nullptr, first},
      {"clang", "clang", {"clang", "-O2", "-o", out + ".c", folder + "/hello.c"}, stat_counts, nullptr, first},
      {"node hello", "nodejs", {"node", "-e", "console.log('hello')"}, stat_counts, &qemu_user, first},
      {"php", "php-cli", {"php", folder + "/loops.php"}, stat_counts, &qemu_user, first},
      {"bzip2 windows", "bzip2", bzip2_command, windows, &exp_bbv, sampled, {}, "/dev/null", {}, true},
      {"sqlite3 windows", "sqlite3", sqlite_command, windows, &exp_bbv, sampled, {}, sql, {}, true},
      {"sqlite3", "sqlite3", sqlite_command, stat_counts, &qemu_user, stat, {}, sql},
      {"perl", "perl", perl_command, stat_counts, &qemu_user, stat},
      {"python3", "python3", python_command, stat_counts, &qemu_user, stat},
      {"java model", "default-jdk-headless", java_command, models, &cachegrind, modelled, compile_java},
      {"luajit model", "luajit", lua_command, models, &cachegrind, modelled},
      gate_row("bzip2", {"bzip2", "-c", folder + "/large"}, options),
      gate_row("sqlite3", sqlite_command, options, folder + "/large.sql"),
      gate_row("python3", {python, folder + "/loop.py"}, options),
  };
}

/// Whether the programs of a row are installed: its command, and what that runs.
bool is_installed(const Row& row) {
  const auto is_missing = [](const std::string& program) { return bench::path_of(program).empty(); };
  return !is_missing(row.command[0]) && (row.prepare.empty() || !is_missing(row.prepare[0])) &&
         std::none_of(row.needed.begin(), row.needed.end(), is_missing);
}

/// The processor times of one side, run by run.
struct Side {
  Words command;
  std::vector<double> seconds = {};
  std::string failure = {};  ///< why there are no times

  double median() {
    std::sort(seconds.begin(), seconds.end());
    const auto half = seconds.size() / 2;
    return seconds.size() % 2 == 1 ? seconds[half] : (seconds[half - 1] + seconds[half]) / 2;
  }
};

class Measurement {
 public:
  Measurement(const Row& row, const Options& options) : row_(row), options_(options) {
    Words command = row.command;
    command[0] = bench::path_of(command[0]);
    const Words tally = joined(joined({options.tally}, row.tally), joined({"--"}, command));
    base_.command =
        !row.is_relative_to_stat ? command : joined({options.tally, "stat", "-q", "-e", window_events, "--"}, command);
    first_.command = later_.command = tally;
    peer_.failure = "-";
    if (row.peer == nullptr || !options.has_peers) return;
    peer_.command = joined(row.peer->command, command);
    peer_.failure = bench::path_of(row.peer->command[0]).empty() ? "install " + row.peer->package : "";
  }

  void run() {
    if (!row_.prepare.empty()) (void)bench::run(row_.prepare, streams());
    std::filesystem::remove_all(kept());
    // Hot code is translated again in the first runs.
    for (int i = 0; i < 3; ++i) (void)seconds(later_, kept());
    for (int i = 0; i < options_.runs; ++i) {
      add(base_, kept());
      std::filesystem::remove_all(empty());
      add(first_, empty());
      add(later_, kept());
      add(peer_, kept());
    }
    std::filesystem::remove_all(kept());
    std::filesystem::remove_all(empty());
  }

  void print() {
    fmt::print("{:<16} {:>9} {:>18} {:>18}  {:<10} {:>18} {:>7}  {}\n", row_.name, text(base_, false),
               text(first_, true), text(later_, true), row_.peer == nullptr ? "" : row_.peer->name, text(peer_, true),
               share_of_peer(), row_.goal);
    std::fflush(stdout);
  }

 private:
  std::string kept() const { return options_.folder + "/kept"; }
  std::string empty() const { return options_.folder + "/empty"; }
  bench::Streams streams() const { return {row_.input, "/dev/null", options_.folder + "/stderr"}; }

  double seconds(Side& side, const std::string& cache) const {
    setenv("TALLY_CACHE_DIR", cache.c_str(), 1);
    const bench::Run run = bench::run(side.command, streams());
    if (run.status != 0) side.failure = fmt::format("exit code {}", run.status);
    return run.cpu_seconds;
  }
  void add(Side& side, const std::string& cache) const {
    if (side.failure.empty()) side.seconds.push_back(seconds(side, cache));
  }

  std::string text(Side& side, bool with_ratio) {
    if (!side.failure.empty()) return side.failure;
    const std::string time = fmt::format("{:.1f}", side.median() * 1e3);
    return with_ratio && base_.failure.empty() ? fmt::format("{} {:7.2f} x", time, side.median() / base_.median())
                                               : time;
  }

  std::string share_of_peer() {
    if (!peer_.failure.empty() || !later_.failure.empty()) return "";
    return fmt::format("{:.3f}", later_.median() / peer_.median());
  }

  const Row& row_;
  const Options& options_;
  Side base_, first_, later_, peer_;
};

Options read_options(int argc, char** argv) {
  Options options;
  bool no_peers = false;
  CLI::App app{"Compares processor times of everyday programs: natively, under tally, under another tool."};
  app.add_option("--tally", options.tally, "the command to measure");
  app.add_option("--folder", options.folder, "directory for the inputs");
  app.add_option("--runs", options.runs, "number of runs of each side")->check(CLI::Range(1, 1000));
  app.add_flag("--no-peers", no_peers, "without the other tools, which take most of the time");
  app.add_option("program", options.names, "run only these rows");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error) == 0 ? 0 : 2);
  }
  options.has_peers = !no_peers;
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  Options options = read_options(argc, argv);
  options.folder = std::filesystem::absolute(options.folder);
  const std::vector<Row> all = rows(options);
  for (const std::string& name : options.names) {
    if (std::any_of(all.begin(), all.end(), [&](const Row& row) { return row.name == name; })) continue;
    fmt::print(stderr, "bench: unknown row '{}'\n", name);
    return 2;
  }
  bench::write_everyday_inputs(options.folder);
  fmt::print(
      "{}\nprocessor time in ms, medians of {} runs in turns: native (of windows: tally stat), tally without and "
      "with kept translations, another tool, later runs / the tool\n\n",
      bench::machine_line(), options.runs);
  fmt::print("{:<16} {:>9} {:>18} {:>18}  {:<10} {:>18} {:>7}  {}\n", "program", "native", "tally, first run",
             "later runs", "tool", "", "share", "goal (aim)");
  for (const Row& row : all) {
    if (!options.names.empty() &&
        std::find(options.names.begin(), options.names.end(), row.name) == options.names.end())
      continue;
    if (!is_installed(row)) {
      fmt::print("{:<16} skipped: install {}\n", row.name, row.package);
      continue;
    }
    Measurement measurement(row, options);
    measurement.run();
    measurement.print();
  }
  return 0;
}
