// Runs a command natively once: starts it, and waits for it and its descendants.
#pragma once

#include "tally/counting/backend/command_run.hpp"
#include "tally/counting/backend/software.hpp"

namespace tally::backend {

/// The count of one of the kernel's own events for a program that was left so: partial where something is missing.
Count native_count(const event::Event& event, const RunStatistics& statistics, const WaitResult& left);

/// Returns a count of counters that follow the program and its descendants: partial if one of them is still running.
Count downgrade_if_running(Count count, const WaitResult& left);

}  // namespace tally::backend
