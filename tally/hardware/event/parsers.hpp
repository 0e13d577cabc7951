// The parsers of event names, one for each notation. Private to this directory. A parser returns nothing if the text is
// not in its notation, and an Error if it is but is invalid.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "tally/hardware/event/event.hpp"

namespace tally::event {

using Parsed = std::optional<Result<Event>>;

/// Generic names with modifiers: "instructions", "cs".
Parsed parse_generic(std::string_view text);

/// The kernel's other generic events: "L1-icache-load-misses", "bus-cycles".
Parsed parse_kernel_generic(std::string_view text);

/// Anything with a slash: "cpu/event=0xc4,umask=0x1/u".
Parsed parse_device(std::string_view text, const Sources& sources);

/// A sysfs event name of a core PMU, without the PMU: "mem-loads".
Parsed parse_bare_device_event(std::string_view text, const Sources& sources);

/// Codes: "r01c2", "0x4101C2", "4101C2H".
Parsed parse_code(std::string_view text, const Sources& sources);

/// Names of Intel's fixed-counter events: "INST_RETIRED.ANY".
Parsed parse_fixed_counter_event(std::string_view text, const Sources& sources);

/// libpfm4 names: "UOPS_RETIRED:ALL:u:c=2" of this machine's processor, or "hsw::UOPS_RETIRED.ALL".
Parsed parse_pfm(std::string_view text, const Sources& sources);

/// The same without a processor's name, of any processor, if all processors with that name agree on its meaning.
Parsed parse_pfm_anywhere(std::string_view text);

/// Names from the user's table.
Parsed parse_given_event(std::string_view text, const Sources& sources);

/// Apple's event names: "apple_m1::INST_ALL", "retired_uops".
Parsed parse_apple(std::string_view text);

/// Builds an event of a PMU; `label` is its name without the mode.
Event coded(std::string_view asked, std::string label, Encoding encoding, Mode mode);

/// The text before the first colon, and the letters after it; no letters if there is no colon.
struct Suffixed {
  std::string_view base;
  std::optional<std::string_view> letters;
};
Suffixed take_apart(std::string_view text);

}  // namespace tally::event
