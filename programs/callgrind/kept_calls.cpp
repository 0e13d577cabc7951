#include "programs/callgrind/kept_calls.hpp"

#include <cstdint>
#include <utility>
#include <vector>

#include "tally/output/result/call_sums.hpp"

namespace tally::callgrind {

void keep_calls(result::Profile& profile, const std::function<bool(std::size_t)>& keeps) {
  const std::size_t events = profile.event_count();
  std::vector<result::ProfileCall> calls;
  std::vector<std::int64_t> self;
  std::vector<std::uint32_t> place(profile.calls.size());
  for (std::size_t i = 0; i < profile.calls.size(); ++i) {
    result::ProfileCall call = profile.calls[i];
    if (call.parent != result::CodeCall::no_parent) call.parent = place[call.parent];
    place[i] = keeps(i) ? static_cast<std::uint32_t>(calls.size()) : call.parent;
    if (!keeps(i)) continue;
    calls.push_back(call);
    self.insert(self.end(), profile.self.begin() + static_cast<std::ptrdiff_t>(i * events),
                profile.self.begin() + static_cast<std::ptrdiff_t>((i + 1) * events));
  }
  profile.calls = std::move(calls);
  profile.inclusive = result::inclusive_counts(profile.calls, self, events);
  profile.self = std::move(self);
}

}  // namespace tally::callgrind
