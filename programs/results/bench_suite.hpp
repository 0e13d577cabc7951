// The file of `tally bench`: which programs to count, and how much their counts may grow.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "programs/results/result_commands.hpp"
#include "tally/core/base/result.hpp"
#include "tally/core/base/units.hpp"

namespace tally::results {

/// What makes the runs of a language repeatable that are not by themselves: the key `language`.
struct Language {
  std::string_view name;
  std::string_view variable, value;  ///< of the program's environment; empty: none
  std::string_view option;           ///< the first argument of the program; empty: none
  std::string_view profile_options;  ///< the same in profiles, with spaces between: the runtime names its functions
};

struct Framework;

/// How many runs on each side are compared by their ranks.
inline constexpr std::int64_t repeats_that_decide = 5;

struct Benchmark {
  std::string name;
  std::vector<std::string> command;  ///< the program and its arguments
  std::string directory;             ///< in which it runs, relative to the directory of the suite; empty: that one
  std::vector<std::string> events;   ///< empty: those that tally stat counts by default
  /// 0: one run, or if another one may count something else, repeats_that_decide.
  std::int64_t repeats = 0;
  std::vector<std::string> fail_above, warn_above;  ///< gates
  bool is_profile = false;                          ///< records a profile: counts of each function
  const Language* language = nullptr;               ///< null: not named
  /// Of result::run_settings: the option's value; of a flag "on" or "off".
  std::map<std::string, std::string, std::less<>> settings = {{"repeatable", "on"}};
  const Framework* framework = nullptr;  ///< of its benchmarks (bench_frameworks.hpp); null: it is a program
  std::string entry = {}, listed = {};   ///< of a framework's benchmark: the suite's name, and the framework's
  std::string input = {};                ///< the key `stdin`: a file, relative to `directory`; empty: nothing to read
  std::int64_t timeout_s = 0;            ///< of one run; 0: none
  std::string accepted = {};             ///< the key `accept`: result::HistoryEntry::accepted

  /// The name of the files of its results, without the ending: without characters that artifacts of GitHub must not
  /// have in names.
  std::string file_name() const;
  /// The options of `tally stat` and `tally profile` for the settings.
  std::vector<std::string> setting_options() const;
  /// How long this number of runs may take; empty: any time.
  std::optional<Nanoseconds> timeout_of(std::int64_t runs) const;
  /// "go: GOGC=off, --clock counted": what the language sets; empty without one.
  std::string language_text() const;
};

/// Parses the text of a suite; `name` is the file's name, for messages. `removed`: its list of this name, if not null.
/// Errors: bad_usage with the line.
Result<std::vector<Benchmark>> parse_suite(std::string_view text, const std::string& name,
                                           std::vector<std::string>* removed = nullptr);

}  // namespace tally::results
