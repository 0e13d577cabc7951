// Where names of events come from, besides the tables in here.
#pragma once

#include <optional>
#include <string>

#include "tally/hardware/event/pfm.hpp"

namespace tally::event {

struct GivenTable;

/// The machine whose names are meant.
struct Sources {
  std::string root = "/";              ///< where its sys/ lies
  std::optional<std::string> own_pmu;  ///< libpfm4's name of its processor's PMU; nothing: libpfm4 looks by itself
  bool others = true;                  ///< look into the tables of all other processors, too
  bool suggest_others = true;          ///< for what was meant by an unknown name, too: 300 million instructions more
  /// Of its processor, where libpfm4 has no table for it; nothing: CPUID is asked.
  std::optional<Family> own_family{};
  const GivenTable* given = nullptr;  ///< a table that the user gave: its names come before all but the generic ones
};

/// libpfm4's table for the processor of this machine; null where it has none.
const pfm::Pmu* own_pmu(const Sources& sources);

/// Whose codes the processor of this machine takes, AMD's also where libpfm4 has no table for it: its tables end with
/// the year they were made in. Family::none where neither tells.
Family own_family(const Sources& sources);

}  // namespace tally::event
