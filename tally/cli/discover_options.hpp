// What the user of `tally discover` asked for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/tools/discover/payloads.hpp"

namespace tally::cli {

class Page;

struct DiscoverOptions {
  std::string events = "0x00-0xff", umasks;
  std::vector<std::string> payloads;
  std::string control, sizes;
  int repeats = 7;
  std::string counters = "8";
  std::optional<int> processor;
  std::string backend = "engine";
  std::uint64_t seed = 1;
  std::string output, resume, analyse, table;
  bool list = false, json = false, all = false, score = false;
};

/// The options, bound to `options`.
void describe_discover_options(Page& page, DiscoverOptions& options);

/// Those of the library that were named, with their controls, and the user's own. Errors: bad_usage.
Result<std::vector<discover::Payload>> payloads_of(const DiscoverOptions& options);

/// The payloads of a record that goes on: they have to be the same as then. Errors: bad_usage.
Result<std::vector<discover::Payload>> payloads_of(const discover::Record& record);

/// The record of a sweep that begins, without runs. Errors: bad_usage.
Result<discover::Record> new_record(const DiscoverOptions& options, const std::vector<discover::Payload>& payloads);

/// Why there are more payloads than were asked for; empty: all were.
std::string how_many_text(const std::vector<discover::Payload>& payloads);

}  // namespace tally::cli
