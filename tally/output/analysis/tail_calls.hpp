// Counts of functions inside calls of other functions that jumped to them (tail calls).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "tally/output/result/profile_result.hpp"

namespace tally::output {

/// The part of a call's own counts (Profile::self) that `function` counted, to which the callee jumped (tail call).
struct TailShare {
  std::uint32_t function;
  std::vector<std::int64_t> counts;  ///< one for each event
};

/// Estimates tail shares, by index of the call. A call does not record which functions its callee jumped to. If such a
/// function is on the call's stack, adding its own counts to those of its calls would count them twice. The estimate
/// uses what each function of a thread counted, and how much its own calls can contain. Own counts of a function plus
/// those of its calls, without its tail shares, are at most what the thread counted. Empty for most programs. Cost: two
/// walks from each call to its outermost call.
std::unordered_map<std::size_t, std::vector<TailShare>> tail_shares(const result::Profile& profile);

/// Calls `each(call, function, counts)` for each call's own counts: once for its callee, and once for each of its
/// tail_shares(). `counts` has one value per event; calls whose counts are all 0 are skipped.
template <class Each>
void each_self(const result::Profile& profile, Each&& each) {
  const auto shares = tail_shares(profile);
  const std::size_t events = profile.event_count();
  std::vector<std::int64_t> counts(events);
  const auto report = [&](std::size_t call, std::uint32_t function, const std::vector<std::int64_t>& some) {
    if (std::any_of(some.begin(), some.end(), [](std::int64_t n) { return n != 0; })) each(call, function, some);
  };
  for (std::size_t i = 0; i < profile.calls.size(); ++i) {
    for (std::size_t e = 0; e < events; ++e) counts[e] = profile.self[i * events + e];
    if (const auto known = shares.find(i); known != shares.end())
      for (const TailShare& share : known->second) {
        for (std::size_t e = 0; e < events; ++e) counts[e] -= share.counts[e];
        report(i, share.function, share.counts);
      }
    report(i, profile.calls[i].callee, counts);
  }
}

}  // namespace tally::output
