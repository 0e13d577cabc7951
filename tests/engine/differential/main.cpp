// differential [--seed N] [--seconds S] [--length N] [--sequences N] [--keep FILE]: random code natively and under the
// engine, until the time is up. Exit code 1 and the smallest code that differs, with its seed, on the first difference.
// differential --encodings TIMES [--seed N]: code with every encoding that random code has, executed TIMES times.
// differential --slowest TIMES [--seed N]: the sequences of that code that take longest under the engine.
// differential --extensions: the instruction sets that this processor lacks. Random code with their instructions is not
// tested here; the other modes print the same line first.
#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <fstream>
#include <functional>
#include <optional>
#include <set>

#include "tests/engine/differential/extensions.hpp"
#include "tests/engine/differential/instructions.hpp"
#include "tests/engine/differential/sequence.hpp"
#include "tests/engine/run.hpp"

namespace tally::differential {
namespace {

using engine_test::Command;
using engine_test::Counted;
using engine_test::Outcome;
using engine_test::Scratch;

struct Options {
  uint64_t seed = 1;
  double seconds = 10;
  int length = 40;
  int sequences = 60;
  int rounds = 2;
  int encodings = 0, slowest = 0;  ///< how many times; 0: not requested
  std::string keep;                ///< where the smallest case file goes, to examine it alone
};

constexpr size_t record_bytes = sizeof(Result) + stack_bytes + data_bytes;

/// How the runner runs each sequence of a file.
struct RunnerArguments {
  int rounds = 1, times = 1;
  int timer_us = 0;  ///< 0: without
};

/// One case file, and the command that runs it.
class Case {
 public:
  Case(const std::vector<Sequence>& sequences, const RunnerArguments& how) {
    command_.words = {RUNNER, scratch_.write("case", case_file(sequences)), std::to_string(how.rounds),
                      std::to_string(how.times),
                      fmt::format("{:02}", how.timer_us)};  // reading two digits takes the same instructions
  }
  const Command& command() const { return command_; }

 private:
  Scratch scratch_;
  Command command_;
};

std::optional<Result> result_at(const std::string& out, size_t record) {
  if (out.size() < (record + 1) * record_bytes) return {};
  Result result;
  std::memcpy(&result, &out[record * record_bytes], sizeof result);
  return result;
}

/// The last word of the runner's output, which is removed from it.
uint64_t take_ticks(std::string& out) {
  uint64_t ticks = 0;
  if (out.size() % record_bytes != sizeof ticks) return 0;
  std::memcpy(&ticks, &out[out.size() - sizeof ticks], sizeof ticks);
  out.resize(out.size() - sizeof ticks);
  return ticks;
}

void clear_known(std::string& out) {
  for (size_t at = 0; at + record_bytes <= out.size(); at += record_bytes) {
    Result result;
    std::memcpy(&result, &out[at], sizeof result);
    std::memset(result.x87 + 6, 0, 18);  // the last x87 instruction was a copy's
    for (uint64_t i = std::min(result.faults, fault_limit); i < fault_limit; ++i) result.fault[i] = {};
    std::memcpy(&out[at], &result, sizeof result);
  }
}

/// Whether a branch led to a non-canonical address: natively that branch faults, under the engine its target
/// (docs/design/engine.md, known differences).
bool branched_to_noncanonical(const std::string& engine, size_t record) {
  const auto result = result_at(engine, record);
  if (!result) return false;
  const auto is_address = [](uint64_t ip) { return ip >> 47 == 0 || ip >> 47 == 0x1ffff; };
  return std::any_of(result->fault, result->fault + std::min(result->faults, fault_limit),
                     [&](const Fault& fault) { return !is_address(fault.ip); });
}

/// The first difference of one sequence's results, in words.
std::string first_difference(const std::string& native, const std::string& engine, size_t record) {
  const auto a = result_at(native, record), b = result_at(engine, record);
  if (!a || !b) return fmt::format("the output ends: {} and {} bytes", native.size(), engine.size());
  std::string text;
  int differences = 0;
  const auto say = [&](const std::string& what, uint64_t x, uint64_t y) {
    if (x != y && ++differences <= 12) text += fmt::format("  {}: natively {:x}, under the engine {:x}\n", what, x, y);
  };
  for (size_t i = 0; i < 16; ++i) say(fmt::format("register {}", i), a->registers[i], b->registers[i]);
  say("flags", a->flags, b->flags);
  say("faults", a->faults, b->faults);
  say("lost", a->lost, b->lost);
  for (size_t i = 0; i < std::min({a->faults, b->faults, fault_limit}); ++i) {
    const Fault &x = a->fault[i], &y = b->fault[i];
    const std::string name = fmt::format("fault {} ", i);
    say(name + "signal", x.signal, y.signal);
    say(name + "code", x.code, y.code);
    say(name + "address", x.address, y.address);
    say(name + "trap", x.trap, y.trap);
    say(name + "error", x.error, y.error);
    say(name + "ip", x.ip, y.ip);
    say(name + "flags", x.flags, y.flags);
    for (size_t r = 0; r < 16; ++r) say(name + fmt::format("register {}", r), x.registers[r], y.registers[r]);
  }
  for (size_t i = 0; i < sizeof a->x87; ++i) say(fmt::format("fxsave byte {}", i), a->x87[i], b->x87[i]);
  for (size_t i = 0; i < 256; ++i)
    say(fmt::format("vector {} word {}", i / 8, i % 8), a->vectors[i / 8][i % 8], b->vectors[i / 8][i % 8]);
  for (size_t i = 0; i < 8; ++i) say(fmt::format("mask {}", i), a->masks[i], b->masks[i]);
  const size_t memory = record * record_bytes + sizeof(Result);
  for (size_t i = memory; i < memory + stack_bytes + data_bytes; ++i) {
    const size_t offset = i - memory;
    say(fmt::format("{} byte {:x}", offset < stack_bytes ? "stack" : "data", offset % stack_bytes),
        static_cast<uint8_t>(native[i]), static_cast<uint8_t>(engine[i]));
  }
  return text;
}

/// The results of the runs of one file.
struct Comparison {
  bool same = true;
  std::optional<size_t> record;  ///< that differs first
  bool known = false;            ///< it differs as docs/design/engine.md says
  uint64_t instructions = 0;     ///< under the engine
  std::string what;
};

Comparison compare_outcomes(Outcome native, Counted& engine) {
  Comparison result;
  clear_known(native.out);
  clear_known(engine.outcome.out);
  const std::string &a = native.out, &b = engine.outcome.out;
  if (native.code != engine.outcome.code || native.err != engine.outcome.err || a != b) {
    result.same = false;
    const size_t at = static_cast<size_t>(
        std::mismatch(a.begin(), a.begin() + static_cast<long>(std::min(a.size(), b.size())), b.begin()).first -
        a.begin());
    result.record = at / record_bytes;
    result.known = branched_to_noncanonical(b, *result.record);
    result.what = fmt::format("exit code {} natively, {} under the engine {}{}\n{}", native.code, engine.outcome.code,
                              native.err, engine.outcome.err, first_difference(a, b, *result.record));
  } else if (!engine.exact) {
    result.same = false;
    result.what = engine.problem;
  } else if (engine.single_stepped != 0) {
    result.same = false;
    result.what = fmt::format("{} instructions were not copied, but executed one at a time\n", engine.single_stepped);
  }
  return result;
}

Comparison compare_state(const std::vector<Sequence>& sequences, const RunnerArguments& how, int block_size) {
  const Case one(sequences, how);
  Counted engine = engine_test::run_counted(one.command(), block_size);
  Comparison result = compare_outcomes(engine_test::run_native(one.command()), engine);
  result.instructions = engine.counts.instructions;
  return result;
}

/// With a timer and without: the code's results must be equal, and the counts differ by those of its ticks.
Comparison compare_interrupted(const std::vector<Sequence>& sequences, int block_size, uint64_t& all_ticks) {
  RunnerArguments how{.times = 50};
  const Counted quiet = engine_test::run_counted(Case(sequences, how).command(), block_size);
  how.timer_us = 32;
  Counted busy = engine_test::run_counted(Case(sequences, how).command(), block_size);
  Outcome as_quiet = quiet.outcome;
  (void)take_ticks(as_quiet.out);
  const uint64_t ticks = take_ticks(busy.outcome.out);
  all_ticks += ticks;
  Comparison result = compare_outcomes(std::move(as_quiet), busy);
  engine_test::Counts left = busy.counts;
  left.instructions -= ticks * Tick::instructions;
  left.loads -= ticks * Tick::loads;
  left.stores -= ticks * Tick::stores;
  left.returns -= ticks * Tick::returns;
  left.far -= ticks * Tick::far;
  if (result.same && !(left == quiet.counts)) {
    result.same = false;
    result.what = "counts without a timer:\n" + engine_test::describe(quiet.counts) +
                  fmt::format("with one, less what {} ticks took:\n", ticks) + engine_test::describe(left);
  }
  return result;
}

Comparison compare_counts(const std::vector<Sequence>& sequences, int rounds, int block_size) {
  const Case one(sequences, {.rounds = rounds});
  const Counted stepped = engine_test::run_stepped(one.command());
  const Counted engine = engine_test::run_counted(one.command(), block_size);
  Comparison result;
  if (!stepped.exact) result.what = stepped.problem;
  if (!(stepped.counts == engine.counts)) {
    result.what = "counts of the stepper:\n" + engine_test::describe(stepped.counts) + "of the engine:\n" +
                  engine_test::describe(engine.counts);
  }
  result.same = result.what.empty();
  return result;
}

using Differs = std::function<Comparison(const std::vector<Sequence>&)>;

/// Compares without the sequences that differ as docs/design/engine.md says; `sequences` are those that remain.
Comparison without_known(std::vector<Sequence>& sequences, const Differs& compare) {
  Comparison found = compare(sequences);
  while (found.known && sequences.size() > 1) {
    sequences.erase(sequences.begin() + static_cast<long>(*found.record % sequences.size()));
    found = compare(sequences);
  }
  return found;
}

/// Removes everything that the difference does not need.
Sequence minimise(Sequence sequence, const Differs& compare) {
  int groups = 0;
  for (const Item& item : sequence.items) groups = std::max(groups, item.group + 1);
  for (int chunk = std::max(groups / 2, 1);; chunk /= 2) {
    for (int first = 1; first < groups; first += chunk) {
      Sequence smaller = sequence;
      bool any = false;
      for (Item& item : smaller.items) {
        if (item.group < first || item.group >= first + chunk || item.removed) continue;
        item.removed = any = true;
      }
      if (any && !compare({smaller}).same) sequence = std::move(smaller);
    }
    if (chunk == 1) return sequence;
  }
}

/// The seed, the code and the difference, on standard output.
int report(const std::vector<Sequence>& sequences, const Comparison& found, const Options& options, int block_size,
           const Differs& compare) {
  fmt::print("a difference in the file of seed {} (--seed {} --length {} --sequences {}), block size {}\n{}",
             options.seed, options.seed, options.length, options.sequences, block_size, found.what);
  const auto announce = [&](const Sequence& guilty) {
    fmt::print("sequence of seed {}\n", guilty.seed);
    std::fflush(stdout);
    const Sequence least = minimise(guilty, compare);
    const Comparison rest = compare({least});
    if (!options.keep.empty()) std::ofstream(options.keep, std::ios::binary) << case_file({least});
    fmt::print("{}{}fixed: data r{} edge r{} index r{} bad r{}\n", listing(least, 0), rest.what, least.fixed.data,
               least.fixed.edge, least.fixed.index, least.fixed.bad);
  };
  std::vector<size_t> suspects;
  if (found.record) suspects.push_back(*found.record % sequences.size());
  for (size_t i = 0; i < sequences.size(); ++i) suspects.push_back(i);
  for (const size_t i : suspects) {
    if (compare({sequences[i]}).same) continue;
    announce(sequences[i]);
    return 1;
  }
  fmt::print("no sequence differs when it runs alone\n");
  return 1;
}

bool steppable(const Sequence& sequence) {
  return std::all_of(sequence.items.begin(), sequence.items.end(), [](const Item& item) { return item.steppable; });
}

/// The parameters of a file depend on its first seed only, so that this seed repeats it.
struct RunSettings {
  int block_size;
  bool stepped;      ///< counted by the stepper, too: a quarter of the files, at both load addresses
  bool interrupted;  ///< and with a timer: an eighth, which takes as long as all others
};

RunSettings run_settings(uint64_t seed, uint64_t sequences) {
  static const int sizes[] = {0, 1, 3, engine_test::reoptimized, 64};
  const uint64_t file = seed / (2 * sequences) * 2 + seed % 2;
  return {sizes[file % 5], file % 8 == 1 || file % 8 == 6, file % 16 == 3 || file % 16 == 4};
}

/// Some instructions show on which processor they run.
void pin_to_current_processor() {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<unsigned>(std::max(sched_getcpu(), 0)), &set);
  sched_setaffinity(0, sizeof set, &set);
}

/// The numbers of what was compared.
struct Totals {
  uint64_t files = 0, instructions = 0, stepped = 0, ticks = 0;
};

/// Tests the file that begins with `options.seed`: an exit code if something differs.
std::optional<int> examine(std::vector<Sequence> sequences, const Options& options, Totals& sum) {
  const auto [size, is_stepped, is_interrupted] = run_settings(options.seed, sequences.size());
  const auto by_state = [&, size = size](const auto& s) { return compare_state(s, {.rounds = options.rounds}, size); };
  const auto by_counts = [size = size](const auto& s) { return compare_counts(s, 1, size); };
  const auto with_timer = [&sum, size = size](const auto& s) { return compare_interrupted(s, size, sum.ticks); };
  const size_t count = sequences.size();
  Comparison found = without_known(sequences, by_state);
  if (!found.same) return report(sequences, found, options, size, by_state);
  sum.instructions += found.instructions;
  if (is_interrupted) found = with_timer(sequences);
  if (!found.same) return report(sequences, found, options, size, with_timer);
  if (!is_stepped) return {};
  sequences.resize(std::min(sequences.size(), std::max<size_t>(count / 4, 1)));
  std::erase_if(sequences, [](const Sequence& s) { return !steppable(s); });
  found = by_counts(sequences);
  if (!found.same) return report(sequences, found, options, size, by_counts);
  sum.stepped += sequences.size();
  return {};
}

/// Sequences that together have every encoding, as far as a long search shows. All have even or all have odd seeds: so
/// they have one load address.
std::vector<Sequence> all_encodings(uint64_t seed, int length) {
  constexpr int patience = 300;
  std::vector<Sequence> sequences;
  std::set<uint64_t> seen;
  for (int without_news = 0; without_news < patience; seed += 2) {
    Sequence sequence = make_sequence(seed, length);
    const size_t before = seen.size();
    for (const Item& item : sequence.items) seen.insert(encoding_of(item.bytes));
    without_news = seen.size() == before ? without_news + 1 : 0;
    if (seen.size() != before) sequences.push_back(std::move(sequence));
  }
  fmt::print("{} encodings in {} sequences\n", seen.size(), sequences.size());
  return sequences;
}

/// In files as small as those of random code: a larger one gives stray jumps more code to hit, and the effects there
/// need not be the same (docs/design/engine.md, known differences).
int run_encodings(const Options& options) {
  const RunnerArguments how{.times = options.encodings};
  const auto by_state = [&how](const auto& s) { return compare_state(s, how, 0); };
  for (const uint64_t layout : {0u, 1u}) {
    const std::vector<Sequence> all = all_encodings(options.seed + layout, options.length);
    uint64_t instructions = 0;
    for (auto first = all.begin(); first != all.end();) {
      const auto end = first + std::min<std::ptrdiff_t>(options.sequences, all.end() - first);
      std::vector<Sequence> some(first, end);
      const Comparison found = without_known(some, by_state);
      if (!found.same) return report(some, found, options, 0, by_state);
      instructions += found.instructions;
      first = end;
    }
    fmt::print("{} instructions: no difference, and none executed one at a time\n", instructions);
  }
  return 0;
}

/// No test asserts times: this is for a person to read. Faults cost their signals, natively as well.
int show_slowest(const Options& options) {
  struct Timing {
    double us;
    const Sequence* sequence;
    uint64_t faults;
  };
  std::vector<Timing> timings;
  const std::vector<Sequence> sequences = all_encodings(options.seed, options.length);
  for (const Sequence& sequence : sequences) {
    double seconds[2] = {};
    uint64_t instructions[2] = {}, faults = 0;
    for (const int many : {0, 1}) {
      const Case one({sequence}, {.times = many == 1 ? options.slowest : 1});
      const auto begin = std::chrono::steady_clock::now();
      const Counted counted = engine_test::run_counted(one.command());
      seconds[many] = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      instructions[many] = counted.counts.instructions;
      if (const auto result = result_at(counted.outcome.out, 0)) faults = result->faults;
    }
    const auto more = static_cast<double>(instructions[1] - instructions[0]);
    timings.push_back({1e6 * (seconds[1] - seconds[0]) / more, &sequence, faults});
  }
  std::sort(timings.begin(), timings.end(), [](const Timing& a, const Timing& b) { return a.us > b.us; });
  for (size_t i = 0; i < std::min<size_t>(timings.size(), 5); ++i) {
    fmt::print("{:.3f} us an instruction, {} faults:\n{}", timings[i].us, timings[i].faults,
               listing(*timings[i].sequence, 0));
  }
  return 0;
}

int run(Options options) {
  pin_to_current_processor();
  fmt::print("{}", untested_here());
  if (options.encodings > 0) return run_encodings(options);
  if (options.slowest > 0) return show_slowest(options);
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(options.seconds);
  const auto count = static_cast<uint64_t>(options.sequences);
  Totals sum;
  for (; sum.files == 0 || std::chrono::steady_clock::now() < end; ++sum.files) {
    // The parity of the seed determines the load address, which is the file's.
    std::vector<Sequence> sequences;
    for (uint64_t i = 0; i < count; ++i) sequences.push_back(make_sequence(options.seed + 2 * i, options.length));
    if (const auto code = examine(std::move(sequences), options, sum)) return *code;
    options.seed += 2 * count - (sum.files % 2 == 0 ? 2 * count - 1 : 1);
  }
  fmt::print(
      "{} files of {} sequences, {} instructions: no difference; {} sequences counted by the stepper, {} ticks of a "
      "timer; next seed {}\n",
      sum.files, options.sequences, sum.instructions, sum.stepped, sum.ticks, options.seed);
  return 0;
}

}  // namespace
}  // namespace tally::differential

int main(int argc, char** argv) {
  tally::differential::Options options;
  if (argc == 2 && std::string(argv[1]) == "--extensions") {
    fmt::print("{}", tally::differential::untested_here());
    return 0;
  }
  for (int i = 1; i < argc; i += 2) {
    const std::string name = argv[i], value = i + 1 < argc ? argv[i + 1] : "";
    if (name == "--seed" && !value.empty()) {
      options.seed = std::stoull(value);
    } else if (name == "--seconds" && !value.empty()) {
      options.seconds = std::stod(value);
    } else if (name == "--length" && !value.empty()) {
      options.length = std::stoi(value);
    } else if (name == "--sequences" && !value.empty()) {
      options.sequences = std::stoi(value);
    } else if (name == "--encodings" && !value.empty()) {
      options.encodings = std::stoi(value);
    } else if (name == "--slowest" && !value.empty()) {
      options.slowest = std::stoi(value);
    } else if (name == "--keep" && !value.empty()) {
      options.keep = value;
    } else {
      fmt::print(stderr, "differential does not know {} {}\n", name, value);
      return 2;
    }
  }
  return tally::differential::run(options);
}
