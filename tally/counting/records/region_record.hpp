// The numbers that a thread with regions counts. Only the thread itself writes them; others read them, as do other
// processes if they are in shared memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tally/core/count/region.hpp"
#include "tally/core/stats/bucket_histogram.hpp"

namespace tally::detail {

/// How counters are read. Both ends of an entry use the same path.
enum class Path : std::uint8_t { none, user, group, engine };
inline constexpr std::size_t path_count = 4;

using Numbers = std::array<std::int64_t, most_events>;

/// A number that its thread writes and others read. It is written like any other: on a 64-bit processor no reader sees
/// half of it. std::atomic would keep compilers from adding two of them at once, and take one more instruction for each
/// on arm64.
class Number {
 public:
  std::int64_t get() const { return __atomic_load_n(&value_, __ATOMIC_RELAXED); }
  void set(std::int64_t value) { value_ = value; }
  void add(std::int64_t more) { value_ += more; }
  void lower(std::int64_t to) { value_ = to < value_ ? to : value_; }
  void raise(std::int64_t to) { value_ = to > value_ ? to : value_; }

 private:
  std::int64_t value_ = 0;
};
using SharedNumbers = std::array<Number, most_events>;

/// How many entries had which count, for each event.
using Histograms = std::array<std::array<Number, histogram_buckets>, most_events>;

struct Open;
struct Reached;
struct Record;

/// Adds an ended entry. Unrolled for the number of events.
using Take = void (*)(Record&, const Open&, const Reached&) noexcept;

/// One region in one thread, read by one path. The pointers are valid in its own process only.
struct Record {
  std::int64_t depth = 0;  ///< open entries; the outermost one still counts while it is added
  Number entries;
  Number inner;  ///< entries of regions within the counted ones
  Number recursive, dropped;
  std::uint32_t name = 0;  ///< index in the names of its Counters
  Path path = Path::none;
  Take take = nullptr;
  Histograms* histograms = nullptr;  ///< of this region or, if it was not requested for it, of all others
  std::string_view text;             ///< its name
  SharedNumbers total, least, most;  ///< counts of the entries
  Number unknown;                    ///< bits of events: Thread::unknown at the ends of entries
};

/// What a begin and an end cost on one path: in the entry itself (own), and in the region around it (nested).
struct Overhead {
  Numbers own{}, own_spread{};
  Numbers nested{}, nested_spread{};
  Numbers begun{};                    ///< part of `nested` before the entry has begun
  Numbers reading{};                  ///< what Counters::read() costs outside its own two reads of the counters
  Numbers making{};                   ///< the same for creating a record
  Numbers finding{};                  ///< the same for finding a record by the characters of its name, at a begin
  Numbers ending{};                   ///< the same for finding an open entry, at an end
  Numbers first_open{}, more_open{};  ///< in all four, for the first open region and for each further one
  bool known = false;
};
using Overheads = std::array<Overhead, path_count>;

}  // namespace tally::detail
