// Code whose composition is known, each with a control that differs in one thing.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/tools/discover/analysis/record.hpp"

namespace tally::discover {

/// Copies of a payload in a round of its loop: the loop's own instructions are less than a tenth of them.
inline constexpr std::uint64_t copies_in_round = 20;

/// A piece of assembly.
struct Payload {
  Facts facts;  ///< the composition is of one copy, with its share of the loop
  std::string init, body;
  std::uint64_t memory_bytes = 1 << 20;
};

/// The payloads of this architecture; the first is the nop that the fixed counter is tried with.
const std::vector<Payload>& library();

/// Those of these names, their controls and the first one as well; all where none is named. Errors: bad_usage with the
/// nearest names.
Result<std::vector<Payload>> chosen(const std::vector<std::string>& names);

/// The user's own code, and its control (empty: the empty loop).
Payload users_own(const std::string& name, const std::string& body, const std::string& control);

/// Makes the program of a payload in a folder. It may run for assembly::usual_limit(). Errors: as
/// assembly::make_program().
Result<std::string> make_program(const Payload& payload, std::uint64_t copies, const std::string& folder);

/// Why a payload whose program ended with `wait_status`, which is not 0, cannot be counted. Pure.
Error why_payload_failed(const std::string& name, std::uint64_t copies, int wait_status);

// For the tables of the architectures.

/// So many of a coordinate.
struct Amount {
  std::string_view coordinate;
  double times = 1;
};
/// A payload as the tables write it: `instructions` and amounts of one copy of the body; composed coordinates
/// (branches, branches-taken, branch-misses) and the loop's share are added. Conditional branches that are taken are
/// amounts of "branches-taken".
Payload payload(std::string_view name, std::string_view control, std::string_view target, std::string_view init,
                std::string_view body, double instructions, std::vector<Amount> amounts,
                std::uint64_t memory_bytes = 1 << 20);
std::vector<Payload> table();

}  // namespace tally::discover
