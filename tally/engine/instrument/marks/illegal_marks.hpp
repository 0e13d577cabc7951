/// Marks that are illegal instructions natively. The engine executes those of one dialect instead of the processor, if
/// the command requests it (channel::PartSettings::illegal).
#pragma once
#include "tally/engine/records.hpp"

namespace tally::engine::instrument {

/// Each illegal dialect of channel/mark_dialects.inc is a file in this directory.
struct IllegalMarkDialect {
  /// Length of the mark at an address of the program; 0: there is none.
  u32 (*length_at)(u64 pc);
  /// Carries out the mark at the thread's pc.
  void (*reached)(Thread* t);
};

/// Whether such a mark is at `pc`, of the dialect of this run.
bool is_illegal_mark(u64 pc);
/// Carries out the mark at the thread's pc, and continues after it.
void pass_illegal_mark(Thread* t);

#define TALLY_ILLEGAL_MARKS(name, examples) extern const IllegalMarkDialect name##_marks;
#include "tally/engine/channel/mark_dialects.inc"

}  // namespace tally::engine::instrument
