#include "programs/verify/known_events.hpp"

#include <algorithm>

#include "tally/counting/backend/stepper/retired_counts.hpp"

namespace tally::verify {
namespace {

using event::Id;
using enum Nature;

constexpr KnownEvent list[] = {
    {Id::instructions, additive},
    {Id::branches, additive},
    {Id::far_branches, additive},
    {Id::conditional_branches, immune},
    {Id::conditional_taken, immune},
    {Id::conditional_not_taken, immune},
    {Id::branches_taken, additive},
    {Id::near_branches_taken, immune},
    {Id::direct_jumps, immune},
    {Id::indirect_jumps, immune},
    {Id::calls, immune},
    {Id::direct_calls, immune},
    {Id::indirect_calls, immune},
    {Id::returns, immune},
    {Id::loads, accesses},
    {Id::stores, accesses},
};

constexpr Id speculative[] = {Id::cycles,           Id::ref_cycles,       Id::branch_misses,
                              Id::l1d_load_misses,  Id::cache_references, Id::cache_misses,
                              Id::dtlb_load_misses, Id::retired_loads,    Id::retired_stores};

}  // namespace

std::int64_t KnownEvent::value(const workload::Counts& counts) const {
  return backend::stepper::retired_count(id)(counts);
}

std::span<const KnownEvent> known_events() { return list; }

const KnownEvent* known(Id id) {
  const auto match =
      std::find_if(std::begin(list), std::end(list), [id](const KnownEvent& event) { return event.id == id; });
  return match == std::end(list) ? nullptr : match;
}

std::span<const Id> speculative_events() { return speculative; }

}  // namespace tally::verify
