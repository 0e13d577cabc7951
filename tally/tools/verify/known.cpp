#include "tally/tools/verify/known.hpp"

#include <algorithm>

namespace tally::verify {
namespace {

using event::Id;
using workload::Counts;
using enum Nature;

template <std::uint64_t Counts::*field>
std::int64_t plain(const Counts& counts) {
  return static_cast<std::int64_t>(counts.*field);
}

std::int64_t branches(const Counts& counts) { return static_cast<std::int64_t>(counts.branches()); }

std::int64_t not_taken(const Counts& counts) { return static_cast<std::int64_t>(counts.conditional - counts.taken); }

std::int64_t calls(const Counts& counts) {
  return static_cast<std::int64_t>(counts.direct_calls + counts.indirect_calls);
}

constexpr KnownEvent list[] = {
    {Id::instructions, additive, plain<&Counts::instructions>},
    {Id::branches, additive, branches},
    {Id::far_branches, additive, plain<&Counts::far>},
    {Id::conditional_branches, immune, plain<&Counts::conditional>},
    {Id::conditional_taken, immune, plain<&Counts::taken>},
    {Id::conditional_not_taken, immune, not_taken},
    {Id::branches_taken, additive, [](const Counts& c) { return branches(c) - not_taken(c); }},
    {Id::near_branches_taken, immune,
     [](const Counts& c) { return branches(c) - not_taken(c) - plain<&Counts::far>(c); }},
    {Id::direct_jumps, immune, plain<&Counts::direct_jumps>},
    {Id::indirect_jumps, immune, plain<&Counts::indirect_jumps>},
    {Id::calls, immune, calls},
    {Id::direct_calls, immune, plain<&Counts::direct_calls>},
    {Id::indirect_calls, immune, plain<&Counts::indirect_calls>},
    {Id::returns, immune, plain<&Counts::returns>},
    {Id::loads, accesses, plain<&Counts::loads>},
    {Id::stores, accesses, plain<&Counts::stores>},
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
