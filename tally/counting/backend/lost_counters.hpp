// Counters that the kernel took away while the command ran.
#pragma once

#include <string>

#include "tally/counting/backend/software.hpp"

namespace tally::backend {

/// Why counters that count a command and all that it starts, from its execve on, do not have all of it; empty where
/// nothing says so. The kernel removes every counter from a process at the execve of a program that others may not look
/// into: it changes user, group or capabilities, or may be executed and not read (begin_new_exec() in fs/exec.c). What
/// was counted until then stays, and the descriptor reads on as if nothing had happened. What tells is time: a counter
/// is on while its processes run, so `enabled`, the longest that one was, is less than the processor time that wait4(2)
/// tells of them. `program`: what was executed. Of processes that are executed later and run for a few milliseconds,
/// or for less than the kernel works for all of them, nothing is noticed.
std::string why_counters_were_lost(Nanoseconds enabled, const linux::Usage& usage, const std::string& program);

/// The longest time that one of the kernel's counters was on.
Nanoseconds longest_enabled(const std::vector<KernelCount>& counts);

/// The count of one of the kernel's own events that lost its counter: wait4(2)'s figure where it has one, else what was
/// counted until then; partial, for this reason.
Count count_of_lost(const event::Event& event, const RunStatistics& statistics, Count until_then,
                    const std::string& why);

}  // namespace tally::backend
