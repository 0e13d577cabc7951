// Counters that sample where code is, on threads and all that these begin; and their rings.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tally/counting/backend/backend.hpp"
#include "tally/counting/backend/perf/encode.hpp"
#include "tally/counting/backend/perf/merged_rings.hpp"
#include "tally/linux/perf/code_record.hpp"

namespace tally::backend::perf {

/// The events of a order, as they are sampled here.
struct CodeEvents {
  struct One {
    std::vector<linux::PerfEvent> kinds;  ///< one for each kind of cores
    result::EventSampling sampling;       ///< how
    CountSource source;                   ///< as of Encoded, of all kinds of cores
    std::string doubt;                    ///< as of Encoded
  };
  std::vector<One> events;
  bool calls = false;
};

/// What the order's events can be. Opens their counters on this thread, to see what the kernel takes. Errors:
/// cannot_measure for one that has no place in the code, or that the kernel does not sample.
Result<CodeEvents> code_events(const ProfileOrder& order, const std::vector<linux::PmuDevice>& cores);

/// One ring for samples and one for what programs do on each processor, so that samples do not crowd that out.
class CodeCounters {
 public:
  explicit CodeCounters(const CodeEvents& events);

  /// On a thread and all that it begins, or, where it is −1, on whatever runs. Errors: cannot_measure.
  Result<void> open(std::int32_t thread, linux::PerfStart start);

  /// Begins to sample, where that was not by itself. What programs do is told from the opening on.
  void enable() const;
  void disable() const;

  /// Calls `told` with each counter's number, and the place of its event.
  void name_counters(const std::function<void(std::uint64_t, std::size_t)>& told) const;
  /// Descriptors that become readable when a ring is filling.
  std::vector<int> descriptors() const;
  /// As MergedRings::take().
  void take(std::int64_t until_ns, const std::function<void(const linux::CodeRecord&)>& visit) {
    rings_.take(until_ns, visit);
  }
  /// What the counters of an event hold, and how long they were to count and did, all threads added up. Cost: a system
  /// call each.
  linux::PerfValue total(std::size_t event) const;

 private:
  struct OneProcessor {
    int processor = 0;
    std::size_t tidings = 0, samples = 0;  // counters that have the rings
  };
  struct Opened {
    linux::PerfCounter counter;
    std::size_t event = 0;  // none: of what programs do
  };
  static constexpr std::size_t none = ~std::size_t{0};
  Result<void> open_on(std::int32_t thread, int processor, linux::PerfStart start);
  Result<void> open_events(const linux::PerfTarget& target, std::vector<Opened>& opened) const;
  Result<void> map_rings(int processor, std::size_t first);

  const CodeEvents& events_;
  std::vector<Opened> counters_;
  std::vector<OneProcessor> processors_;
  MergedRings<linux::CodeRecord> rings_;
  std::size_t pages_ = 0;  // of a ring for samples
  bool everywhere_ = false;
};

}  // namespace tally::backend::perf
