// Somebody else on the same processor, who must not be counted.
#pragma once

#include <atomic>
#include <thread>

namespace tally::linux {

/// While it lives, a thread of this process runs on one processor without a pause, so that whoever runs there has to
/// take turns with it. Create it after Signals. Never moves.
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
