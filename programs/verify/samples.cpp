// Goals about windows: one row every N events (docs/guides/verify.md, G17 and G18).
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "programs/verify/goals.hpp"
#include "tally/core/base/text.hpp"

namespace tally::verify {
namespace {

using event::Id;
using result::Check;
using result::Verdict;

constexpr std::uint64_t period = 10'007;  // a prime, so that no loop is in step with it

event::Event instructions() {
  event::Event event;
  event.id = Id::instructions;
  event.asked = event::definition(Id::instructions).name;
  return event;
}

// Compares the number of full rows with the total divided by the period.
Check row_count(Check check, const Ran& ran, std::int64_t counted, bool is_exact) {
  const auto rows = static_cast<std::int64_t>(ran.window_lengths.size());
  const std::int64_t lengths = std::accumulate(ran.window_lengths.begin(), ran.window_lengths.end(), ran.cut_length);
  check.runs = 1;
  check.expected = counted / static_cast<std::int64_t>(period);
  check.measured = rows + ran.lost_windows;
  check.tolerance = is_exact ? "±0" : "±1";
  check.reason = is_exact ? "each row ends when it is full" : "starting and stopping adds some instructions";
  const std::int64_t off = std::abs(*check.measured - *check.expected);
  if (off <= (is_exact ? 0 : 1)) {
    const bool adds_up = !is_exact || lengths == counted;
    if (adds_up) return concluded(check, Verdict::pass, "");
    check.off = 1;
    return concluded(check, Verdict::fail, fmt::format("rows and their rest have {}", thousands(lengths)));
  }
  check.off = 1;
  // Late rows are longer and fewer, but together they contain everything.
  const bool is_late = !is_exact && *check.measured < *check.expected && std::abs(lengths - counted) <= counted / 1000;
  if (is_late) {
    return concluded(check, Verdict::inconclusive,
                     "rows come late, and are longer for it: together they have everything");
  }
  return concluded(check, Verdict::fail,
                   fmt::format("{} rows for {}, which hold {} of {}", *check.measured, *check.expected,
                               thousands(lengths), thousands(counted)));
}

// How much too long the rows are.
Check skid(Check check, const Ran& ran, bool is_exact) {
  std::vector<std::int64_t> late;
  for (const std::int64_t length : ran.window_lengths) late.push_back(length - static_cast<std::int64_t>(period));
  std::sort(late.begin(), late.end());
  const auto share = [&](double of) {
    return late[std::min(late.size() - 1, static_cast<std::size_t>(of * static_cast<double>(late.size())))];
  };
  check.runs = 1;
  check.expected = 0;
  check.measured = share(0.99);
  check.tolerance = is_exact ? "±0" : "200 in 99 of 100 rows";
  check.reason = "an interrupt comes some instructions after the counter has overflowed";
  if (is_exact && (late.front() != 0 || late.back() != 0)) {
    check.off = 1;
    return concluded(check, Verdict::fail, fmt::format("rows are {} to {} too long", late.front(), late.back()));
  }
  constexpr std::int64_t most = 200;
  if (*check.measured <= most && late.front() >= 0) return concluded(check, Verdict::pass, "");
  return concluded(
      check, Verdict::inconclusive,
      fmt::format("rows are too long by {} to {}, in the middle by {}: an address is not that of the event",
                  thousands(late.front()), thousands(late.back()), thousands(share(0.5))));
}

}  // namespace

Result<std::vector<Check>> samples(const Scene& scene) {
  Check rows = check_of("G17", "a row for each period", name_of(Id::instructions));
  Check length = check_of("G18", "rows are as long as their period", name_of(Id::instructions));
  const auto both = [&](const std::string& why) {
    return std::vector<Check>{concluded(rows, Verdict::inconclusive, why),
                              concluded(length, Verdict::inconclusive, why)};
  };
  if (scene.bench.backend().outlook(instructions()).trust == Trust::absent) {
    return both("instructions are not counted here");
  }
  const Trial trial{workload::find("countdown"), {.n = scene.quick ? 500'000u : 2'000'000u}};
  rows.program = length.program = trial.label();
  Bench::Setup setup;
  setup.window = backend::WindowTrigger{instructions(), period};
  const auto ran = scene.bench.run(trial, {instructions()}, setup);
  if (!ran && scene.bench.interrupted()) return fail(ran.error());
  if (!ran) return both("rows are not available here: " + ran.error().message);
  if (ran->window_lengths.empty()) return both("no rows came");
  const Count& count = ran->counts.front();
  const bool is_exact = ran->windows_are_exact && count.trust == Trust::exact;
  const std::int64_t counted = count.value.value_or(static_cast<std::int64_t>(trial.known().instructions));
  return std::vector<Check>{row_count(rows, *ran, counted, is_exact), skid(length, *ran, ran->windows_are_exact)};
}

}  // namespace tally::verify
