// Results in, text out: the forms that a result can be written in.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "tally/result/stat.hpp"

namespace tally::report {

/// How much of a result is written.
struct Detail {
  bool per_process = false;  ///< each process's own counts as well
  bool per_thread = false;   ///< each thread's own counts as well
};

/// A form of writing a result of `tally stat`.
struct Format {
  std::string_view name;  ///< what `--format` calls it
  std::string (*write)(const result::Stat& stat, Detail detail);
};

/// All forms, the default first.
std::span<const Format> formats();

/// For people: one aligned row for each event, what was seen below it. Ends with a newline.
std::string table(const result::Stat& stat, Detail detail);

/// For programs: one JSON object, documented in docs/reference/stat-json.md. Ends with a newline.
std::string json(const result::Stat& stat, Detail detail);

}  // namespace tally::report
