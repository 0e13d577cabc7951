// What goes wrong with events, and how far their counts repeat.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "tally/hardware/event/event.hpp"

namespace tally::event {

/// How a PMU's count of an event relates to what the program did.
enum class Class {
  deterministic,  ///< the same on every run
  correctable,    ///< the same but for terms that can be counted: page faults, interrupts
  speculative,    ///< depends on the processor's make and history
  micro_ops,      ///< counts micro-operations or dispatches, as many as the processor made
  software,       ///< the kernel's bookkeeping
  unknown,        ///< nothing is known
};

/// "deterministic", "micro-ops".
std::string_view name(Class what);

/// What that means for a reader, as half a sentence.
std::string_view explanation(Class what);

/// The class of an event where a PMU counts it. Sources: ISPASS 2013 (Weaver, Terpstra, Moore) and its raw data.
Class class_of(const Event& event);

/// One thing to know.
struct Pitfall {
  std::string_view text;
  std::string_view source;
};

/// What is known to go wrong with this event.
std::vector<Pitfall> pitfalls(const Event& event);

}  // namespace tally::event
