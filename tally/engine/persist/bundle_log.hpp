/// The code log of a bundle: its CodeForms and CodeTraces as an earlier run logged them, so that a run that logs forms
/// decodes none of its instructions again. The caller must hold cache_lock.
#pragma once
#include "tally/engine/persist/bundle.hpp"

namespace tally::engine::persist {

class BundleLog {
 public:
  /// `last`: address of the last byte of code of the bundle at `start`, whose first segment number is `number`.
  BundleLog(const channel::Bundle& bundle, u64 start, u64 last, u32 number);

  /// Logs all traces if an earlier run stored their records. If not, the caller logs each of them, and then calls
  /// store().
  bool log(u32 traces);
  void store(u32 traces);

 private:
  const channel::Bundle& bundle_;
  u64 start_;
  u32 number_;
  const u8* from_ = nullptr;  // where the log ended before; null: this run stores nothing
  u32 form_ = 0;              // the last form before
};

}  // namespace tally::engine::persist
