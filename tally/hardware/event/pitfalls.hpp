// Known problems with events, and how repeatable their counts are.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "tally/hardware/event/event.hpp"

namespace tally::event {

/// How a PMU's count of an event relates to the program's behaviour.
enum class Class {
  deterministic,  ///< the same on every run
  correctable,    ///< the same except for terms that can be counted: page faults, interrupts
  speculative,    ///< depends on the processor's design and history
  micro_ops,      ///< counts micro-operations or dispatches, which depend on the processor
  software,       ///< counted by the kernel
  unknown,        ///< not documented
};

/// "deterministic", "micro-ops".
std::string_view name(Class what);

/// The class in words, as half a sentence.
std::string_view explanation(Class what);

/// The class of an event counted by a PMU. Sources: ISPASS 2013 (Weaver, Terpstra, Moore) and its raw data.
Class class_of(const Event& event);

/// A known problem, with its source.
struct Pitfall {
  std::string_view text;
  std::string_view source;
};

/// The known problems with this event.
std::vector<Pitfall> pitfalls(const Event& event);

}  // namespace tally::event
