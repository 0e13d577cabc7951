// The sources of event names that are not built in.
#pragma once

#include <optional>
#include <string>

#include "tally/hardware/event/pfm.hpp"

namespace tally::event {

struct GivenTable;

/// The machine whose event names are used.
struct Sources {
  std::string root = "/";              ///< the directory that contains its sys/
  std::optional<std::string> own_pmu;  ///< libpfm4's name of its processor's PMU; nothing: libpfm4 detects it
  bool others = true;                  ///< also search the tables of all other processors
  bool suggest_others = true;          ///< also for suggestions for an unknown name: costs 300 million instructions
  /// Family of its processor if libpfm4 has no table for it; nothing: from CPUID.
  std::optional<Family> own_family{};
  const GivenTable* given = nullptr;  ///< a table from the user: only generic names precede its names
  /// A name of names_without_event.hpp that other machines count is an event that is absent, unless all are.
  bool keeps_missing = false;
};

/// libpfm4's table for this machine's processor; null if it has none.
const pfm::Pmu* own_pmu(const Sources& sources);

/// The family of this machine's processor. Detects AMD by CPUID, because libpfm4 lacks tables for processors newer than
/// itself. Family::none if unknown.
Family own_family(const Sources& sources);

}  // namespace tally::event
