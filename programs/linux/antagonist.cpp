#include "programs/linux/antagonist.hpp"

#include "tally/linux/process/conditions.hpp"
#include "tally/linux/process/worker_thread.hpp"

namespace tally::linux {

Antagonist::Antagonist(int processor)
    : thread_(worker_thread([this, processor] {
        if (!stay_on(processor)) return;
        // Executes conditional branches only: a count that includes them is far off.
        while (!ends_.load(std::memory_order_relaxed)) {
        }
      })) {}

Antagonist::~Antagonist() {
  ends_ = true;
  thread_.join();
}

}  // namespace tally::linux
