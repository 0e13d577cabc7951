// A common view of the orders that the engine can carry out.
#pragma once

#include <vector>

#include "tally/counting/backend/order.hpp"

namespace tally::backend::engine {

/// A view of one order, which must outlive it. `order` is the common part; of the pointers, those that fit the order
/// are set.
struct Job {
  explicit Job(const CountOrder& asked) : order(asked), count(&asked) {}
  explicit Job(const RegionOrder& asked) : order(asked.count), count(&asked.count), regions(&asked) {}
  explicit Job(const WindowOrder& asked) : order(asked), windows(&asked) {}
  explicit Job(const ProfileOrder& asked) : order(asked), profile(&asked) {}

  const Order& order;
  const CountOrder* count = nullptr;  ///< also set for a region order
  const RegionOrder* regions = nullptr;
  const WindowOrder* windows = nullptr;
  const ProfileOrder* profile = nullptr;

  const std::vector<event::Event>& events() const { return order.events; }
  const std::vector<CodeRegion>& code_regions() const {
    static const std::vector<CodeRegion> none;
    return regions != nullptr ? regions->regions : none;
  }
  bool has_rdpmc() const { return regions != nullptr && regions->rdpmc; }
  bool hashes_paths() const { return windows != nullptr && windows->path.has_value(); }
  bool has_calls() const { return profile != nullptr && profile->calls; }
  bool has_entered() const { return has_calls() && !(profile->entered.empty() && profile->entered_files.empty()); }
  bool has_python() const { return profile != nullptr && profile->python; }
  bool has_toggles() const { return has_parts() && !profile->parts->toggles.empty(); }
  bool has_parts() const { return profile != nullptr && profile->parts.has_value(); }
  bool has_window_bounds() const { return windows != nullptr && windows->is_bounded(); }
  CodeRegion::Trap trap() const {
    if (windows != nullptr) return windows->trap;
    return code_regions().empty() ? CodeRegion::Trap::none : code_regions().back().trap;
  }
  bool is_timed() const { return count != nullptr && count->timing.any(); }
  const Timing& timing() const {
    static const Timing none;
    return count != nullptr ? count->timing : none;
  }
  bool has_usual_events() const { return count != nullptr && count->usual_events; }
};

}  // namespace tally::backend::engine
