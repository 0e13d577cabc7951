// The kinds of names, one parser each: inside of this directory only. A parser answers nothing where a text is not of
// its kind; an Error where it is, and wrong.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "tally/hardware/event/event.hpp"

namespace tally::event {

using Parsed = std::optional<Result<Event>>;

/// "instructions", "cs", with modifiers.
Parsed parse_generic(std::string_view text);

/// "L1-icache-load-misses", "bus-cycles": the kernel's generic events that the table does not have.
Parsed parse_kernel_generic(std::string_view text);

/// "cpu/event=0xc4,umask=0x1/u": anything with a slash.
Parsed parse_device(std::string_view text, const Sources& sources);

/// "mem-loads": an event that the kernel names in sysfs, without its PMU. Core PMUs only.
Parsed parse_bare_device_event(std::string_view text, const Sources& sources);

/// "r01c2", "0x4101C2", "4101C2H".
Parsed parse_code(std::string_view text, const Sources& sources);

/// "INST_RETIRED.ANY": Intel's events of fixed counters, by their names.
Parsed parse_fixed_counter_event(std::string_view text, const Sources& sources);

/// "UOPS_RETIRED:ALL:u:c=2" of this machine's processor, "hsw::UOPS_RETIRED.ALL".
Parsed parse_pfm(std::string_view text, const Sources& sources);

/// The same without a processor's name, of any processor: where all that have the name agree on what it counts.
Parsed parse_pfm_anywhere(std::string_view text);

/// A name of the table that the user gave.
Parsed parse_given_event(std::string_view text, const Sources& sources);

/// "apple_m1::INST_ALL", "retired_uops".
Parsed parse_apple(std::string_view text);

/// An event of a PMU: `label` is its name without the mode.
Event coded(std::string_view asked, std::string label, Encoding encoding, Mode mode);

/// The part in front of the first colon after `from`, and what follows that colon; nothing follows where there is
/// none.
struct Suffixed {
  std::string_view base;
  std::optional<std::string_view> letters;
};
Suffixed take_apart(std::string_view text);

}  // namespace tally::event
