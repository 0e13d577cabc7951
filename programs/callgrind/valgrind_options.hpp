// The options of valgrind's tools callgrind and cachegrind, as `tally callgrind` understands them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tally/core/base/result.hpp"

namespace tally::callgrind {

/// A simulated cache, as in --D1=SIZE,WAYS,LINE.
struct CacheGeometry {
  std::uint64_t bytes = 0, ways = 0, line = 0;
  bool operator==(const CacheGeometry&) const = default;
};

struct ValgrindOptions {
  enum class Tool { memcheck, callgrind, cachegrind };
  Tool tool = Tool::memcheck;
  std::string output;    ///< file name with %p, %n and %q{NAME}; empty: the tool's own
  std::string log_file;  ///< the same, for messages; empty: log_fd
  int log_fd = 2;        ///< descriptor for messages
  bool quiet = false, verbose = false;
  bool traces_children = false;                    ///< also count programs that the program executes
  std::vector<std::string> skipped_children = {};  ///< patterns of the names of those that are not counted
  std::optional<bool> models_caches = {};          ///< empty: the tool's own default
  bool models_branches = false;
  std::optional<CacheGeometry> i1 = {}, d1 = {}, ll = {};
  std::optional<bool> instruments_at_start = {}, collects_at_start = {};
  std::vector<std::string> toggles = {};            ///< patterns of function names
  std::vector<std::string> skipped_functions = {};  ///< the same: functions whose counts belong to their callers
  std::vector<std::string> skipped_objects = {};    ///< files, the same for their functions
  bool dump_instructions = false, dump_lines = true;
  bool compresses_names = true, combines_dumps = false, separates_threads = false;
  bool wants_help = false, wants_version = false;
  std::vector<std::string> notes = {};    ///< options that have no effect, with the consequence
  std::vector<std::string> command = {};  ///< the program and its arguments
  bool simulates_caches() const { return models_caches.value_or(tool == Tool::cachegrind); }
};

/// What tally does with an option.
enum class OptionUse {
  used,      ///< it does the same
  harmless,  ///< it cannot change a result of tally: accepted without a word
  ignored,   ///< the result lacks what it adds; counts are the same: accepted with a warning
  refused,   ///< it would change counts
};

/// A row of the table of options.
struct ValgrindOption {
  std::string_view name;   ///< without "--" and value
  std::string_view value;  ///< "yes|no", "FILE"; empty: a flag
  OptionUse use;
  std::string_view text;  ///< used: the help; ignored: what the result lacks; refused: what to do instead
};

/// All options that tally knows. Others are ignored with a warning.
std::span<const ValgrindOption> valgrind_options();

/// Parses the words up to the program. `defaults`: the tool without --tool=. Errors: bad_usage.
Result<ValgrindOptions> parse_valgrind_options(const std::vector<std::string>& words, ValgrindOptions defaults);

}  // namespace tally::callgrind
