#include "tests/engine/run.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/close_range.h>
#include <poll.h>
#include <signal.h>
#include <sys/personality.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <tuple>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

namespace tally::engine_test {
namespace {

std::vector<char*> pointers(const std::vector<std::string>& strings) {
  std::vector<char*> result;
  for (const std::string& string : strings) result.push_back(const_cast<char*>(string.c_str()));
  result.push_back(nullptr);
  return result;
}

void redirect(const std::string& path, int flags, int to) {
  const int fd = open(path.c_str(), flags | O_CLOEXEC, 0600);
  if (fd < 0 || dup2(fd, to) < 0) _exit(124);
}

/// Waits for the end. A program that hangs is killed with everything that it started. The limit is less than that of
/// ctest, which would end only the test.
int wait_for(pid_t child) {
  constexpr int limit_ms = 20 * 60 * 1000;
  const int handle = static_cast<int>(syscall(SYS_pidfd_open, child, 0));
  pollfd one{handle, POLLIN, 0};
  if (handle >= 0 && poll(&one, 1, limit_ms) == 0) kill(-child, SIGKILL);
  if (handle >= 0) close(handle);
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

/// Files instead of pipes: nothing can fill up, and every way of running has the same kind of output.
Outcome run(const std::vector<std::string>& words, const Command& command, const Scratch& scratch) {
  const std::string in = scratch.write("in", command.input);
  const std::string out = scratch.write("out", "");
  const std::string err = scratch.write("err", "");
  const auto argv = pointers(words);
  const auto envp = pointers(command.environment);
  const pid_t child = fork();
  if (child == 0) {
    setpgid(0, 0);
    close_range(3, ~0u, CLOSE_RANGE_CLOEXEC);
    personality(ADDR_NO_RANDOMIZE);
    redirect(in, O_RDONLY, 0);
    redirect(out, O_WRONLY | O_APPEND, 1);
    redirect(err, O_WRONLY | O_APPEND, 2);
    if (chdir(command.directory.c_str()) != 0) _exit(124);
    execve(argv[0], argv.data(), envp.data());
    _exit(errno == ENOENT ? 127 : 126);
  }
  const int status = wait_for(child);
  return {WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status), read_file(out), read_file(err)};
}

struct Name {
  const char* event;
  const char* key;  ///< of the stepper
  uint64_t Counts::*field;
};

constexpr Name names[] = {
    {"instructions:u", "instructions", &Counts::instructions},
    {"conditional-branches:u", "conditional", &Counts::conditional},
    {"conditional-taken:u", "taken", &Counts::taken},
    {"direct-jumps:u", "direct_jumps", &Counts::direct_jumps},
    {"indirect-jumps:u", "indirect_jumps", &Counts::indirect_jumps},
    {"direct-calls:u", "direct_calls", &Counts::direct_calls},
    {"indirect-calls:u", "indirect_calls", &Counts::indirect_calls},
    {"returns:u", "returns", &Counts::returns},
    {"far-branches:u", "far", &Counts::far},
    {"loads:u", "loads", &Counts::loads},
    {"stores:u", "stores", &Counts::stores},
    {"prefetches:u", "prefetches", &Counts::prefetches},
};

/// Events that are sums of other events; they must agree with them.
struct Sum {
  const char* event;
  uint64_t (*of)(const Counts&);
};

constexpr Sum sums[] = {
    {"branches:u",
     [](const Counts& c) {
       return c.conditional + c.direct_jumps + c.indirect_jumps + c.direct_calls + c.indirect_calls + c.returns + c.far;
     }},
    {"branches-taken:u",
     [](const Counts& c) {
       return c.taken + c.direct_jumps + c.indirect_jumps + c.direct_calls + c.indirect_calls + c.returns + c.far;
     }},
    {"conditional-not-taken:u", [](const Counts& c) { return c.conditional - c.taken; }},
    {"calls:u", [](const Counts& c) { return c.direct_calls + c.indirect_calls; }},
};

// TALLY_TEST_MODEL=haswell in the environment: every run uses that machine model, and each number of generated code is
// compared with the plain models'; TALLY_TEST_PRECISION is the --precision. Threads that share a last level would
// access it in another order. With TALLY_TEST_KEPT nothing is compared: that code is not stored from run to run.
constexpr const char* modelled =
    "branch-misses,L1-dcache-load-misses,L1-icache-load-misses,cache-misses,dTLB-load-misses,iTLB-load-misses";

std::string event_list() {
  std::string list;
  for (const Name& name : names) list += std::string(list.empty() ? "" : ",") + name.event;
  for (const Sum& sum : sums) list += std::string(",") + sum.event;
  return list;
}

}  // namespace

bool uses_model() { return std::getenv("TALLY_TEST_MODEL") != nullptr; }

Outcome run_native(const Command& command) { return run(command.words, command, Scratch()); }

Counted run_stepped(const Command& command) {
  const Scratch scratch;
  const std::string json = scratch.file("counts");
  std::vector<std::string> words = {STEPPER, "--json", json};
  words.insert(words.end(), command.words.begin(), command.words.end());
  Counted result;
  result.outcome = run(words, command, scratch);
  const auto values = nlohmann::json::parse(read_file(json), nullptr, false);
  if (!values.is_object()) {
    result.problem = "the stepper wrote no counts: " + result.outcome.err;
    return result;
  }
  for (const Name& name : names) result.counts.*name.field = values.at(name.key).get<uint64_t>();
  result.exact = true;
  return result;
}

namespace {

std::vector<WindowRows> sorted_values(std::map<std::string, WindowRows> threads) {
  std::vector<WindowRows> all;
  for (auto& [name, rows] : threads)
    if (!rows.empty()) all.push_back(std::move(rows));
  return sorted(std::move(all));
}

}  // namespace

std::vector<WindowRows> sorted(std::vector<WindowRows> threads) {
  std::sort(threads.begin(), threads.end(), [](const WindowRows& a, const WindowRows& b) {
    return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
      return std::tie(x.address, x.counts.loads, x.counts.stores) <
             std::tie(y.address, y.counts.loads, y.counts.stores);
    });
  });
  return threads;
}

std::vector<WindowRows> windows_stepped(const Command& command, std::uint64_t every) {
  const Scratch scratch;
  std::vector<std::string> words = {
      STEPPER, "--json", scratch.file("counts"), "--every", std::to_string(every), "--rows", scratch.file("rows")};
  words.insert(words.end(), command.words.begin(), command.words.end());
  run(words, command, scratch);
  std::map<std::string, WindowRows> threads;
  std::map<std::string, Counts> before;
  std::istringstream file(read_file(scratch.file("rows")));
  std::string thread, address;
  while (file >> thread >> address) {
    WindowRow row;
    row.address = std::stoull(address, nullptr, 16);
    Counts now;
    for (const Name& name : names) file >> now.*name.field;
    for (const Name& name : names) row.counts.*name.field = now.*name.field - before[thread].*name.field;
    before[thread] = now;
    threads[thread].push_back(row);
  }
  return sorted_values(std::move(threads));
}

std::vector<WindowRows> windows_counted(const Command& command, std::uint64_t every, int block_size, bool cut,
                                        Outcome& outcome) {
  const Scratch scratch;
  std::string events;
  for (const Name& name : names) events += (events.empty() ? "" : ",") + std::string(name.event);
  std::vector<std::string> words = {
      TALLY,  "sample",  "--backend",          "engine", "-q", "--format", "jsonl", "-o", scratch.file("rows"), "-e",
      events, "--every", std::to_string(every)};
  if (block_size == reoptimized) words.insert(words.end(), {"--hot-from", "1"});
  if (block_size > 0) words.insert(words.end(), {"--block-size", std::to_string(block_size)});
  words.insert(words.end(), command.options.begin(), command.options.end());
  words.emplace_back("--");
  words.insert(words.end(), command.words.begin(), command.words.end());
  outcome = run(words, command, scratch);
  std::map<std::string, WindowRows> threads;
  std::istringstream file(read_file(scratch.file("rows")));
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    const auto object = nlohmann::json::parse(line, nullptr, false);
    if (!object.is_object() || object.contains("schema")) break;
    if (object.at("trigger") == "end" && !cut) continue;
    WindowRow row;
    if (object.at("address").is_string())
      row.address = std::stoull(object.at("address").get<std::string>(), nullptr, 16);
    for (const Name& name : names) row.counts.*name.field = object.at("counts").at(name.event).get<uint64_t>();
    threads[object.at("series").dump()].push_back(row);
  }
  return sorted_values(std::move(threads));
}

std::vector<std::string> tally_words(const Command& command, const std::string& json, int block_size, int cache_limit) {
  std::vector<std::string> words = {TALLY,  "stat", "--backend", "engine", "--format",
                                    "json", "-o",   json,        "-e",     event_list()};
  if (block_size == reoptimized) {
    words.emplace_back("--hot-from");
    words.emplace_back("1");
  }
  if (block_size > 0) {
    words.push_back("--block-size");
    words.push_back(std::to_string(block_size));
  }
  if (cache_limit > 0) {
    words.push_back("--cache-limit");
    words.push_back(std::to_string(cache_limit));
  }
  const char* const model = std::getenv("TALLY_TEST_MODEL");
  if (model != nullptr && !command.without_model) {
    for (const char* word : {"--model", model, "--llc", "private", "-e", modelled}) words.emplace_back(word);
    if (std::getenv("TALLY_TEST_KEPT") == nullptr)
      for (const char* word : {"--models-by", "both"}) words.emplace_back(word);
  }
  const char* const precision = std::getenv("TALLY_TEST_PRECISION");
  if (precision != nullptr && !command.without_model) {
    words.emplace_back("--precision");
    words.emplace_back(precision);
  }
  words.insert(words.end(), command.options.begin(), command.options.end());
  words.push_back("--");
  words.insert(words.end(), command.words.begin(), command.words.end());
  return words;
}

Counted read_counts(const std::string& json) {
  Counted result;
  const auto file = nlohmann::json::parse(read_file(json), nullptr, false);
  if (!file.is_object()) {
    result.problem = "tally wrote no result";
    return result;
  }
  std::map<std::string, uint64_t> values;
  for (const auto& event : file.at("events")) {
    const auto name = event.at("event").get<std::string>();
    if (event.at("value").is_number()) values[name] = event.at("value").get<uint64_t>();
    if (event.at("trust") == "modelled") {
      if (event.at("value").is_number()) result.modelled[name] = event.at("value").get<uint64_t>();
      continue;
    }
    if (event.at("trust") != "exact" && result.problem.empty()) {
      result.problem = fmt::format("{} is {}: {}", name, event.at("trust").dump(), event.at("reason").dump());
    }
  }
  for (const auto& process : file.value("processes", nlohmann::json::array()))
    if (result.native_from_ns == 0) result.native_from_ns = process.value("native_from_ns", std::uint64_t{0});
  for (const auto& run : file.at("runs")) result.single_stepped += run.value("single_stepped", std::uint64_t{0});
  for (const Name& name : names) result.counts.*name.field = values[name.event];
  for (const Sum& sum : sums) {
    if (values[sum.event] == sum.of(result.counts)) continue;
    result.problem = fmt::format("{} is {}, its parts say {}", sum.event, values[sum.event], sum.of(result.counts));
  }
  for (const auto& notice : file.at("notices")) {
    const auto text = notice.get<std::string>();
    if (text.starts_with("the plain models differ")) result.problem = text;
  }
  result.exact = result.problem.empty();
  return result;
}

Counted run_counted(const Command& command, int block_size, int cache_limit) {
  const Scratch scratch;
  const std::string json = scratch.file("counts");
  const auto words = tally_words(command, json, block_size, cache_limit);
  for (int before = 0; before < 2 && block_size == reoptimized; ++before) run(words, command, scratch);
  const Outcome outcome = run(words, command, scratch);
  Counted result = read_counts(json);
  result.outcome = outcome;
  return result;
}

Scratch::Scratch() {
  std::string name = std::filesystem::temp_directory_path() / "tally-engine-XXXXXX";
  if (mkdtemp(name.data()) == nullptr) std::abort();
  path_ = name;
}

Scratch::~Scratch() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string Scratch::write(const std::string& name, const std::string& text) const {
  std::ofstream(file(name), std::ios::binary) << text;
  return file(name);
}

std::string read_file(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

std::string describe(const Counts& counts) {
  std::string text;
  for (const Name& name : names) text += fmt::format("{:<24}{}\n", name.event, counts.*name.field);
  return text;
}

}  // namespace tally::engine_test
