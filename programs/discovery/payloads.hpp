// Code with a known composition, each with a control that differs in one property.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "programs/discovery/analysis/measurement_cells.hpp"
#include "tally/core/base/result.hpp"

namespace tally::discover {

/// Copies of a payload in an iteration of its loop, so that the loop's own instructions are less than a tenth of them.
inline constexpr std::uint64_t copies_in_round = 20;

/// A payload in assembly.
struct Payload {
  Facts facts;  ///< the composition is of one copy, including its share of the loop
  std::string init, body;
  std::uint64_t memory_bytes = 1 << 20;
};

/// Returns the payloads of this architecture. The first one is the nop, which is used to check the fixed counter.
const std::vector<Payload>& library();

/// Returns the payloads with these names, their controls and the first one; all without names. Errors: bad_usage with
/// the nearest names.
Result<std::vector<Payload>> chosen(const std::vector<std::string>& names);

/// Returns a payload of the user's code with its control (empty: the empty loop).
Payload users_own(const std::string& name, const std::string& body, const std::string& control);

/// Builds the program of a payload in a directory. It may run for assembly::usual_limit(). Errors: as
/// assembly::make_program().
Result<std::string> make_program(const Payload& payload, std::uint64_t copies, const std::string& folder);

/// Returns the error for a payload whose program ended with `wait_status`, which is not 0. Pure.
Error why_payload_failed(const std::string& name, std::uint64_t copies, int wait_status);

// For the tables of the architectures.

/// An amount of a coordinate.
struct Amount {
  std::string_view coordinate;
  double times = 1;
};
/// Creates a payload from a table row: `instructions` and amounts are those of one copy of the body. Adds composed
/// coordinates (branches, branches-taken, branch-misses) and the share of the loop. Conditional branches that are taken
/// are amounts of "branches-taken".
Payload payload(std::string_view name, std::string_view control, std::string_view target, std::string_view init,
                std::string_view body, double instructions, std::vector<Amount> amounts,
                std::uint64_t memory_bytes = 1 << 20);
std::vector<Payload> table();

}  // namespace tally::discover
