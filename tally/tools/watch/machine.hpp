// What a machine is and what tells of it: looked at once, before anything is read.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tally/hardware/pmu/cpuid.hpp"
#include "tally/linux/live/frequencies.hpp"
#include "tally/linux/live/groups.hpp"
#include "tally/linux/live/sensors.hpp"
#include "tally/linux/machine/topology.hpp"
#include "tally/linux/perf/survey.hpp"
#include "tally/output/result/watch.hpp"
#include "tally/tools/watch/columns.hpp"

namespace tally::watch {

/// Where a column comes from on a machine, for rows of each kind: a source, or the reason why there is none.
struct ColumnSource {
  std::string source;
  std::array<std::size_t, 5> reason{};  ///< by WatchKind: what a cell without a value says
};

/// Reasons, each once.
class Reasons {
 public:
  std::size_t add(std::string code, std::string text, std::string hint = {});
  const std::vector<result::WatchReason>& all() const { return all_; }

 private:
  std::vector<result::WatchReason> all_;
};

/// The machine.
struct Machine {
  std::string root = "/";
  linux::Survey survey;
  std::optional<pmu::Processor> processor;  ///< what CPUID says; of this machine, x86 only
  std::string event_names;                  ///< libpfm4's name for this processor: "Intel Haswell"
  std::vector<int> processors;              ///< that are switched on
  std::map<int, linux::Place> places;       ///< of each
  std::map<int, int> l3;                    ///< the L3 domain of each
  linux::FrequencySource frequency = linux::FrequencySource::none;
  std::vector<linux::TemperatureSensor> sensors;
  std::vector<linux::EnergyCounter> energies;
  linux::PowerLimits power;
  std::optional<double> base_hertz;
  linux::GroupHierarchy groups;
  bool has_resctrl = false;
  std::array<ColumnSource, column_count> columns;
  Reasons reasons;
  std::size_t not_yet = 0, gone = 0, too_short = 0, not_running = 0, no_ticks = 0,
              idle = 0;  ///< reasons of single cells

  ColumnSource& column(Id id) { return columns[static_cast<std::size_t>(id)]; }
  const ColumnSource& column(Id id) const { return columns[static_cast<std::size_t>(id)]; }

  /// The sockets that its processors lie in, in order.
  std::vector<int> sockets() const;
};

/// Looks at the machine whose proc/ and sys/ lie at `root`, and says of each column that the kernel's files tell where
/// it comes from. Columns of counters get theirs from whoever opens these (counters.hpp). Cost: some ten small files,
/// and five a processor.
Machine read_watched_machine(const std::string& root);

/// The last step, once counters are open: a column that has a source here, and tells nothing of some row, says so.
void complete_reasons(Machine& machine);

/// The header: PCM's words, with the reason where a fact is not told. Pure.
result::WatchHeader header_of(const Machine& machine);

}  // namespace tally::watch
