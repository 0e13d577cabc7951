#include "tally/counting/profile/divide_among_calls.hpp"

#include <cmath>
#include <cstdint>
#include <map>
#include <utility>

#include "tally/output/result/call_sums.hpp"

namespace tally::profile {
namespace {

/// A function in one thread.
struct ThreadFunction {
  std::int64_t executed = 0;       // instructions of its rows
  std::int64_t count = 0;          // of its rows
  std::int64_t of_calls = 0;       // instructions of its calls
  std::vector<std::size_t> calls;  // indices in `self`
  double excess() const { return of_calls > executed ? static_cast<double>(of_calls - executed) : 0; }
};
using Functions = std::map<std::pair<std::uint32_t, std::uint32_t>, ThreadFunction>;  // by owner and function

/// Divides a count by weights, and returns how much of it the weights so far have: all of it for their sum.
std::int64_t part_of(std::int64_t count, double weight, double sum) {
  return weight >= sum ? count : std::llround(static_cast<double>(count) * (weight / sum));
}

/// Adds what a thread counted in functions without calls to the calls that executed them; if none did, to all of them.
void add_uncalled(std::int64_t count, Functions::iterator begin, Functions::iterator end,
                  const std::vector<std::int64_t>& instructions, std::vector<std::int64_t>& self) {
  double excess = 0, all = 0, so_far = 0;
  for (auto f = begin; f != end; ++f) excess += f->second.excess(), all += static_cast<double>(f->second.of_calls);
  std::int64_t given = 0;
  for (auto f = begin; f != end; ++f) {
    const ThreadFunction& function = f->second;
    const double weight = excess > 0 ? function.excess() / static_cast<double>(function.of_calls) : 1;
    for (const std::size_t call : function.calls) {
      so_far += weight * static_cast<double>(instructions[call]);
      const std::int64_t sum = part_of(count, so_far, excess > 0 ? excess : all);
      self[call] += sum - given;
      given = sum;
    }
  }
  // Sums of fractions may end just below their total.
  for (auto f = end; given != count && f != begin;)
    if (--f; !f->second.calls.empty()) self[f->second.calls.back()] += count - std::exchange(given, count);
}

void divide(result::Profile& profile, std::size_t event) {
  const std::size_t events = profile.event_count();
  Functions functions;
  for (std::size_t i = 0; i < profile.rows.size(); ++i) {
    ThreadFunction& function = functions[{profile.rows[i].owner, profile.rows[i].function}];
    function.executed += profile.rows[i].executions;
    function.count += profile.count(i, event);
  }
  std::vector<std::int64_t> instructions(profile.self.size());
  for (std::size_t i = 0; i < profile.calls.size(); ++i) {
    const std::size_t call = i * events + event;
    instructions[call] = std::exchange(profile.self[call], 0);
    if (instructions[call] <= 0) continue;
    ThreadFunction& function = functions[{profile.calls[i].owner, profile.calls[i].callee}];
    function.of_calls += instructions[call];
    function.calls.push_back(call);
  }
  for (auto begin = functions.begin(); begin != functions.end();) {
    std::int64_t uncalled = 0;
    auto end = begin;
    for (; end != functions.end() && end->first.first == begin->first.first; ++end) {
      const ThreadFunction& function = end->second;
      std::int64_t so_far = 0, given = 0;
      for (const std::size_t call : function.calls) {
        so_far += instructions[call];
        const std::int64_t sum =
            part_of(function.count, static_cast<double>(so_far), static_cast<double>(function.of_calls));
        profile.self[call] = sum - given;
        given = sum;
      }
      if (function.calls.empty()) uncalled += function.count;
    }
    add_uncalled(uncalled, begin, end, instructions, profile.self);
    begin = end;
  }
}

}  // namespace

void divide_among_calls(result::Profile& profile, const std::vector<std::size_t>& events) {
  for (const std::size_t event : events) divide(profile, event);
  if (!events.empty()) profile.inclusive = result::inclusive_counts(profile.calls, profile.self, profile.event_count());
}

}  // namespace tally::profile
