// Counts of a command that ran natively.
#pragma once

#include "tally/counting/backend/command_run.hpp"
#include "tally/counting/backend/software.hpp"

namespace tally::backend {

/// The count of one of the kernel's own events for a program that was left so: partial where something is missing.
Count native_count(const event::Event& event, const RunStatistics& statistics, const Left& left);

/// A count of counters that went with the program and its descendants: partial where one of them lives on.
Count believed_as_left(Count count, const Left& left);

}  // namespace tally::backend
