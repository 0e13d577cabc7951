#include "tally/counting/measure/measure_snippet.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tally/core/base/text.hpp"
#include "tally/hardware/assembly/chains.hpp"
#include "tally/hardware/assembly/code_loop.hpp"
#include "tally/linux/process/scratch_folder.hpp"
#include "tally/linux/process/spawn.hpp"

namespace tally::measure {
namespace {

// A program that contains the code.
struct Program {
  std::string path;
  Nanoseconds limit;  // its longest run time
};

// The environment for running the programs of one code.
struct Bench {
  backend::Backend& backend;
  const SnippetOptions& options;
  linux::Signals& signals;
  const linux::ScratchFolder& folder;
  int programs = 0;
  int executions = 0;
  std::vector<std::string> notices;
};

std::string end_text(int wait_status) {
  const linux::Exit exit = linux::exit_of(wait_status);
  if (exit.signal) return "was killed by " + signal_name(*exit.signal);
  return fmt::format("ended with {}", exit.code);
}

// What to do about code that a signal killed, or that ended itself.
std::string hint_for(std::optional<int> signal) {
  const std::string name = signal ? signal_name(*signal) : "";
  if (name == "SIGILL") return "this processor has no such instruction, or the code executes data";
  if (name == "SIGTRAP") return "a trap instruction cannot be counted: remove it";
  if (name == "SIGFPE") return "set the operands of the division with --init: registers are 0 at the start";
  if (name == "SIGSEGV")
    return fmt::format(
        "it accesses memory that is not mapped, or needs kernel mode: --init sets registers up, {}; `tally lab` runs "
        "code in kernel mode",
        assembly::reserved_registers());
  return fmt::format("--init sets registers up before the loop; {}", assembly::reserved_registers());
}

Error why_not_counted(int wait_status, Nanoseconds limit) {
  if (linux::is_killed_by_timer(wait_status))
    return {Code::cannot_measure, fmt::format("the code did not end within {}", duration_text(limit)),
            "if it has no endless loop, use `--timeout MS` for more time", 0};
  return {Code::cannot_measure, fmt::format("the code {}", end_text(wait_status)),
          hint_for(linux::exit_of(wait_status).signal), 0};
}

// Adds a notice of one execution. Those of others may differ from it in a percentage after the first semicolon.
void add_notice(std::vector<std::string>& notices, std::string notice) {
  const auto topic = [](const std::string& text) { return text.substr(0, text.find("; ")); };
  const bool is_known = std::any_of(notices.begin(), notices.end(),
                                    [&](const std::string& other) { return topic(other) == topic(notice); });
  if (!is_known) notices.push_back(std::move(notice));
}

// Returns the counts of one execution of a program, in the order of the events.
Result<std::vector<Count>> run(Bench& bench, const Program& program, const std::vector<event::Event>& events) {
  backend::Order order;
  order.target.command = {program.path};
  order.conditions.signals = &bench.signals;
  order.conditions.processor = bench.options.processor;
  if (bench.options.rdpmc) order.instrument = backend::Order::Regions{{}, {}, true};
  std::vector<Count> counts(events.size(), absent("it was not counted"));
  for (const event::Pass& pass : bench.backend.plan(events, false).passes) {
    order.events.clear();
    for (const std::size_t place : pass) order.events.push_back(events[place]);
    auto outcome = bench.backend.run(order);
    if (!outcome) return fail(outcome.error());
    ++bench.executions;
    if (bench.signals.interrupted_by()) return fail(Code::cannot_measure, "interrupted before anything was counted");
    if (outcome->wait_status != 0) return fail(why_not_counted(outcome->wait_status, program.limit));
    for (std::size_t i = 0; i < pass.size(); ++i) counts[pass[i]] = std::move(outcome->counts[i].count);
    for (std::string& notice : outcome->notices) add_notice(bench.notices, std::move(notice));
  }
  return counts;
}

// For each event, the difference that the additional copies make, in each repeat.
using Differences = std::vector<std::vector<Count>>;

Result<Differences> differences(Bench& bench, const std::string& init, const std::vector<std::string>& texts,
                                std::uint64_t copies, const std::vector<event::Event>& events) {
  std::vector<Program> programs;  // copies, rounds: n, m; n, 2m; 2n, m; 2n, 2m
  for (const std::uint64_t times : {1, 2}) {
    for (const std::uint64_t rounds : {1, 2}) {
      assembly::Loop loop{init, texts, copies * times, bench.options.rounds * rounds};
      loop.limit = bench.options.limit.value_or(assembly::usual_limit(loop.copies * loop.rounds));
      auto made = assembly::make_program(loop, bench.folder.path(), fmt::format("code{}", bench.programs++));
      if (!made) return fail(made.error());
      programs.push_back({*std::move(made), *loop.limit});
    }
  }
  Differences all(events.size());
  for (int repeat = 0; repeat < bench.options.repeats; ++repeat) {
    std::vector<std::vector<Count>> counts;
    for (const Program& program : programs) {
      auto one = run(bench, program, events);
      if (!one) return fail(one.error());
      counts.push_back(*std::move(one));
    }
    for (std::size_t i = 0; i < events.size(); ++i) {
      all[i].push_back((counts[3][i] - counts[2][i]) - (counts[1][i] - counts[0][i]));
    }
  }
  return all;
}

// Returns the median; an absent count if there is one.
const Count& middle(std::vector<Count>& counts) {
  for (const Count& count : counts) {
    if (!count.value) return count;
  }
  std::sort(counts.begin(), counts.end(), [](const Count& a, const Count& b) { return *a.value < *b.value; });
  return counts[counts.size() / 2];
}

result::PerCopy per_copy(const event::Event& event, std::vector<Count>& counts, std::uint64_t copies) {
  result::PerCopy one{event.asked, event::event_name(event), {}, 0, {}, {}};
  const Count& difference = middle(counts);
  one.each.trust = difference.trust;
  one.each.reason = difference.reason;
  one.each.model = difference.model;
  if (!difference.value) return one;
  one.difference = *difference.value;
  const auto each = [copies](const Count& count) {
    return static_cast<double>(*count.value) / static_cast<double>(copies);
  };
  one.each.value = each(difference);
  if (counts.size() > 1) {
    one.low = each(counts.front());
    one.high = each(counts.back());
  }
  return one;
}

std::uint64_t multiple(std::uint64_t copies, std::size_t of) { return (copies + of - 1) / of * of; }

std::string shortened(const std::vector<std::string>& texts) {
  if (texts.size() <= 2) return join(texts, "; ");
  return fmt::format("{}; {}; … ({} registers)", texts[0], texts[1], texts.size());
}

Result<result::ChainCycles> chain(Bench& bench, const std::string& name, const assembly::Repetition& repetition,
                                  const event::Event& cycles) {
  result::ChainCycles one{name, shortened(repetition.texts), {}, repetition.why_not};
  if (repetition.texts.empty()) return one;
  const std::uint64_t copies = multiple(bench.options.unroll, repetition.texts.size());
  const std::string init = bench.options.init + "\n" + repetition.init;
  auto counts = differences(bench, init, repetition.texts, copies, {cycles});
  if (!counts) return fail(counts.error());
  const auto each = per_copy(cycles, counts->front(), copies * bench.options.rounds);
  one.cycles = each.each.value;
  if (!one.cycles) one.why_not = each.each.reason;
  return one;
}

}  // namespace

Result<result::Snippet> snippet(backend::Backend& backend, const SnippetOptions& options, linux::Signals& signals) {
  if (const std::string why = assembly::why_not_repeated(options.code); !why.empty()) {
    return fail(Code::bad_usage, why, "numbers are local labels: 1: … jnz 1b");
  }
  const auto bytes = assembly::machine_code(options.code, "--asm");
  if (!bytes) return fail(bytes.error());
  if (bytes->empty()) return fail(Code::bad_usage, "--asm has no instructions", "for example: --asm 'imul r12, r11'");
  if (const auto init = assembly::machine_code(options.init, "--init"); !init) return fail(init.error());
  const auto folder = linux::ScratchFolder::make();
  if (!folder) return fail(folder.error());
  Bench bench{backend, options, signals, *folder, 0, 0, {}};
  auto counts = differences(bench, options.init, {options.code}, options.unroll, options.events);
  if (!counts) return fail(counts.error());
  result::Snippet snippet;
  snippet.code = options.code;
  snippet.init = options.init;
  snippet.unroll = options.unroll;
  snippet.rounds = options.rounds;
  snippet.copies = options.unroll * options.rounds;
  snippet.repeats = options.repeats;
  snippet.backend = backend.name();
  for (std::size_t i = 0; i < options.events.size(); ++i) {
    snippet.events.push_back(per_copy(options.events[i], (*counts)[i], snippet.copies));
    const bool is_cycles = options.events[i].id == event::Id::cycles;
    if (!is_cycles || !snippet.chains.empty() || !snippet.events.back().each.value) continue;
    const assembly::Chains chains = assembly::chains_of(options.code);
    // Chains are measured for a single instruction only.
    if (chains.latency.texts.empty() && chains.throughput.texts.empty()) continue;
    for (const auto& [name, repetition] : {std::pair("latency", &chains.latency), {"throughput", &chains.throughput}}) {
      auto one = chain(bench, name, *repetition, options.events[i]);
      if (!one) return fail(one.error());
      snippet.chains.push_back(*std::move(one));
    }
  }
  snippet.executions = bench.executions;
  snippet.notices = std::move(bench.notices);
  const bool has_cycles = std::any_of(snippet.events.begin(), snippet.events.end(), [](const result::PerCopy& copy) {
    return copy.name.base == "cycles" && copy.each.value.has_value();
  });
  // What the engine says about cycles does not matter if there are none.
  if (!has_cycles)
    std::erase_if(snippet.notices, [](const std::string& one) { return one.starts_with("cycles are a model's"); });
  return snippet;
}

}  // namespace tally::measure
