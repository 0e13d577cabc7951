// Every event that there is a name for.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tally/hardware/event/event.hpp"

namespace tally::event {

/// Where a name comes from.
enum class Origin {
  table,      ///< the generic events, the same on every machine
  kernel,     ///< the kernel's other generic events
  device,     ///< a PMU of this machine's kernel, by sysfs
  processor,  ///< libpfm4's table of this machine's processor
  others,     ///< libpfm4's tables of other processors
  apple,      ///< Apple M1
  given,      ///< the table that the user gave
};

/// One name, as `-e` takes it.
struct Entry {
  Origin origin = Origin::table;
  std::string name;
  std::vector<std::string> other_names;  ///< of the same event
  std::string what;                      ///< what one count of it means; may be empty
};

/// How much of it.
enum class Reach {
  here,  ///< the table, and what this machine's kernel names
  wide,  ///< the kernel's other generic events, this processor's and Apple's, too
  all,   ///< and those of all other processors
};

/// All entries. Cost: up to some hundredth of a second for `all`.
std::vector<Entry> catalog(Reach reach, const Sources& sources = {});

/// Whether a name or other name fits: a pattern with `*`, `?` or `[…]` as a whole, another one as a part; upper and
/// lower case are alike.
bool matches(const Entry& entry, std::string_view pattern);

}  // namespace tally::event
