// A comparison of two results: what of them can be compared, what changed, and the gates that limit it. Analysis fills
// it, and the formats of `tally compare` print it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tally/core/base/units.hpp"
#include "tally/core/count/trust.hpp"
#include "tally/output/result/profile_result.hpp"
#include "tally/output/result/provenance.hpp"
#include "tally/output/result/setting.hpp"
#include "tally/output/result/stored_profile.hpp"

namespace tally::output {

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
  std::optional<ValueInterval> bounds = {};    ///< of an error that every run has: more runs do not make it smaller
  std::string how_to_repeat = {};              ///< what records several runs; empty: -r 10
  std::string failure = {};                    ///< how every run failed: "exit code 1"; empty: they succeeded
  std::string cost = {};  ///< of a ratio: the event in it of which less is better, for example cycles of IPC
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

/// What a change means; a lower count is better, if the quantity is not one of which more is better.
enum class Verdict : std::uint8_t { same, better, worse, undecided };
std::string_view name(Verdict verdict);

/// One quantity of both results.
struct ComparedCount {
  std::string event;         ///< its full name
  std::string subject = {};  ///< function, region or benchmark; empty: the whole program
  Unit unit = Unit::events;
  bool is_fraction = false, is_metric = false;
  std::string fraction_unit = {};
  Better better = Better::less;
  std::optional<Value> before = {}, after = {};  ///< medians of several runs
  std::optional<ValueInterval> interval = {};    ///< 99 % interval of the change, if it is not exact
  std::string trust = {};                        ///< of both, or "exact / counted"
  std::optional<double> probability = {};        ///< that the runs differ by chance, adjusted for the number of rows
  bool is_different = false;                     ///< the change is more than chance
  Verdict verdict = Verdict::undecided;
  std::string reason = {};       ///< why it is undecided
  bool is_incomparable = false;  ///< no number of runs decides: `reason`
  /// Null: it is incomparable, or a row of profiles.
  const Measure *measure_before = nullptr, *measure_after = nullptr;
  std::string label = {};                   ///< of a function: "code generation", if its source and calls are the same
  std::size_t index = 0;                    ///< of a function: in Comparison::all_functions
  bool is_runtime = false;                  ///< of a function: it belongs to the runtime of a language
  std::optional<double> instructions = {};  ///< relative change of the instructions of the same code, if counted

  /// after − before; 0 if one is missing.
  Value change() const { return before && after ? *after - *before : 0; }
  /// By how much it became worse: the decrease of a quantity of which more is better, else the increase.
  Value growth() const { return better == Better::more ? -change() : change(); }
  /// The change relative to before; nothing if that is missing or 0.
  std::optional<double> relative_change() const;
};

/// A function of one or both profiles.
struct ComparedFunction {
  std::string name;     ///< in full, with parameters
  std::string subject;  ///< as rows name it
  bool was_there = false, is_there = false;
};

/// Parts of a program whose profiles are compared.
enum class ComparedRows : std::uint8_t { functions, lines, objects, processes, threads };

class ProfileRows;

/// Two results, compared.
struct Comparison {
  const Comparable *before = nullptr, *after = nullptr;
  std::vector<ComparedCount> counts = {};  ///< events, then metrics
  /// Functions whose counts changed, the largest change of the first event first; empty without profiles.
  std::vector<ComparedCount> functions = {};
  std::vector<ComparedFunction> all_functions = {};  ///< also those that did not change
  /// The same of source lines, files of code, processes and threads; of the last two only if a side has several.
  std::vector<ComparedCount> lines = {}, objects = {}, processes = {}, threads = {};
  std::vector<std::string> warnings = {};  ///< why the comparison may mislead
  std::vector<std::string> chosen = {};    ///< events and metrics, with or without mode; empty: all
  /// Names of the settings that differ and decide every count, or modelled counts. Gates on these counts are undecided.
  std::vector<std::string> other_settings = {}, other_models = {};
  std::shared_ptr<const ProfileRows> profile_rows = {};  ///< makes the rows of profiles; null without profiles

  const std::vector<ComparedCount>& rows(ComparedRows which) const;
};

/// "instructions=1%", "branch-misses@parse=5%", "page-faults=100", "real_time=5ms": the most that a count may grow.
struct Gate {
  std::string text;           ///< as it was given
  std::string event = {};     ///< with or without mode: "instructions", "instructions:u"
  std::string function = {};  ///< function, region or benchmark; empty: the whole program
  double limit = 0;           ///< 0.01 for 1 %, nanoseconds of a time, or events
  bool is_relative = false;
  bool is_time = false;     ///< the limit has a unit of time
  bool is_hard = true;      ///< a hard gate fails the comparison, a soft one warns
  std::string origin = {};  ///< "tally-gates.toml:3"; empty: the command line
};

/// What became of a gate.
struct GateResult {
  enum class State { passed, failed, undecided } state = State::passed;
  Gate gate;
  const ComparedCount* count = nullptr;                 ///< the row that decided; null for a function without one
  std::string text;                                     ///< one sentence
  std::shared_ptr<const ComparedCount> unchanged = {};  ///< owns the row of a function that did not change
};

/// "passed", "failed", "undecided".
std::string_view name(GateResult::State state);

}  // namespace tally::output
