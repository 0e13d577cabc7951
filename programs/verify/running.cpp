// Goals that need executions of their own.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "programs/linux/antagonist.hpp"
#include "programs/verify/goals.hpp"
#include "tally/core/base/text.hpp"

namespace tally::verify {
namespace {

using event::Id;
using result::Check;
using result::Verdict;
using Checks = std::vector<Check>;

event::Event event_of(Id id) {
  event::Event event;
  event.id = id;
  event.asked = event::definition(id).name;
  return event;
}

bool is_counted(const Bench& bench, Id id) { return bench.backend().outlook(event_of(id)).trust != Trust::absent; }

Checks one(Check check, Verdict verdict, const std::string& why) { return {concluded(std::move(check), verdict, why)}; }

// The best available event to test a filter or the width of a counter.
std::optional<Id> branches_or_instructions(const Bench& bench) {
  for (const Id id : {Id::conditional_branches, Id::instructions}) {
    if (is_counted(bench, id)) return id;
  }
  return std::nullopt;
}

// Runs one program once, and judges it with `allowance`.
Result<Check> judged_run(const Scene& scene, Check check, const Trial& trial, Id id, Allowance allowance,
                         const Bench::Setup& setup, Ran* kept = nullptr) {
  const auto ran = scene.bench.run(trial, {event_of(id)}, setup);
  if (!ran) return fail(ran.error());
  if (kept) *kept = *ran;
  const Ledger alone{{event_of(id)}, {{trial, {*ran}}}};
  Check found = judge(
      alone, check.goal, check.what, id, [](const Trial&) { return true; }, allowance);
  return found;
}

// Compares runs with n and 2n iterations: both include what starting and stopping adds, and cancels out.
Check slope_of_instructions(Check check, const Trial& once, const Trial& twice, const Ran& first, const Ran& second) {
  const Count& a = first.counts.front();
  const Count& b = second.counts.front();
  if (const std::string why = why_not_judged(a) + why_not_judged(b); !why.empty()) {
    return concluded(check, Verdict::inconclusive, why);
  }
  const Explained x = explained(a, once, Nature::additive, first.duration);
  const Explained y = explained(b, twice, Nature::additive, second.duration);
  check.runs = 2;
  check.expected = static_cast<std::int64_t>(twice.known().instructions - once.known().instructions);
  check.measured = *b.value - y.by_faults - y.by_interrupts - (*a.value - x.by_faults - x.by_interrupts);
  const std::int64_t allowed = b.trust == Trust::exact ? 0 : 2;
  const std::int64_t off = *check.measured - *check.expected;
  check.tolerance = fmt::format("±{}", allowed);
  check.reason = "both include what starting and stopping adds";
  if (off >= -allowed - x.unknown_interrupts && off <= allowed + y.unknown_interrupts) {
    return concluded(check, Verdict::pass, "");
  }
  check.off = 1;
  return concluded(check, Verdict::fail, fmt::format("the difference is off by {}", off));
}

// Each multiplication depends on the previous one, which takes three cycles (Intel and AMD since 2008).
Check slope_of_cycles(const Scene& scene, Check check, const Trial& once, const Ran& first, const Ran& second) {
  const Count& a = first.counts.front();
  const Count& b = second.counts.front();
  if (const std::string why = why_not_judged(a) + why_not_judged(b); !why.empty()) {
    return concluded(check, Verdict::inconclusive, why);
  }
  const auto n = static_cast<std::int64_t>(once.parameters.n);
  check.runs = 2;
  check.measured = *b.value - *a.value;
  check.expected = 3 * n;
  check.tolerance = "at least; 1 % of twice";
  check.reason = "each multiplication needs the one before, which takes three cycles";
  const double ratio = static_cast<double>(*b.value) / static_cast<double>(*a.value);
  const bool linear = std::abs(ratio - 2) <= 0.02;
  // For a processor with unknown latencies, only the ratio of 2 is checked.
  const bool known_latency = scene.bench.backend().outlook(event_of(Id::cycles)).trust == Trust::modelled;
  if (linear && (*a.value >= 3 * n * 99 / 100 || !known_latency)) return concluded(check, Verdict::pass, "");
  return concluded(check, Verdict::inconclusive,
                   fmt::format("{:.2f} cycles an iteration, {:.3f} for twice: the processor changed its pace, or is "
                               "shared",
                               static_cast<double>(*a.value) / static_cast<double>(n), ratio));
}

constexpr int code_of_region = 102;

}  // namespace

Result<Checks> alive(Bench& bench, const std::vector<event::Event>& events) {
  Check check = check_of("G0", "the counters are alive", "");
  check.reason = "reading it may add system calls; a counter that is far off counts something else";
  check.tolerance = "0 to +50";
  for (const Id id : {Id::conditional_branches, Id::branches, Id::instructions}) {
    const auto asked = std::find_if(events.begin(), events.end(), [id](const auto& one) { return one.id == id; });
    if (!is_counted(bench, id) && asked == events.end()) continue;
    if (!is_counted(bench, id)) continue;
    const Trial trial{workload::find("countdown"), {.n = 500}};
    const auto ran = bench.run(trial, {event_of(id)});
    if (!ran) return fail(ran.error());
    const Count& count = ran->counts.front();
    check.event = name_of(id);
    check.program = trial.label();
    check.expected = known(id)->value(trial.known());
    check.runs = 1;
    if (const std::string why = why_not_judged(count); !why.empty()) return one(check, Verdict::inconclusive, why);
    check.measured = *count.value;
    const std::int64_t most = *check.expected + 50;
    if (*count.value >= *check.expected && *count.value <= most) return one(check, Verdict::pass, "");
    check.off = 1;
    return one(check, Verdict::fail, fmt::format("{} were counted of {}", thousands(*count.value), *check.expected));
  }
  return one(check, Verdict::inconclusive, "neither branches nor instructions are counted here");
}

Result<Checks> region_by_reads(const Scene& scene) {
  Check check = check_of("G11", "102 instructions between two rdpmc", name_of(Id::instructions));
  check.expected = code_of_region;
  check.tolerance = "±0";
  check.reason = "a read does not count itself; in 95 % of the runs, as an interrupt may come between";
  if (!has("region")) return one(check, Verdict::inconclusive, "this architecture has no such instruction");
  if (!is_counted(scene.bench, Id::instructions)) {
    return one(check, Verdict::inconclusive, "instructions are not counted here");
  }
  const Trial trial = usual("region");
  check.program = trial.label();
  Bench::Setup setup;
  setup.rdpmc = true;
  const int runs = scene.quick ? 1 : 20;
  for (int i = 0; i < runs; ++i) {
    const auto ran = scene.bench.run(trial, {event_of(Id::instructions)}, setup);
    if (!ran) return fail(ran.error());
    if (ran->exit_code == 128 + 11) {
      return one(check, Verdict::inconclusive,
                 "programs may not execute rdpmc here (it ended by SIGSEGV); `tally rdpmc on` lets them");
    }
    ++check.runs;
    if (ran->exit_code != code_of_region) ++check.off;
    if (!check.measured || ran->exit_code != code_of_region) check.measured = ran->exit_code;
  }
  if (check.off * 20 <= check.runs) return one(check, Verdict::pass, "");
  return one(check, Verdict::fail, fmt::format("{} of {} runs are off", check.off, check.runs));
}

Result<Checks> slopes(const Scene& scene) {
  Checks checks;
  for (const char* program : {"fact3", "fact4", "fact5"}) {
    if (!has(program)) continue;
    const Trial once = usual(program);
    const Trial twice{once.workload, workload::with_n(once.parameters, 2 * once.parameters.n)};
    for (const Id id : {Id::instructions, Id::cycles}) {
      const bool cycles = id == Id::cycles;
      Check check = check_of(
          cycles ? "G13" : "G12",
          cycles ? "cycles of a loop: 3 at least, twice for twice" : "n more iterations, to the digit", name_of(id));
      check.program = once.label() + ", and twice";
      if (!is_counted(scene.bench, id)) {
        const std::string why = scene.bench.backend().outlook(event_of(id)).reason;
        checks.push_back(concluded(check, Verdict::inconclusive, "not counted: " + why));
        continue;
      }
      const auto first = scene.bench.run(once, {event_of(id)});
      if (!first) return fail(first.error());
      const auto second = scene.bench.run(twice, {event_of(id)});
      if (!second) return fail(second.error());
      checks.push_back(cycles ? slope_of_cycles(scene, check, once, *first, *second)
                              : slope_of_instructions(check, once, twice, *first, *second));
    }
  }
  return checks;
}

Result<Checks> strides(const Scene& scene) {
  Check check = check_of("G15", "misses grow with the stride up to a line", name_of(Id::l1d_load_misses));
  if (!has("stride")) return one(check, Verdict::inconclusive, "this architecture has no such program");
  if (!is_counted(scene.bench, Id::l1d_load_misses)) {
    return one(check, Verdict::inconclusive,
               "not counted: " + scene.bench.backend().outlook(event_of(Id::l1d_load_misses)).reason);
  }
  bool exact = true;
  std::int64_t before = 0;
  for (const std::uint64_t stride : {1, 4, 16, 64, 256, 1024}) {
    const Trial trial{workload::find("stride"), {.bytes = 1 << 20, .stride = stride}};
    const auto ran = scene.bench.run(trial, {event_of(Id::l1d_load_misses)});
    if (!ran) return fail(ran.error());
    const Count& count = ran->counts.front();
    if (const std::string why = why_not_judged(count); !why.empty()) return one(check, Verdict::inconclusive, why);
    // A pass over all lines for each byte of a line, and no line stays in the cache that long; larger strides make more
    // passes over fewer lines.
    const auto expected = static_cast<std::int64_t>(trial.parameters.bytes * std::min<std::uint64_t>(stride, 64) / 64);
    exact = exact && *count.value == expected;
    if (stride <= 64 && *count.value < before - before / 10) ++check.off;
    before = *count.value;
    ++check.runs;
    if (stride != 64) continue;
    check.program = trial.label();
    check.expected = expected;
    check.measured = *count.value;
  }
  if (exact) {
    check.tolerance = "±0";
    check.reason = "a cache much smaller than the array, with lines of 64 bytes and LRU replacement; no prefetch";
    return one(check, Verdict::pass, "");
  }
  check.tolerance = "no fall of 10 %";
  check.reason = "a line of 64 bytes is fetched once for all its bytes, or for each; prefetchers hide some";
  if (check.off == 0) return one(check, Verdict::pass, "");
  return one(check, Verdict::inconclusive, "fewer misses with a longer stride: prefetchers, or another event");
}

Result<Checks> filter(const Scene& scene) {
  Check check = check_of("G16", "other programs on the same processor are not counted", "");
  const auto id = branches_or_instructions(scene.bench);
  if (!id) return one(check, Verdict::inconclusive, "neither branches nor instructions are counted here");
  const auto processors = linux::processors("");
  if (!processors || processors->empty()) return one(check, Verdict::inconclusive, "tally may not choose a processor");
  Bench::Setup setup;
  setup.processor = processors->back();
  const Trial trial{workload::find("countdown"), {.n = scene.quick ? 60'000'000u : 200'000'000u}};
  Ran ran;
  Result<Check> found = check;
  {
    const linux::Antagonist antagonist(*setup.processor);
    found = judged_run(scene, check, trial, *id, Allowance::corrected, setup, &ran);
  }
  if (!found) return fail(found.error());
  constexpr std::int64_t least_switches = 10;
  if (found->verdict == Verdict::pass && ran.switches < least_switches) {
    return one(
        *found, Verdict::inconclusive,
        fmt::format("the processor switched threads only {} times; {} are required", ran.switches, least_switches));
  }
  return Checks{*std::move(found)};
}

Result<Checks> multiplexing(const Scene& scene) {
  Check check = check_of("G19", "multiplexed counters: estimates within 2 %", "");
  const event::Plan plan = scene.bench.backend().plan(scene.ledger.events, true);
  if (plan.passes.size() < 2) {
    return one(check, Verdict::inconclusive, "no multiplexing here: all events are counted at the same time");
  }
  if (scene.quick) return one(check, Verdict::inconclusive, "skipped by --quick");
  const Trial trial{workload::find("countdown"), {.n = 400'000'000}};
  Bench::Setup setup;
  setup.multiplex = true;
  const auto ran = scene.bench.run(trial, scene.ledger.events, setup);
  if (!ran) return fail(ran.error());
  double furthest = -1;
  for (std::size_t i = 0; i < scene.ledger.events.size(); ++i) {
    const KnownEvent* event = known(scene.ledger.events[i].id);
    const Count& count = ran->counts[i];
    if (!event || event->nature == Nature::accesses || !count.value) continue;
    const std::int64_t expected = event->value(trial.known());
    if (expected < 1000) continue;
    ++check.runs;
    const double off = 100 * std::abs(static_cast<double>(*count.value - expected)) / static_cast<double>(expected);
    if (off > 2) ++check.off;
    if (off <= furthest) continue;
    furthest = off;
    check.event = name_of(event->id);
    check.program = trial.label();
    check.expected = expected;
    check.measured = *count.value;
    check.tolerance = "2 %";
    check.reason = "the loop does the same all the time";
  }
  if (check.runs == 0) return one(check, Verdict::inconclusive, "no such event was counted");
  if (check.off == 0) return one(check, Verdict::pass, "");
  return one(check, Verdict::fail, fmt::format("the estimate of {} is {:.1f} % off", check.event, furthest));
}

Result<Checks> widths(const Scene& scene) {
  Checks checks;
  struct Width {
    const char* what;
    std::uint64_t n;
  };
  // The number of instructions is twice that: between 2^31 and 2^32, and above 2^32.
  for (const Width& width :
       {Width{"a count with bit 31 set", 1'200'000'000}, Width{"a count beyond 32 bits", 0x7fffffff}}) {
    const Check check = check_of("G22", width.what, name_of(Id::instructions));
    if (!is_counted(scene.bench, Id::instructions)) {
      checks.push_back(concluded(check, Verdict::inconclusive, "instructions are not counted here"));
    } else if (scene.quick) {
      checks.push_back(concluded(check, Verdict::inconclusive, "skipped by --quick"));
    } else {
      auto found = judged_run(scene, check, {workload::find("countdown"), {.n = width.n}}, Id::instructions,
                              Allowance::corrected, {});
      if (!found) return fail(found.error());
      checks.push_back(*std::move(found));
    }
    if (scene.bench.interrupted()) break;
  }
  return checks;
}

Result<Checks> intervals(const Scene& scene) {
  Check check = check_of("T3", "intervals add up to the whole", name_of(Id::instructions));
  check.tolerance = "±0";
  check.reason = "each begins where the previous one ends";
  if (!is_counted(scene.bench, Id::instructions)) {
    return one(check, Verdict::inconclusive, "instructions are not counted here");
  }
  const Trial trial{workload::find("countdown"), {.n = scene.quick ? 20'000'000u : 100'000'000u}};
  Bench::Setup setup;
  setup.interval = std::chrono::milliseconds(10);
  const auto ran = scene.bench.run(trial, {event_of(Id::instructions)}, setup);
  if (!ran) return fail(ran.error());
  check.program = trial.label();
  const Count& whole = ran->counts.front();
  if (const std::string why = why_not_judged(whole); !why.empty()) return one(check, Verdict::inconclusive, why);
  std::int64_t sum = 0;
  for (const result::Interval& interval : ran->intervals) {
    const Count& part = interval.counts.front().count;
    if (!part.value) return one(check, Verdict::inconclusive, "an interval has no count: " + part.reason);
    sum += *part.value;
  }
  check.runs = 1;
  check.expected = *whole.value;
  check.measured = sum;
  if (ran->intervals.size() < 2) {
    return one(check, Verdict::inconclusive, "the program ended within the first interval");
  }
  if (sum == *whole.value) return one(check, Verdict::pass, "");
  check.off = 1;
  return one(check, Verdict::fail,
             fmt::format("{} intervals are {} off", ran->intervals.size(), thousands(sum - *whole.value)));
}

}  // namespace tally::verify
