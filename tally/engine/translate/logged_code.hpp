/// Records of the log of code (code_log.hpp): each trace that is made, and the mapping that its code is of.
#pragma once
#include "tally/engine/translate/cache.hpp"

namespace tally::engine::translate {

/// A mapping that the log has.
struct LoggedMapping {
  u64 start, end;
  u32 number;  ///< CodeMapping::number

  bool has(u64 pc) const { return pc - start < end - start; }
};

/// The trace is finished. Wants cache_lock held.
void log_trace(const Trace& t);
/// Whether there is room for so many more traces of so many places. Wants cache_lock held.
bool log_has_room(u32 traces, u32 places);
/// What was mapped there is something else now. Wants the lock of exec_regions.cpp.
void log_unmapped(u64 start, u64 end);
/// The number of the mapping of an address, which is logged if it is not yet (CodeMapping::number); 0 without a log.
/// Wants no lock of exec_regions.cpp and none of threads.
u32 logged_mapping(u64 pc);
/// The same, with the addresses that it is the number of.
LoggedMapping logged_around(u64 pc);
/// Another number after each time that a logged mapping has gone: what an address leads to may have changed.
u32 unmapped_mappings();
/// The process has begun another log. Wants all other threads to be held.
void log_restarted();

}  // namespace tally::engine::translate
