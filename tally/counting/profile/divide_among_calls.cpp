#include "tally/counting/profile/divide_among_calls.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

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
};

void divide(result::Profile& profile, std::size_t event) {
  const auto executed = [&](std::size_t call) -> std::int64_t& {
    return profile.self[call * profile.event_count() + event];
  };
  std::map<std::pair<std::uint32_t, std::uint32_t>, Divided> functions;  // by owner and function
  for (std::size_t i = 0; i < profile.rows.size(); ++i) {
    Divided& function = functions[{profile.rows[i].owner, profile.rows[i].function}];
    function.excess -= profile.rows[i].executions;
    function.count += profile.count(i, event);
  }
  for (std::size_t i = 0; i < profile.calls.size(); ++i) {
    executed(i) = std::max<std::int64_t>(0, executed(i));
    Divided& function = functions[{profile.calls[i].owner, profile.calls[i].callee}];
    function.instructions += executed(i);
    function.excess += executed(i);
  }
  std::map<std::uint32_t, Divided> uncalled;  // by owner
  for (auto& [key, function] : functions) {
    Divided& rest = uncalled[key.first];
    function.excess = std::max<std::int64_t>(0, function.excess);
    rest.excess += function.excess;
    rest.instructions += function.instructions;
    rest.count += function.instructions == 0 ? function.count : 0;
  }
  for (std::size_t i = 0; i < profile.calls.size(); ++i) {
    Divided& function = functions.at({profile.calls[i].owner, profile.calls[i].callee});
    Divided& rest = uncalled.at(profile.calls[i].owner);
    const std::int64_t instructions = executed(i);
    std::int64_t all = function.instructions;
    const std::int64_t excess = take_share(function.excess, all, instructions);
    executed(i) = take_share(function.count, function.instructions, instructions) +
                  (rest.excess > 0 ? take_share(rest.count, rest.excess, excess)
                                   : take_share(rest.count, rest.instructions, instructions));
  }
}

}  // namespace

void divide_among_calls(result::Profile& profile, const std::vector<std::size_t>& events) {
  for (const std::size_t event : events) divide(profile, event);
  if (!events.empty()) profile.inclusive = result::inclusive_counts(profile.calls, profile.self, profile.event_count());
}

}  // namespace tally::profile
