// The rings of several processors, read as one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include "tally/linux/perf/sample_ring.hpp"

namespace tally::backend::perf {

/// Rings whose records are visited by their time. `Record` has it as `time_ns`, by linux::now().
template <class Record>
class MergedRings {
 public:
  using Read = std::function<Record(const linux::RingRecord&)>;
  explicit MergedRings(Read read) : read_(std::move(read)) {}

  void add(linux::SampleRing ring) { rings_.push_back({std::move(ring), 0, {}}); }
  std::size_t size() const { return rings_.size(); }

  /// Visits what came until `until_ns`. A thread's records lie in the rings of several processors: one that was written
  /// before `until_ns` is there when the ends of the rings are looked at, and so is all that its thread had written
  /// before.
  void take(std::int64_t until_ns, const std::function<void(const Record&)>& visit) {
    for (Ring& ring : rings_) {
      ring.end = ring.ring.written();
      look(ring, until_ns);
    }
    while (true) {
      Ring* earliest = nullptr;
      std::int64_t next = std::numeric_limits<std::int64_t>::max();
      for (Ring& ring : rings_) {
        if (!ring.first) continue;
        if (!earliest || ring.first->time_ns < earliest->first->time_ns) {
          if (earliest) next = std::min(next, earliest->first->time_ns);
          earliest = &ring;
        } else {
          next = std::min(next, ring.first->time_ns);
        }
      }
      if (!earliest) break;
      do {
        visit(*earliest->first);
        earliest->ring.pass();
        look(*earliest, until_ns);
      } while (earliest->first && earliest->first->time_ns <= next);
    }
    for (Ring& ring : rings_) ring.ring.give_back();
  }

 private:
  struct Ring {
    linux::SampleRing ring;
    std::uint64_t end = 0;
    std::optional<Record> first;
  };
  void look(Ring& ring, std::int64_t until_ns) const {
    const auto record = ring.ring.first(ring.end);
    ring.first.reset();
    if (!record) return;
    Record read = read_(*record);
    if (read.time_ns <= until_ns) ring.first = read;
  }

  Read read_;
  std::vector<Ring> rings_;
};

}  // namespace tally::backend::perf
