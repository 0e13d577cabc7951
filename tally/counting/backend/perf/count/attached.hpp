// Counting what tally did not start: processes, threads, processors.
#pragma once

#include <functional>

#include "tally/counting/backend/backend.hpp"
#include "tally/counting/backend/perf/counters.hpp"

namespace tally::backend::perf {

/// One thread that is attached to, as it was when that began.
struct Member {
  std::int32_t process = 0;
  std::int32_t thread = 0;
  std::int32_t parent = 0;  ///< the process that its own was begun by; 0 where nobody says
  std::string command;      ///< its process's name
  std::string name;         ///< its own
};

/// What is attached to.
struct Attached {
  std::vector<Member> members = {};       ///< in the order of the counters' targets; none where these are processors
  std::vector<std::string> notices = {};  ///< what the user should know
};

/// Opens the counters on each of a process's threads, which `threads_now` lists, with what these start from then on;
/// and all of them again as long as threads begin meanwhile, up to twenty times. Returns how many began during the last
/// time: whether these are counted nobody can tell. Cost: a system call for each counter and time.
std::size_t open_threads(const std::function<std::vector<pid_t>()>& threads_now, Counters& counters,
                         std::vector<Member>& members);

/// Opens the counters on everything that is attached to; they wait to be told. Errors: cannot_measure for a process or
/// thread that is not there or may not be counted, and where nothing at all can be counted.
Result<Attached> open_attached(const Attachment& attachment, Counters& counters);

/// Counts without a command, until the end of all that is attached to, a time-out, or a signal to tally. Errors: those
/// of open_attached().
Result<Counts> count_attached(const CountOrder& order, const std::vector<linux::PmuDevice>& cores);

/// The counts of each core or socket that was asked for, by what was read last of the processors' counters, and where
/// there are several kinds of cores those of each kind. A processor whose place the kernel does not say is a part of
/// its own.
std::vector<result::Part> parts_of(const CountOrder& order, const std::vector<linux::PmuDevice>& cores,
                                   const Counters& counters, Nanoseconds duration);

/// The counts of each process that is attached to and of its threads that were there, where they are wanted. What a
/// thread began since is counted with it.
std::vector<result::Process> processes_of(const CountOrder& order, const Attached& attached, const Counters& counters,
                                          Nanoseconds duration);

/// The count of an event of an attachment that was counted so long.
Count attached_count(const event::Event& event, const Count& counted, Nanoseconds duration);

}  // namespace tally::backend::perf
