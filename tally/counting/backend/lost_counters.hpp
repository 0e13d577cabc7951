// Detects that the kernel took counters away while the command ran.
#pragma once

#include <string>

#include "tally/counting/backend/software.hpp"

namespace tally::backend {

/// Returns why counters that follow a command and its descendants missed a part of them; empty without a sign of that.
/// `enabled`: the longest time that a counter was on. `program`: the executed file. The kernel removes all counters
/// from a process that executes a program which others may not inspect: one that changes user, group or capabilities,
/// or that may be executed but not read (begin_new_exec() in fs/exec.c). Their descriptors still read the values so
/// far. Only time shows the loss: `enabled` is less than the processor time of wait4(2). It goes unnoticed if the later
/// processes run for a few milliseconds, or for less time than the kernel works outside the counted time.
std::string why_counters_were_lost(Nanoseconds enabled, const linux::Usage& usage, const std::string& program);

/// Returns the longest time that one of the kernel's counters was on.
Nanoseconds longest_enabled(const std::vector<KernelCount>& counts);

/// Returns the count of a kernel event that lost its counter: the value from wait4(2) if that has one, else the count
/// up to the loss; partial, with the reason `why`.
Count count_of_lost(const event::Event& event, const RunStatistics& statistics, Count until_then,
                    const std::string& why);

}  // namespace tally::backend
