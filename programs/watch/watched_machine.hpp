// Properties of a machine and the sources of its data, which are determined once at the start.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "programs/cpuid/cpuid.hpp"
#include "programs/linux/survey.hpp"
#include "programs/watch/live/frequencies.hpp"
#include "programs/watch/live/groups.hpp"
#include "programs/watch/live/sensors.hpp"
#include "programs/watch/output/watch_result.hpp"
#include "programs/watch/watch_columns.hpp"
#include "tally/linux/machine/topology.hpp"

namespace tally::watch {

/// The source of a column on a machine, or for rows of each kind the reason why there is none.
struct ColumnSource {
  std::string source;
  std::array<std::size_t, 5> reason{};  ///< by WatchKind: the reason for a cell without a value
};

/// A list of unique reasons.
class Reasons {
 public:
  std::size_t add(std::string code, std::string text, std::string hint = {});
  const std::vector<result::WatchReason>& all() const { return all_; }

 private:
  std::vector<result::WatchReason> all_;
};

/// The watched machine.
struct WatchedMachine {
  std::string root = "/";
  linux::Survey survey;
  std::optional<pmu::Processor> processor;   ///< from CPUID; for the local machine on x86 only
  std::string event_names;                   ///< libpfm4's name for this processor: "Intel Haswell"
  std::vector<int> processors;               ///< the online processors
  std::map<int, linux::CpuPosition> places;  ///< of each processor
  std::map<int, int> l3;                     ///< the L3 domain of each processor
  FrequencySource frequency = FrequencySource::none;
  std::vector<TemperatureSensor> sensors;
  std::vector<EnergyCounter> energies;
  PowerLimits power;
  std::optional<double> base_hertz;
  GroupHierarchy groups;
  bool has_resctrl = false;
  std::array<ColumnSource, column_count> columns;
  Reasons reasons;
  std::size_t not_yet = 0, not_reported = 0, too_short = 0, not_running = 0, no_ticks = 0,
              idle = 0;  ///< reasons of single cells

  ColumnSource& column(Id id) { return columns[static_cast<std::size_t>(id)]; }
  const ColumnSource& column(Id id) const { return columns[static_cast<std::size_t>(id)]; }

  bool is_virtual() const;

  /// Returns the sockets of its processors, in order.
  std::vector<int> sockets() const;
};

/// Reads the properties of the machine whose proc/ and sys/ are in `root`, and sets the source of each column that
/// comes from kernel files. The sources of counter columns are set when the counters are opened (counters.hpp). Cost:
/// some ten small files, plus five per processor.
WatchedMachine read_watched_machine(const std::string& root);

/// The last step, after counters are open: sets the reason for rows that have no value in a column with a source.
void complete_reasons(WatchedMachine& machine);

}  // namespace tally::watch
