// The options of `tally discover`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "programs/discovery/analysis/analyse.hpp"
#include "programs/discovery/payloads.hpp"
#include "tally/core/base/result.hpp"
#include "tally/tools/command/command_page.hpp"

namespace tally::discover {

struct DiscoverOptions {
  std::string events = "0x00-0xff", umasks;
  std::vector<std::string> payloads;
  std::string control, sizes, tolerance = "2%";
  int repeats = 7;
  std::string counters = "8";
  std::optional<int> processor;
  std::string backend = "engine";
  std::uint64_t seed = 1;
  std::string output, resume, analyse, table;
  bool list = false, json = false, all = false, score = false;
};

/// Adds the options to the page; they are stored in `options`.
void describe_discover_options(command::Page& page, DiscoverOptions& options);

/// The payloads of the library that the user named, their controls, and the user's own. Errors: bad_usage.
Result<std::vector<Payload>> payloads_of(const DiscoverOptions& options);

/// The payloads of a resumed record; they must be the same as when it was started. Errors: bad_usage.
Result<std::vector<Payload>> payloads_of(const Record& record);

/// The record of a new sweep, without runs. Errors: bad_usage.
Result<Record> new_record(const DiscoverOptions& options, const std::vector<Payload>& payloads);

/// The allowed differences of the analysis. Errors: bad_usage.
Result<Limits> limits_of(const DiscoverOptions& options);

/// Explains why there are more payloads than the user asked for; empty if there are not.
std::string payload_count_text(const std::vector<Payload>& payloads);

}  // namespace tally::discover
