#include "programs/watch/live/beat.hpp"

#include <poll.h>

#include <vector>

#include "tally/linux/process/spawn.hpp"
#include "tally/linux/system_call.hpp"

namespace tally::watch {

int wait_until(Nanoseconds moment, std::span<const int> descriptors, bool or_signal) {
  std::vector<pollfd> all;
  for (const int descriptor : descriptors) all.push_back({descriptor, POLLIN, 0});
  for (;;) {
    const Nanoseconds left = moment - linux::now();
    const timespec rest{left.count() > 0 ? left.count() / 1'000'000'000 : 0,
                        left.count() > 0 ? left.count() % 1'000'000'000 : 0};
    const int ready = ppoll(all.data(), all.size(), &rest, nullptr);
    if (ready == 0) return woken_by_time;
    if (ready < 0 && or_signal) return woken_by_signal;
    if (ready < 0) continue;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i].revents != 0) return static_cast<int>(i);
    }
  }
}

}  // namespace tally::watch
