// A competing thread on the same CPU, which must not be counted.
#pragma once

#include <atomic>
#include <thread>

namespace tally::linux {

/// During its lifetime, a thread of this process runs on one CPU without a pause, so that other threads there are
/// preempted. Create it after Signals. Cannot be moved.
class Antagonist {
 public:
  explicit Antagonist(int processor);
  Antagonist(const Antagonist&) = delete;
  Antagonist& operator=(const Antagonist&) = delete;
  ~Antagonist();

 private:
  std::atomic<bool> ends_{false};
  std::thread thread_;
};

}  // namespace tally::linux
