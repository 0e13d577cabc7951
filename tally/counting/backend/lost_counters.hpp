// Detects that the kernel took counters away while the command ran.
#pragma once

#include <string>

#include "tally/counting/backend/software.hpp"

namespace tally::backend {

/// Returns why counters of a command and its descendants, on from its execve, missed a part of them; empty without a
/// sign of that. `enabled`: the longest time that a counter was on. `program`: the executed file. At the execve of a
/// program that others may not inspect, the kernel removes all counters from the process: if it changes user, group or
/// capabilities, or may be executed but not read (begin_new_exec() in fs/exec.c). Their descriptors still read the
/// values so far. Only time shows it: counters are on while processes run, so `enabled` is less than the processor time
/// of wait4(2). The loss is not noticed if later processes run for a few milliseconds, or less than the kernel works
/// for all processes.
std::string why_counters_were_lost(Nanoseconds enabled, const linux::Usage& usage, const std::string& program);

/// Returns the longest time that one of the kernel's counters was on.
Nanoseconds longest_enabled(const std::vector<KernelCount>& counts);

/// Returns the count of a kernel event that lost its counter: the value from wait4(2) if that has one, else the count
/// up to the loss; partial, with the reason `why`.
Count count_of_lost(const event::Event& event, const RunStatistics& statistics, Count until_then,
                    const std::string& why);

}  // namespace tally::backend
