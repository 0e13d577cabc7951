/// Copies of code that was executed before the process unmapped or changed it. Cycles need them: they are computed when
/// the process ends. Without cycles nothing is kept.
///
/// In the address of past code, the number of the change that ended it is above 48 bits of the address that it had.
///
/// The caller must hold cache_lock for everything here.
#pragma once
#include "tally/engine/translate/execution_counts.hpp"

namespace tally::engine::translate {

inline constexpr u32 past_bits = 48;
inline bool is_past(u64 address) { return address >> 63 == 0 && address >> past_bits != 0; }
/// Returns the address that the code had.
inline u64 program_address(u64 address) { return is_past(address) ? address & ((u64{1} << past_bits) - 1) : address; }

bool keeps_past_code();
/// Forgets everything: all traces were discarded.
void past_code_reset();
/// Whether all past code is kept so far, and some more can be.
bool past_code_has_room();
/// A change of code begins.
void begin_change();
/// Keeps lines of a page (a bit for each) for the traces before `trace`; `bytes` is the address of its bytes. They are
/// part of the change that began last.
void keep_past_code(u64 page, u64 lines, u64 bytes, u32 trace);
/// Like read_code() and copy_code(), also for past code.
u32 read_past_or_present_code(u64 pc, u8* to, u32 n);
u64 copy_past_or_present_code(void* to, u64 from, u64 n);
/// Returns the number in the log of the mapping that has, or had, this code (CodeMapping::number); 0 without one.
u32 mapping_of(u64 address);

/// Finds the code of traces.
class PastCode {
 public:
  /// False without memory, or if there was no room for all past code.
  bool init();
  /// Returns the address of the code that was at `pc` when this trace was made.
  u64 address(u64 pc, u32 trace) const;
  /// Returns the address of the code that was there when the change began; `pc` counts from an address of past code.
  u64 target(u64 pc) const;

 private:
  Scratch<u32> order_;  // of kept pages, by their number
  u32 size_ = 0;
};

}  // namespace tally::engine::translate
