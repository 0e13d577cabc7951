// Counting what tally did not start: processes, threads, processors.
#pragma once

#include "tally/backend/backend.hpp"
#include "tally/backend/perf/counters.hpp"

namespace tally::backend::perf {

/// Opens the counters on everything that is attached to; they wait to be told. Returns what the user should know:
/// threads that began meanwhile. Errors: cannot_measure for a process or thread that is not there or may not be
/// counted, and where nothing at all can be counted.
Result<std::vector<std::string>> open_attached(const Attachment& attachment, Counters& counters);

/// Counts without a command, until the end of all that is attached to, a time-out, or a signal to tally. Errors: those
/// of open_attached().
Result<Outcome> count_attached(const Request& request, const std::vector<linux::PmuDevice>& cores);

/// The counts of each core or socket, by what was read last of the processors' counters: those whose processors come
/// first. A processor whose place the kernel does not say is a part of its own.
std::vector<result::Part> parts_of(const Request& request, const Counters& counters, Nanoseconds duration);

/// The count of an event of an attachment that was counted so long.
Count attached_count(const event::Event& event, const Count& counted, Nanoseconds duration);

}  // namespace tally::backend::perf
