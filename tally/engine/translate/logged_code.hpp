/// Adds each new trace, and the mapping of its code, to the code log (code_log.hpp).
#pragma once
#include "tally/engine/translate/code_cache.hpp"

namespace tally::engine::translate {

/// A mapping that is in the log.
struct LoggedMapping {
  u64 start, end;
  u32 number;  ///< CodeMapping::number

  bool has(u64 pc) const { return pc - start < end - start; }
};

/// Whether a log has the forms of its instructions.
bool logs_forms();
/// Logs a finished trace. The caller must hold cache_lock.
void log_trace(const Trace& t);
/// Whether the log has room for these numbers of traces and places. The caller must hold cache_lock.
bool log_has_room(u32 traces, u32 places);
/// Something else was mapped at these addresses. The caller must hold the lock of exec_regions.cpp.
void log_unmapped(u64 start, u64 end);
/// Returns the number of the mapping of an address (CodeMapping::number), and logs the mapping if necessary. Returns 0
/// without a log. The caller must not hold the lock of exec_regions.cpp or threads_lock.
u32 logged_mapping(u64 pc);
/// The same, with the range that has this number.
LoggedMapping logged_around(u64 pc);
/// Changes each time a logged mapping is unmapped or replaced: the target of an address may have changed.
u32 unmapped_mappings();
/// Called when it has increased; null if nobody needs to know.
extern void (*on_unmapped_mapping)();
/// The process has started another log. All other threads must be held.
void log_restarted();

}  // namespace tally::engine::translate
