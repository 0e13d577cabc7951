// The options of `tally stat --path-hash`, and what it stores for a later run of the same path.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tally/counting/backend/order.hpp"
#include "tally/output/result/stat_result.hpp"
#include "tally/tools/command/command_page.hpp"

namespace tally::why {

struct PathOptions {
  bool hash = false;
  std::optional<std::int64_t> interval;

  /// Puts the request into an order. Errors: bad_usage.
  Result<void> choose(backend::Order& order) const;
};

void add_path_options(command::Page& page, PathOptions& options);

/// Describes what the program of the order finds when it starts, and its file. Of the environment it has no values.
result::StartConditions start_conditions(const backend::Order& order);
/// Adds these to a result with path hashes. If exact counts of its runs differ, adds a notice about what the programs
/// read that may be the cause.
void describe_differences(result::Stat& stat, const backend::Order& order);
/// 16 bits of a hash of a value.
std::uint32_t check_of_value(std::string_view value);

}  // namespace tally::why
