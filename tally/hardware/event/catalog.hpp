// Lists every event name that tally accepts.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tally/hardware/event/event.hpp"

namespace tally::event {

/// The source of a name.
enum class Origin {
  table,      ///< the generic events, the same on every machine
  kernel,     ///< the kernel's other generic events
  device,     ///< sysfs, for the PMUs of this machine's kernel
  processor,  ///< libpfm4's table for this machine's processor
  others,     ///< libpfm4's tables of other processors
  apple,      ///< Apple M1
  given,      ///< the user's table
};

/// A name that `-e` accepts.
struct Entry {
  Origin origin = Origin::table;
  std::string name;
  std::vector<std::string> other_names;  ///< of the same event
  std::string what;                      ///< what the event counts; may be empty
};

/// How many sources catalog() includes.
enum class Reach {
  here,  ///< the generic events, and the names in this machine's sysfs
  wide,  ///< also the kernel's other generic events, this processor's and Apple's
  all,   ///< also those of all other processors
};

/// All entries. Cost: up to a few hundredths of a second for `all`.
std::vector<Entry> catalog(Reach reach, const Sources& sources = {});

/// The events of a core PMU that divide its slots by top-down class, as one group and an argument of -e; empty if this
/// machine's kernel has none. Intel from Ice Lake on; those of the second level from Sapphire Rapids on.
std::string top_down_group(const Sources& sources = {});

/// Whether one of the entry's names matches, ignoring case. A pattern with `*`, `?` or `[…]` must match the whole name,
/// any other text a part of it.
bool matches(const Entry& entry, std::string_view pattern);

}  // namespace tally::event
