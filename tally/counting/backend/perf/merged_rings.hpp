// Reads the ring buffers of several CPUs as one, in the order of time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include "tally/linux/perf/sample_ring.hpp"

namespace tally::backend::perf {

/// Ring buffers whose records are visited in the order of `Record::time_ns`, by linux::now().
template <class Record>
class MergedRings {
 public:
  using Read = std::function<Record(const linux::RingRecord&)>;
  explicit MergedRings(Read read) : read_(std::move(read)) {}

  void add(linux::SampleRing ring) { rings_.push_back({std::move(ring), 0, {}}); }
  std::size_t size() const { return rings_.size(); }

  /// Visits the records up to `until_ns`. The records of a thread are in the rings of several CPUs. A record that was
  /// written before `until_ns` is in its ring when the ends of the rings are read, and so is everything that its thread
  /// wrote before it.
  void take(std::int64_t until_ns, const std::function<void(const Record&)>& visit) {
    for (Ring& ring : rings_) {
      ring.end = ring.ring.written();
      read_first(ring, until_ns);
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
        read_first(*earliest, until_ns);
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
  void read_first(Ring& ring, std::int64_t until_ns) const {
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
