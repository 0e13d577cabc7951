// Makes the limit on the size of files (`ulimit -f`) an error instead of a signal.
#pragma once

#include <signal.h>

namespace tally::linux {

/// During its lifetime, a write beyond the limit fails with EFBIG.
class WithoutSizeSignal {
 public:
  WithoutSizeSignal() {
    struct sigaction ignore {};
    ignore.sa_handler = SIG_IGN;
    sigaction(SIGXFSZ, &ignore, &before_);
  }
  ~WithoutSizeSignal() { sigaction(SIGXFSZ, &before_, nullptr); }
  WithoutSizeSignal(const WithoutSizeSignal&) = delete;
  WithoutSizeSignal& operator=(const WithoutSizeSignal&) = delete;

 private:
  struct sigaction before_ {};
};

}  // namespace tally::linux
