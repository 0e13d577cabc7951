// Counts existing processes, threads and CPUs.
#pragma once

#include <functional>

#include "tally/counting/backend/backend.hpp"
#include "tally/counting/backend/perf/order_counters.hpp"

namespace tally::backend::perf {

/// An attached thread, as it was when counting began.
struct AttachedThread {
  std::int32_t process = 0;
  std::int32_t thread = 0;
  std::int32_t parent = 0;  ///< the parent of its process; 0 if unknown
  std::string command;      ///< the name of its process
  std::string name;         ///< the name of the thread
};

/// The result of attaching.
struct Attached {
  std::vector<AttachedThread> members = {};  ///< in the order of the counters' targets; empty if these are CPUs
  std::vector<std::string> notices = {};     ///< notes for the user
};

/// Opens the counters on the threads that `threads_now` lists, and on all that these start later. If threads start in
/// the meantime, opens all of them again, up to twenty times. Returns how many started during the last try: they may be
/// missing from the counts. Cost: a system call for each counter and try.
std::size_t open_threads(const std::function<std::vector<pid_t>()>& threads_now, Counters& counters,
                         std::vector<AttachedThread>& members);

/// Opens the counters on everything that is attached to, not yet started. Errors: cannot_measure if a process or thread
/// does not exist or may not be counted, and if nothing can be counted.
Result<Attached> open_attached(const Attachment& attachment, Counters& counters);

/// Counts without a command until all attached processes end, a time-out, or a signal to tally. Errors: those of
/// open_attached().
Result<Outcome> count_attached(const Order& order, const std::vector<linux::PmuDevice>& cores);

/// Returns the counts of each core or socket that the order asks for, and of each kind of cores if there are several,
/// from the last read of the counters. A CPU whose core the kernel does not report is a part of its own.
std::vector<result::Part> parts_of(const Order& order, const std::vector<linux::PmuDevice>& cores,
                                   const Counters& counters, Nanoseconds duration);

/// Returns the counts of each attached process and of its initial threads if the order asks for them. Threads that
/// started later are counted with the thread that started them.
std::vector<result::Process> processes_of(const Order& order, const Attached& attached, const Counters& counters,
                                          Nanoseconds duration);

/// Returns the count of an event of an attachment. `duration`: how long it was counted.
Count attached_count(const event::Event& event, const Count& counted, Nanoseconds duration);

}  // namespace tally::backend::perf
