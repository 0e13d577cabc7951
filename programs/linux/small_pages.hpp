// Disables transparent huge pages, so that page faults are predictable.
#pragma once

namespace tally::linux {

/// During its lifetime, programs that this process starts get no transparent huge pages (prctl(2), PR_SET_THP_DISABLE:
/// inherited and kept by execve). Has no effect if the kernel refuses.
class SmallPages {
 public:
  SmallPages();
  SmallPages(const SmallPages&) = delete;
  SmallPages& operator=(const SmallPages&) = delete;
  ~SmallPages();

 private:
  int before_;
};

}  // namespace tally::linux
