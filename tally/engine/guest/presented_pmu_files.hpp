/// The files in /sys that describe the PMU which programs find: they are in PresentedPmu::folder.
#pragma once
#include "tally/engine/records.hpp"

namespace tally::engine::guest {

/// Makes the call in the thread's registers name a file there if its path is one of the PMU's, absolute or relative to
/// a descriptor. The destructor restores the registers.
class PmuPath {
 public:
  explicit PmuPath(Thread* t);
  ~PmuPath();
  PmuPath(const PmuPath&) = delete;
  PmuPath& operator=(const PmuPath&) = delete;

 private:
  void resolve();

  Thread* thread_;
  u64* register_ = nullptr;  // of the path; null: the call names another file
  u64 path_ = 0;
  char text_[1024];
};

}  // namespace tally::engine::guest
