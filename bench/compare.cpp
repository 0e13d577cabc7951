// Measures the cost of `tally stat`. Runs everyday programs alone or under a peer tool that counts the same (A), and
// under tally (B), alternating A B A B, so that a slower machine affects both. Asserts no speed: prints the goals next
// to the results.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/host.hpp"
#include "bench/input.hpp"
#include "bench/process.hpp"

namespace {

/// One program of the table.
struct Program {
  std::string name;
  std::vector<std::string> command;
  std::string input;                           ///< file for its standard input
  double goal_ratio = 0;                       ///< time under tally / native time; 0 if the goal is a difference
  double goal_ms = 0;                          ///< difference in milliseconds
  int runs_factor = 1;                         ///< more runs for short programs
  std::vector<std::string> peer = {};          ///< tool that runs the command on side A; empty: the command runs alone
  std::vector<std::string> stat_options = {};  ///< for `tally stat`, before those of the command line
  bool only_by_name = false;                   ///< run only if named: it takes minutes, or is for a comparison
  std::string tally_command = "stat";          ///< tally's command on side B
  std::vector<std::string> stat_side =
      {};  ///< options of `tally stat` on side A; empty: the peer, or the command alone
};

struct Spread {
  double min = 0;
  double median = 0;
  double max = 0;
};

/// The times of both sides, run by run.
struct Times {
  std::vector<double> native;
  std::vector<double> tally;
};

struct Options {
  std::string tally = "build/release/tally";
  std::string folder = "build/release/bench-input";
  std::string json;
  int runs = 5;
  std::vector<std::string> names;
  std::vector<std::string> stat_options;
};

/// A few bytecodes, repeated.
constexpr auto python_sum = "s = 0\nfor i in range(3000000): s += i\nprint(s)";

/// The tool that simulates the same parts of a machine: branches and three caches.
const std::vector<std::string> cachegrind = {
    "valgrind", "-q", "--tool=cachegrind", "--cache-sim=yes", "--branch-sim=yes", "--cachegrind-out-file=/dev/null"};
const std::vector<std::string> modelled = {"--model", "host", "-e",
                                           "branch-misses,L1-icache-load-misses,L1-dcache-load-misses,LLC-load-misses"};

/// The goals for a program on a simulated machine, relative to cachegrind: for precision `fast` and `full`.
struct Modelled {
  const char* name;
  double fast;
  double full;
};
constexpr Modelled modelled_programs[] = {{"bzip2", 0.28, 1.0},   {"xz", 0.33, 0.8},       {"gzip", 0.36, 1.0},
                                          {"sqlite3", 0.23, 0.4}, {"python3", 0.17, 0.35}, {"python3 sum", 0.17, 0.35}};

void add_modelled(std::vector<Program>& all) {
  for (const Modelled& one : modelled_programs) {
    Program made = *std::find_if(all.begin(), all.end(), [&](const Program& other) { return other.name == one.name; });
    made.name = std::string(one.name) + " model";
    made.goal_ratio = one.fast;
    made.peer = cachegrind;
    made.stat_options = modelled;
    all.push_back(made);
    made.name = std::string(one.name) + " full";
    made.goal_ratio = one.full;
    made.stat_options.insert(made.stat_options.end(),
                             {"--precision", "full", "-e", "dTLB-load-misses,iTLB-load-misses"});
    made.only_by_name = true;
    all.push_back(std::move(made));
  }
}

constexpr const char* window_events = "instructions,branches,loads,stores";

/// Windows of 50,000 instructions, compared with `tally stat`.
void add_windows(std::vector<Program>& all) {
  for (const char* name : {"bzip2", "gzip", "sqlite3", "python3", "perl"}) {
    const auto known = std::find_if(all.begin(), all.end(), [&](const Program& one) { return one.name == name; });
    Program windows = *known;
    windows.name += " windows";
    windows.goal_ratio = 1.4;
    windows.stat_options = {"-q", "--every", "50000", "-e", window_events, "-o", "/dev/null"};
    windows.only_by_name = true;
    windows.tally_command = "sample";
    windows.stat_side = {"-e", window_events};
    all.push_back(std::move(windows));
  }
}

/// The cache events that cachegrind simulates.
constexpr const char* missed_events =
    "instructions,loads,stores,L1-icache-load-misses,L1-dcache-load-misses,L1-dcache-store-misses,LLC-load-misses";

/// Profiles: by function, compared with `tally stat`; with calls, compared with the command alone and with callgrind;
/// misses by instruction, compared with `tally stat` with the same models and with cachegrind.
void add_profiles(std::vector<Program>& all) {
  for (const char* name : {"bzip2", "sqlite3", "python3", "perl"}) {
    const auto known = std::find_if(all.begin(), all.end(), [&](const Program& one) { return one.name == name; });
    Program profile = *known;
    profile.tally_command = "profile";
    profile.only_by_name = true;
    profile.stat_options = {"-q", "-e", "instructions", "-o", "/dev/null"};
    Program calls = profile, callgrind = profile;
    profile.name += " profile";
    profile.stat_side = {"-e", "instructions"};
    profile.goal_ratio = 1.05;
    calls.stat_options.emplace_back("--calls");
    calls.name += " calls";
    calls.goal_ratio = 3.5;
    callgrind.stat_options = calls.stat_options;
    callgrind.name += " callgrind";
    callgrind.peer = {"valgrind", "-q", "--tool=callgrind", "--callgrind-out-file=/dev/null"};
    callgrind.goal_ratio = 0.1;
    Program misses = *known;
    misses.tally_command = "profile";
    misses.only_by_name = true;
    misses.stat_options = {"-q", "--model", "host", "-e", missed_events, "-o", "/dev/null"};
    Program cachegrind_misses = misses;
    misses.name += " misses";
    misses.stat_side = {"--model", "host", "-e", missed_events};
    misses.goal_ratio = 1.6;
    cachegrind_misses.name += " misses cachegrind";
    cachegrind_misses.peer = {"valgrind", "-q", "--tool=cachegrind", "--cache-sim=yes",
                              "--cachegrind-out-file=/dev/null"};
    cachegrind_misses.goal_ratio = 0.5;
    for (Program* one : {&profile, &calls, &callgrind, &misses, &cachegrind_misses}) all.push_back(std::move(*one));
  }
}

std::vector<Program> programs(const std::string& folder) {
  const auto mixed = folder + "/mixed";
  const auto python = "/usr/bin/python3";  // not a wrapper script of a version manager
  std::vector<Program> all = {
      {.name = "bzip2", .command = {"bzip2", "-c", mixed}, .input = "/dev/null", .goal_ratio = 1.5},
      {.name = "xz", .command = {"xz", "-T1", "-c", mixed}, .input = "/dev/null", .goal_ratio = 1.5},
      {.name = "gzip", .command = {"gzip", "-c", mixed}, .input = "/dev/null", .goal_ratio = 1.5},
      {.name = "sqlite3", .command = {"sqlite3", ":memory:"}, .input = folder + "/script.sql", .goal_ratio = 1.5},
      {.name = "python3", .command = {python, "-c", bench::python_loop}, .input = "/dev/null", .goal_ratio = 2.2},
      {.name = "python3 sum",
       .command = {python, "-c", python_sum},
       .input = "/dev/null",
       .goal_ratio = 2.2,
       .only_by_name = true},
      {.name = "perl", .command = {"perl", "-e", bench::perl_loop}, .input = "/dev/null", .goal_ratio = 2.2},
      {.name = "python3 pass",
       .command = {python, "-c", "pass"},
       .input = "/dev/null",
       .goal_ratio = 3,
       .runs_factor = 3},
      {.name = "gcc -O2",
       .command = {"gcc", "-O2", "-o", folder + "/hello", folder + "/hello.c"},
       .input = "/dev/null",
       .goal_ratio = 3.5,
       .runs_factor = 3},
      {.name = "git --version", .command = {"git", "--version"}, .input = "/dev/null", .goal_ms = 5, .runs_factor = 5},
      {.name = "true", .command = {"/bin/true"}, .input = "/dev/null", .goal_ms = 5, .runs_factor = 5},
      {.name = "perf stat",
       .command = {"/bin/true"},
       .input = "/dev/null",
       .goal_ratio = 1.2,
       .runs_factor = 5,
       .peer = {"perf", "stat", "-e", "page-faults,task-clock", "--"},
       .stat_options = {"-e", "page-faults,task-clock"}},
      {.name = "1 thread", .command = {BENCH_THREADS, "1"}, .input = "/dev/null", .goal_ratio = 1.5},
      {.name = "2 threads", .command = {BENCH_THREADS, "2"}, .input = "/dev/null", .goal_ratio = 1.5},
      {.name = "1 thread model", .command = {BENCH_THREADS, "1"}, .input = "/dev/null", .stat_options = modelled},
      {.name = "2 threads model", .command = {BENCH_THREADS, "2"}, .input = "/dev/null", .stat_options = modelled},
  };
  // The program's own threads run the cache models: two threads have the work of one thread each.
  for (const char* threads : {"1", "2"}) {
    Program alone = {.name = fmt::format("{} {} model alone", threads, threads[0] == '1' ? "thread" : "threads"),
                     .command = {BENCH_THREADS, threads},
                     .input = "/dev/null",
                     .stat_options = modelled};
    alone.stat_options.insert(alone.stat_options.end(), {"--model-threads", "0"});
    all.push_back(std::move(alone));
  }
  add_modelled(all);
  add_windows(all);
  add_profiles(all);
  return all;
}

void write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  if (!file.flush()) {
    fmt::print(stderr, "bench: cannot write {}\n", path);
    std::exit(1);
  }
}

void make_inputs(const std::string& folder) {
  std::filesystem::create_directories(folder);
  write_file(folder + "/mixed", bench::mixed_input(3'000'000));
  write_file(folder + "/script.sql", bench::sql_script(40'000));
  write_file(folder + "/hello.c", "#include <stdio.h>\nint main(void) { puts(\"hello\"); return 0; }\n");
}

Spread spread_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto half = values.size() / 2;
  const double median = values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
  return {values.front(), median, values.back()};
}

/// Ends the benchmark if a run fails, and prints its standard error: its time is meaningless.
double timed(const std::vector<std::string>& command, const bench::Streams& streams) {
  const auto run = bench::run(command, streams);
  if (run.status != 0) {
    fmt::print(stderr, "bench: {} ended with {}\n", fmt::join(command, " "), run.status);
    std::ifstream messages(streams.error);
    fmt::print(stderr, "{}", std::string(std::istreambuf_iterator<char>(messages), {}));
    std::exit(1);
  }
  return run.seconds;
}

/// The words before the command on side A.
std::vector<std::string> other_side(const Program& program, const Options& options) {
  if (program.stat_side.empty()) return program.peer;
  std::vector<std::string> words = {options.tally, "stat", "-q"};
  words.insert(words.end(), program.stat_side.begin(), program.stat_side.end());
  words.emplace_back("--");
  return words;
}

Times measure(const Program& program, const Options& options) {
  std::vector<std::string> counted = {options.tally, program.tally_command};
  counted.insert(counted.end(), program.stat_options.begin(), program.stat_options.end());
  counted.insert(counted.end(), options.stat_options.begin(), options.stat_options.end());
  counted.emplace_back("--");
  counted.insert(counted.end(), program.command.begin(), program.command.end());
  const bench::Streams streams{.input = program.input, .output = "/dev/null", .error = options.folder + "/stderr"};

  auto alone = other_side(program, options);
  alone.insert(alone.end(), program.command.begin(), program.command.end());
  timed(alone, streams);  // the first run of each warms the page cache and is discarded
  timed(counted, streams);
  Times times;
  for (int run = 0; run < options.runs * program.runs_factor; ++run) {
    times.native.push_back(timed(alone, streams));
    times.tally.push_back(timed(counted, streams));
  }
  return times;
}

std::string milliseconds(const Spread& spread) {
  return fmt::format("{:.1f} / {:.1f} / {:.1f}", spread.min * 1e3, spread.median * 1e3, spread.max * 1e3);
}

void print_row(FILE* out, const Program& program, const Times& times) {
  const auto native = spread_of(times.native);
  const auto tally = spread_of(times.tally);
  std::string cost;
  std::string goal;
  if (program.goal_ms > 0) {
    cost = fmt::format("+{:.1f} ms", (tally.median - native.median) * 1e3);
    goal = fmt::format("+{:.0f} ms", program.goal_ms);
  } else {
    cost = fmt::format("{:.2f} x", tally.median / native.median);
    if (program.goal_ratio > 0) goal = fmt::format("{:.2f} x", program.goal_ratio);
  }
  fmt::print(out, "{:<21} {:>4}  {:>26}  {:>26}  {:>9}  {:>7}\n", program.name, times.native.size(),
             milliseconds(native), milliseconds(tally), cost, goal);
  std::fflush(out);
}

nlohmann::json to_json(const Program& program, const Times& times) {
  const auto object = [](const Spread& spread, const std::vector<double>& runs) {
    return nlohmann::json{{"min", spread.min}, {"median", spread.median}, {"max", spread.max}, {"runs", runs}};
  };
  const auto native = spread_of(times.native);
  const auto tally = spread_of(times.tally);
  return {{"program", program.name},
          {"command", program.command},
          {"peer", program.peer},
          {"native_seconds", object(native, times.native)},
          {"tally_seconds", object(tally, times.tally)},
          {"ratio_of_medians", tally.median / native.median},
          {"difference_of_medians_ms", (tally.median - native.median) * 1e3}};
}

Options read_options(int argc, char** argv) {
  Options options;
  // The arguments after -- are for tally; CLI11 would read them as program names.
  const auto end = std::find(argv, argv + argc, std::string("--"));
  if (end != argv + argc) options.stat_options.assign(end + 1, argv + argc);

  CLI::App app{"Compares run times under tally stat with native run times."};
  app.add_option("--tally", options.tally, "the command to measure");
  app.add_option("--folder", options.folder, "directory for the inputs");
  app.add_option("--json", options.json, "write all times to this file; - is stdout");
  app.add_option("--runs", options.runs, "number of runs of each side")->check(CLI::Range(1, 10'000));
  app.add_option("program", options.names, "run only these programs; variants such as 'bzip2 full' run only if named");
  try {
    app.parse(static_cast<int>(end - argv), argv);
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error) == 0 ? 0 : 2);
  }
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  const auto options = read_options(argc, argv);
  auto chosen = programs(options.folder);
  for (const auto& name : options.names) {
    if (std::none_of(chosen.begin(), chosen.end(), [&](const Program& program) { return program.name == name; })) {
      fmt::print(stderr, "bench: unknown program '{}'\n", name);
      return 2;
    }
  }
  make_inputs(options.folder);

  // With the JSON on stdout the table goes to stderr.
  FILE* out = options.json == "-" ? stderr : stdout;
  const auto machine = bench::machine_line();
  auto stat_command = options.stat_options;
  stat_command.insert(stat_command.begin(), {"tally", "stat"});
  fmt::print(out, "{}\nwall time in ms, min / median / max, native (or under the named peer) and `{}`, alternating\n\n",
             machine, fmt::join(stat_command, " "));
  fmt::print(out, "{:<21} {:>4}  {:>26}  {:>26}  {:>9}  {:>7}\n", "program", "runs", "native", "tally", "cost", "goal");
  nlohmann::json document = {{"schema", "tally-bench/1"}, {"machine", machine}, {"results", nlohmann::json::array()}};
  document["stat_options"] = options.stat_options;
  for (const auto& program : chosen) {
    const auto& names = options.names;
    if (names.empty() ? program.only_by_name : std::find(names.begin(), names.end(), program.name) == names.end())
      continue;
    const auto& needed = program.peer.empty() ? program.command.front() : program.peer.front();
    if (bench::path_of(needed).empty()) {
      fmt::print(out, "{:<21} {} is not installed\n", program.name, needed);
      continue;
    }
    const auto times = measure(program, options);
    print_row(out, program, times);
    document["results"].push_back(to_json(program, times));
  }
  if (options.json == "-") {
    fmt::print("{}\n", document.dump(2));
  } else if (!options.json.empty()) {
    write_file(options.json, document.dump(2) + "\n");
  }
  return 0;
}
