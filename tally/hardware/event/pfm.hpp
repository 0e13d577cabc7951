// libpfm4: the makers' own names for the events of their processors. pfm.cpp alone asks it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/hardware/event/encoding.hpp"
#include "tally/hardware/event/modifiers.hpp"

namespace tally::event::pfm {

/// The table of one processor's core PMU.
struct Pmu {
  std::string name;  ///< "hsw", "amd64_fam19h_zen4"
  std::string what;  ///< "Intel Haswell"
  Family family = Family::none;
  int counters = 0;  ///< that can be programmed, as the table says: with one thread per core, where that matters
  int fixed = 0;
  bool present = false;  ///< libpfm4 takes this machine's processor for one; says nothing about whether it can count
  bool operator==(const Pmu&) const = default;
};

/// All processors that libpfm4 knows and whose codes are of a Family, in its order. Cost: the first call of any of
/// these functions initialises libpfm4 (two milliseconds); threads: any, one at a time.
const std::vector<Pmu>& pmus();

/// The PMU of this name, in upper or lower case; null where there is none.
const Pmu* find_pmu(std::string_view name);

/// An event as libpfm4 understood it.
struct Found {
  std::string name;  ///< "UOPS_RETIRED:ALL", with attributes that were set: "UOPS_RETIRED:ALL:e:c=2"
  Encoding encoding;
  std::optional<Mode> mode;  ///< of :u and :k, where the text has them
  std::string what;          ///< libpfm4's description of event and unit masks
  bool operator==(const Found&) const = default;
};

/// An event of one PMU from its name and attributes, without the PMU's: "UOPS_RETIRED:ALL:u:c=2". Nothing where the PMU
/// has no event of this name. Errors, bad_usage: the event exists, an attribute does not or is missing.
std::optional<Result<Found>> encode(const Pmu& pmu, std::string_view text);

/// One name of a table: an event with one of its unit masks, or without where it has none.
struct Name {
  std::string name;  ///< "UOPS_RETIRED:ALL"
  std::string what;
  unsigned event = 0;
  unsigned umask = 0;
  bool operator==(const Name&) const = default;
};

/// Everything in the table of one PMU.
std::vector<Name> names(const Pmu& pmu);

}  // namespace tally::event::pfm
