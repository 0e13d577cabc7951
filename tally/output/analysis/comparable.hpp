// What of a result can be compared: its counts, times and metrics, for the whole program or for parts of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/core/base/units.hpp"
#include "tally/core/count/trust.hpp"
#include "tally/output/formats/stored_profile.hpp"
#include "tally/output/result/any.hpp"
#include "tally/output/result/setting.hpp"

namespace tally::report {

/// A count, or a fraction: represents every std::int64_t.
using Value = long double;
static_assert(std::numeric_limits<Value>::digits >= 63);

using result::Setting;

/// Which change of a quantity is an improvement.
enum class Better : std::uint8_t { less, more, neither };

/// The 95 % interval of a value.
struct ValueInterval {
  Value low = 0, high = 0;
};

/// One quantity of a result.
struct Measure {
  std::string subject = {};  ///< region, benchmark, cache level; empty: the whole program
  std::string name;          ///< event or metric: "instructions:u", "IPC", "real_time"
  Unit unit = Unit::events;
  bool is_fraction = false;        ///< not a whole number of `unit`
  std::string fraction_unit = {};  ///< "ns", "GHz", "share"; empty: a plain number
  bool is_metric = false;          ///< computed from other quantities of the result
  Better better = Better::less;
  Trust trust = Trust::absent;
  std::string reason = {}, model = {};         ///< as in Count
  std::optional<Value> value = {};             ///< of several runs the median
  std::vector<Value> runs = {};                ///< of each run
  std::optional<ValueInterval> interval = {};  ///< of a result that has no runs
  std::string how_to_repeat = {};              ///< what records several runs; empty: -r 10
  std::string failure = {};                    ///< how every run failed: "exit code 1"; empty: they succeeded
};

/// A result as it is compared.
struct Comparable {
  std::vector<std::string> command = {};
  std::string target = {};  ///< what was measured, in words, if there is no command
  result::Environment environment = {};
  std::size_t runs = 1;
  bool incomplete = false;
  std::optional<bool> repeatable = {};    ///< run with --repeatable; empty: unknown
  bool is_single_threaded = false;        ///< one process with one thread; false if that is unknown
  std::vector<std::string> sources = {};  ///< what the program read that may make runs differ: "clock"
  std::vector<Setting> settings = {};     ///< of results of tally; the same names in the same order in each
  std::string failure = {};  ///< how the program failed: "exit code 1", "SIGSEGV"; empty: it did not, or it is unknown
  bool lists_benchmarks = false;  ///< it is a list of benchmarks: those that are missing did not run
  std::string note = {};          ///< why its values may mislead; empty if they do not
  std::vector<Measure> measures = {};
  std::shared_ptr<const result::Profile> profile = {};  ///< null: no counts of functions
  std::vector<result::ProfileThread> threads = {};      ///< of the profile
};

/// The quantities of a result of tally. Errors: bad_usage for a kind of result that cannot be compared.
Result<Comparable> comparable_of(result::AnyResult result);

/// The settings of a result of `tally stat`.
std::vector<Setting> settings_of(const result::Stat& stat);

/// A setting that has different values in two results.
struct ChangedSetting {
  std::string name, text;  ///< "--cpu-model", "--cpu-model (the real processor → haswell)"
  bool is_of_models = false;
};

/// The settings that differ, without those that one of the results does not know.
std::vector<ChangedSetting> changed_settings(const std::vector<Setting>& before, const std::vector<Setting>& after);

/// Sets the threads of a profile, and whether it is only one.
void set_threads(Comparable& comparable, std::vector<result::ProfileThread> threads);

/// Checks that whole numbers, and so their differences, are in the range of std::int64_t. Errors: bad_usage.
Result<void> check_values(const Comparable& comparable);

}  // namespace tally::report
