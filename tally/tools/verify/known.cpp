#include "tally/tools/verify/known.hpp"

#include <algorithm>

#include "tally/counting/backend/stepper/retired_counts.hpp"

namespace tally::verify {
namespace {

using event::Id;
using enum Nature;

KnownEvent known_event(Id id, Nature nature) { return {id, nature, backend::stepper::retired_count(id)}; }

const KnownEvent list[] = {
    known_event(Id::instructions, additive),
    known_event(Id::branches, additive),
    known_event(Id::far_branches, additive),
    known_event(Id::conditional_branches, immune),
    known_event(Id::conditional_taken, immune),
    known_event(Id::conditional_not_taken, immune),
    known_event(Id::branches_taken, additive),
    known_event(Id::near_branches_taken, immune),
    known_event(Id::direct_jumps, immune),
    known_event(Id::indirect_jumps, immune),
    known_event(Id::calls, immune),
    known_event(Id::direct_calls, immune),
    known_event(Id::indirect_calls, immune),
    known_event(Id::returns, immune),
    known_event(Id::loads, accesses),
    known_event(Id::stores, accesses),
};

constexpr Id speculative[] = {Id::cycles,           Id::ref_cycles,       Id::branch_misses,
                              Id::l1d_load_misses,  Id::cache_references, Id::cache_misses,
                              Id::dtlb_load_misses, Id::retired_loads,    Id::retired_stores};

}  // namespace

std::span<const KnownEvent> known_events() { return list; }

const KnownEvent* known(Id id) {
  const auto found =
      std::find_if(std::begin(list), std::end(list), [id](const KnownEvent& one) { return one.id == id; });
  return found == std::end(list) ? nullptr : found;
}

std::span<const Id> speculative_events() { return speculative; }

}  // namespace tally::verify
