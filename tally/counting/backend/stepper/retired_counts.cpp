#include "tally/counting/backend/stepper/retired_counts.hpp"

namespace tally::backend::stepper {
namespace {

using event::Id;
using Retired = RetiredCounts;

template <std::uint64_t Retired::*field>
std::int64_t plain(const Retired& counts) {
  return static_cast<std::int64_t>(counts.*field);
}

std::int64_t branches(const Retired& counts) { return static_cast<std::int64_t>(counts.branches()); }

std::int64_t not_taken(const Retired& counts) { return static_cast<std::int64_t>(counts.conditional - counts.taken); }

std::int64_t taken(const Retired& counts) { return branches(counts) - not_taken(counts); }

std::int64_t near_taken(const Retired& counts) { return taken(counts) - plain<&Retired::far>(counts); }

std::int64_t calls(const Retired& counts) {
  return static_cast<std::int64_t>(counts.direct_calls + counts.indirect_calls);
}

}  // namespace

RetiredCount retired_count(event::Id id) {
  switch (id) {
    case Id::instructions: return plain<&Retired::instructions>;
    case Id::branches: return branches;
    case Id::far_branches: return plain<&Retired::far>;
    case Id::conditional_branches: return plain<&Retired::conditional>;
    case Id::conditional_taken: return plain<&Retired::taken>;
    case Id::conditional_not_taken: return not_taken;
    case Id::branches_taken: return taken;
    case Id::near_branches_taken: return near_taken;
    case Id::direct_jumps: return plain<&Retired::direct_jumps>;
    case Id::indirect_jumps: return plain<&Retired::indirect_jumps>;
    case Id::calls: return calls;
    case Id::direct_calls: return plain<&Retired::direct_calls>;
    case Id::indirect_calls: return plain<&Retired::indirect_calls>;
    case Id::returns: return plain<&Retired::returns>;
    case Id::loads: return plain<&Retired::loads>;
    case Id::stores: return plain<&Retired::stores>;
    default: return nullptr;
  }
}

}  // namespace tally::backend::stepper
