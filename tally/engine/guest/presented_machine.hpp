/// The machine that programs see with Settings::repeatable: one processor, and a fixed amount of memory. The number of
/// processors decides how many threads a program starts; the memory and the file system's blocks how large its buffers
/// are.
#pragma once
#include "tally/engine/records.hpp"

namespace tally::engine::guest {

inline bool machine_is_fixed() { return settings().repeatable != 0; }

/// Opens a file that describes the machine, with a counted clock one of times, with a PMU the one of its permission:
/// creates one with the presented content. Returns its descriptor or an error; no_file if the call in the thread's
/// registers opens another file.
inline constexpr s64 no_file = INT64_MIN;
s64 open_presented_file(Thread* t, u64 flags);

/// Make sched_getaffinity, sched_setaffinity, getcpu, uname, stat (with its relatives) and sysinfo, whose arguments are
/// in the thread's registers.
s64 get_presented_affinity(Thread* t);
s64 set_presented_affinity(Thread* t);
s64 get_presented_processor(Thread* t);
s64 get_presented_names(Thread* t);
s64 get_presented_metadata(Thread* t);
s64 get_presented_memory(Thread* t);

}  // namespace tally::engine::guest
