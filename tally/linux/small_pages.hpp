// Memory in pages of the smallest size, so that page faults can be predicted.
#pragma once

namespace tally::linux {

/// While it lives, programs that this process starts get no transparent huge pages (prctl(2), PR_SET_THP_DISABLE: it is
/// inherited, and kept by execve). Where the kernel refuses, nothing changes.
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
