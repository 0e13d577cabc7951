#include "tally/counting/profile/divide_among_calls.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "tally/output/analysis/take_share.hpp"
#include "tally/output/result/call_sums.hpp"

namespace tally::profile {
namespace {

using output::take_share;

/// A function in one thread, or what a thread counted in functions without calls.
struct Divided {
  std::int64_t count = 0;         ///< of the event, not yet divided
  std::int64_t instructions = 0;  ///< of its calls; of all calls of the thread
  std::int64_t excess = 0;        ///< of these, those that the calls executed in other functions
  std::size_t thread = 0;         ///< of a function
};

class Division {
 public:
  /// The calls have executed as many instructions as they have of `event`.
  Division(result::Profile& profile, std::size_t event) : profile_(profile) {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> functions;  // by owner and function
    std::map<std::uint32_t, std::size_t> threads;                              // by owner
    const auto find = [&](std::uint32_t owner, std::uint32_t function) {
      const auto [place, is_new] = functions.try_emplace({owner, function}, functions_.size());
      if (is_new) {
        const std::size_t thread = threads.try_emplace(owner, threads.size()).first->second;
        functions_.push_back({.thread = thread});
      }
      return place->second;
    };
    for (const auto& row : profile.rows) {
      of_rows_.push_back(find(row.owner, row.function));
      functions_[of_rows_.back()].excess -= row.executions;
    }
    for (std::size_t i = 0; i < profile.calls.size(); ++i) {
      of_calls_.push_back(find(profile.calls[i].owner, profile.calls[i].callee));
      executed_.push_back(std::max<std::int64_t>(0, profile.self[i * profile.event_count() + event]));
      functions_[of_calls_.back()].instructions += executed_.back();
      functions_[of_calls_.back()].excess += executed_.back();
    }
    uncalled_.resize(threads.size());
    for (Divided& function : functions_) {
      function.excess = std::max<std::int64_t>(0, function.excess);
      uncalled_[function.thread].excess += function.excess;
      uncalled_[function.thread].instructions += function.instructions;
    }
  }

  void divide(std::size_t event) const {
    std::vector<Divided> functions = functions_, uncalled = uncalled_;
    for (std::size_t i = 0; i < of_rows_.size(); ++i) functions[of_rows_[i]].count += profile_.count(i, event);
    for (const Divided& function : functions)
      if (function.instructions == 0) uncalled[function.thread].count += function.count;
    for (std::size_t i = 0; i < of_calls_.size(); ++i) {
      Divided& function = functions[of_calls_[i]];
      Divided& rest = uncalled[function.thread];
      std::int64_t all = function.instructions;
      const std::int64_t excess = take_share(function.excess, all, executed_[i]);
      profile_.self[i * profile_.event_count() + event] =
          take_share(function.count, function.instructions, executed_[i]) +
          (rest.excess > 0 ? take_share(rest.count, rest.excess, excess)
                           : take_share(rest.count, rest.instructions, executed_[i]));
    }
  }

 private:
  result::Profile& profile_;
  std::vector<Divided> functions_, uncalled_;    ///< uncalled: by thread
  std::vector<std::size_t> of_rows_, of_calls_;  ///< indexes of functions
  std::vector<std::int64_t> executed_;           ///< instructions, by call
};

}  // namespace

void divide_among_calls(result::Profile& profile, const std::vector<std::size_t>& events) {
  if (events.empty()) return;
  const Division division(profile, events.front());
  for (const std::size_t event : events) division.divide(event);
  profile.inclusive = result::inclusive_counts(profile.calls, profile.self, profile.event_count());
}

}  // namespace tally::profile
