// One event explained: how it is encoded, who has it, where it is counted.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tally/hardware/event/event.hpp"
#include "tally/hardware/event/pitfalls.hpp"

namespace tally::event {

/// One field of a register, with its content.
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

/// A name of the same event, and the processors that have it.
struct Named {
  std::string name;
  std::vector<std::string> pmus;
};

/// What there is to say.
struct Explanation {
  Event event;
  std::string maker_name;  ///< the maker's own name of a code: "Intel UOPS_RETIRED.ALL"; may be empty
  std::string what;        ///< what one count means; empty where nobody says
  Class repeats = Class::unknown;
  std::vector<std::string> other_names;
  std::optional<Encoding> perf;  ///< for perf_event_open(2); nothing where the kernel cannot be asked for it
  std::string perf_text;         ///< as perf writes it; empty where it cannot
  std::optional<Selector> selector;
  std::string counters;  ///< on which counters; empty where it is none of a processor's
  std::vector<Named> processors;
  std::vector<Pitfall> pitfalls;
};

/// Everything that is known of an event. Cost: looks through all tables of libpfm4.
Explanation explain(const Event& event);

}  // namespace tally::event
