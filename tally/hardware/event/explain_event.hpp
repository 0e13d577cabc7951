// Explains one event: its encoding, the processors that support it, and the counters that can count it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tally/hardware/event/event.hpp"
#include "tally/hardware/event/pitfalls.hpp"

namespace tally::event {

/// A field of a register, with its value.
struct FieldValue {
  std::string name;
  int msb = 0;
  int lsb = 0;
  std::uint64_t value = 0;
  std::string text;
};

/// The register that selects the event on a counter.
struct Selector {
  std::string name;  ///< "IA32_PERFEVTSELx"
  std::uint64_t value = 0;
  std::vector<FieldValue> fields;
};

/// A vendor name of the event, and the processors with that name.
struct Named {
  std::string name;
  std::vector<std::string> pmus;
};

/// An explained event.
struct Explanation {
  Event event;
  std::string maker_name;  ///< the vendor's name of a code: "Intel UOPS_RETIRED.ALL"; may be empty
  std::string what;        ///< what the event counts; empty if not documented
  Class repeats = Class::unknown;
  std::vector<std::string> other_names;
  std::optional<Encoding> perf;  ///< for perf_event_open(2); nothing if the kernel cannot count it
  std::string perf_text;         ///< perf's notation; empty if there is none
  std::optional<Selector> selector;
  std::string counters;  ///< which counters can count it; empty for software events
  std::vector<Named> processors;
  std::vector<Pitfall> pitfalls;
};

/// Explains an event. Cost: searches all tables of libpfm4.
Explanation explain(const Event& event);

}  // namespace tally::event
