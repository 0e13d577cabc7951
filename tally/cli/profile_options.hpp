// The options of `tally profile`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tally/cli/commands.hpp"
#include "tally/core/base/result.hpp"
#include "tally/counting/backend/order.hpp"
#include "tally/output/kinds/profile_format.hpp"
#include "tally/tools/launch/model_options.hpp"

namespace tally::cli {

struct ProfileOptions {
  std::vector<std::string> event_lists;
  std::int64_t timeout_ms = 0;  ///< 0: none
  std::string backend = "auto", format, output, object, by = "function", annotate, sort = "own", every, processes;
  std::optional<int> top;
  int runs = 1;
  std::uint64_t frequency = 0;
  bool lines = false, whole_names = false, instructions = false, inlines = false, quiet = false, kernel = false,
       everywhere = false, debuginfod = false, python = false;
  bool parts = false, native = false, roofline = false;
  std::vector<std::string> include, exclude;
  std::string fail_under_text;
  std::optional<double> fail_under;  ///< percent
  std::string instrumentation_at_start, collection_at_start;
  ModelOptions model;
  backend::Order order = {.instrument = backend::Order::Profile{}};
};

void describe_profile_options(Page& page, ProfileOptions& options);

/// The style of the table. Errors: bad_usage.
Result<output::ProfileStyle> style_of(const ProfileOptions& options);

/// The format, by its name or by the output's file name. Errors: bad_usage for an unknown name.
Result<const output::ProfileFormat*> format_of(const ProfileOptions& options);

/// Sets how marks divide the profile into parts, if an option requests that. Errors: bad_usage.
Result<void> choose_parts(ProfileOptions& options, const output::ProfileFormat& format);

/// Reads --fail-under. Errors: bad_usage.
Result<void> choose_coverage(ProfileOptions& options, const output::ProfileFormat& format);

/// Checks that the options can be combined. Errors: bad_usage.
Result<void> check_together(const ProfileOptions& options, const output::ProfileFormat& format);

}  // namespace tally::cli
