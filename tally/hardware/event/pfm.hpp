// An interface to libpfm4, which has the vendors' event names. Only pfm.cpp calls libpfm4.
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

/// The core PMU of one processor.
struct Pmu {
  std::string name;  ///< "hsw", "amd64_fam19h_zen4"
  std::string what;  ///< "Intel Haswell"
  Family family = Family::none;
  int counters = 0;  ///< programmable counters according to the table; with one thread per core if that matters
  int fixed = 0;
  bool present = false;  ///< libpfm4 detects this PMU on the machine; it may still not be usable
  bool operator==(const Pmu&) const = default;
};

/// All processors of libpfm4 whose codes belong to a Family, in its order. Cost: the first call of any of these
/// functions initialises libpfm4 (two milliseconds). Call from one thread at a time.
const std::vector<Pmu>& pmus();

/// Finds a PMU by name, ignoring case; null if unknown.
const Pmu* find_pmu(std::string_view name);

/// An event as encoded by libpfm4.
struct EncodedEvent {
  std::string name;  ///< "UOPS_RETIRED:ALL", with attributes if set: "UOPS_RETIRED:ALL:e:c=2"
  Encoding encoding;
  std::optional<Mode> mode;  ///< from :u and :k, if the text has them
  std::string what;          ///< libpfm4's description of the event and its unit masks
  bool operator==(const EncodedEvent&) const = default;
};

/// Encodes an event of one PMU from its name and attributes, without the PMU's name: "UOPS_RETIRED:ALL:u:c=2". Returns
/// nothing if the PMU has no such event. Errors (bad_usage): the event exists, but an attribute is unknown or missing.
std::optional<Result<EncodedEvent>> encode(const Pmu& pmu, std::string_view text);

/// A name of a table: an event with one of its unit masks, if it has any.
struct Name {
  std::string name;  ///< "UOPS_RETIRED:ALL"
  std::string what;
  unsigned event = 0;
  unsigned umask = 0;
  bool operator==(const Name&) const = default;
};

/// All names in the table of one PMU.
std::vector<Name> names(const Pmu& pmu);

}  // namespace tally::event::pfm
