// The result of `tally memory`: what was measured of the memory hierarchy, and what follows from it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tally/output/result/stat.hpp"

namespace tally::result {

/// One measured point: a row of the CSV.
struct MemoryPoint {
  std::string task;      ///< "curve", "chase-read" …
  std::string quantity;  ///< what `ns` is the time of: "load", "write", "read", "raw" …, per 64-byte line or per step
  std::string mode;      ///< "lap", "cold by-size", "cold by-flush"
  std::string order;     ///< of the blocks: "random", "page-local" …
  std::uint64_t region_bytes = 0;
  std::uint64_t block_bytes = 0;
  std::uint64_t stride_bytes = 0;
  std::uint64_t count = 0;    ///< blocks of a region
  std::uint64_t regions = 1;  ///< visited in one timed body
  std::uint64_t laps = 0;     ///< rounds over one region; 0 where that is no whole number
  std::string pages_asked;
  std::string pages_got;  ///< empty where the kernel does not say
  std::optional<int> node;
  int threads = 1;
  std::string store;  ///< flavour; empty where nothing is stored
  std::string load;
  std::string fence;
  std::uint64_t seed = 0;
  std::int64_t mappings = 0;
  std::optional<std::int64_t> mappings_kept;  ///< that the timing rests on, where some were left out or might have been
  /// The share of loads that memory served, where a shared cache is reported that should; nothing elsewhere.
  std::optional<double> from_memory;
  std::int64_t batches = 0;   ///< accepted
  std::int64_t rejected = 0;  ///< thrown away because something else happened meanwhile
  std::optional<double> ns;
  std::optional<double> ns_min;  ///< of whole laps alone
  std::optional<double> ns_low;  ///< 95 % interval
  std::optional<double> ns_high;
  std::optional<double> cycles;         ///< of the core, by its clock at the time
  std::optional<double> mb_per_second;  ///< of tasks that measure bandwidth: 10^6 bytes in a second
  /// What a PMU counted, per step as `ns` is: of each of Memory::counters that was counted, in that order. Empty: not
  /// counted. Memory::count_of() finds one.
  std::vector<double> counts;
  std::vector<std::string> flags;  ///< "contended: …", "few batches"
  bool operator==(const MemoryPoint&) const = default;
};

/// How far a finding can be trusted.
enum class Grade { high, medium, low };

/// "high", "medium", "low".
std::string_view name(Grade grade);

/// The grade of that name; low for any other word.
Grade grade_of(std::string_view word);

/// One level of the hierarchy.
struct MemoryLevel {
  std::string name{};                      ///< "L1d", "L2", "LLC", "memory"
  std::optional<double> capacity_bytes{};  ///< measured; none for memory, and where no rise follows
  std::optional<double> capacity_low{};    ///< 95 % interval
  std::optional<double> capacity_high{};
  std::optional<std::int64_t> reported_bytes{};  ///< by the system
  bool snapped = false;                ///< so close to the reported size, and not shared, that this is printed
  bool effective = false;              ///< what one thread gets of it here, not what is built in
  std::string shape{};                 ///< of its rise
  std::optional<double> half_bytes{};  ///< where the latency is half-way to the next level
  std::optional<double> knee_bytes{};
  double ns = 0;  ///< 0 where the machine was too busy for it
  std::optional<double> ns_low{}, ns_high{};
  std::optional<double> cycles{};
  std::optional<std::int64_t> line_bytes{};
  std::optional<std::int64_t> ways{}, sets{};
  /// What a PMU counted on its plateau, for each load: as MemoryPoint::counts.
  std::vector<double> counts{};
  Grade grade = Grade::low;
  bool contended = false;  ///< the machine was too busy there: what is missing is missing for that
  bool unseen = false;     ///< the system reports it, or it must be there, and the curve does not show where it ends
  std::string because{};
  bool operator==(const MemoryLevel&) const = default;
};

/// One translation buffer.
struct MemoryTlb {
  std::string name{};  ///< "DTLB"
  std::int64_t entries = 0;
  std::optional<std::int64_t> ways{}, sets{};
  std::int64_t granule_bytes = 0;  ///< what an entry translates
  double penalty_ns = 0;           ///< what a miss adds
  Grade grade = Grade::low;
  std::string because{};
  bool unseen = false;  ///< nothing that was measured shows it: there are no entries and no penalty
  bool operator==(const MemoryTlb&) const = default;
};

/// How often each value came. The bins are where values were, in ascending order.
struct MemoryHistogram {
  /// Values from `low` on, below `high`.
  struct Bin {
    double low = 0;
    double high = 0;
    std::int64_t count = 0;
    bool operator==(const Bin&) const = default;
  };
  std::string name;   ///< "write", "gap between slow writes"
  std::string group;  ///< those of one group are drawn together: a series, and its control
  std::string unit;   ///< of the values: "ns", "writes"
  std::vector<Bin> bins;
  bool operator==(const MemoryHistogram&) const = default;
};

/// Numbers over two things that vary.
struct MemoryMap {
  struct Cell {
    double x = 0;
    double y = 0;
    double value = 0;
    bool operator==(const Cell&) const = default;
  };
  std::string name;
  std::string x_name, y_name;  ///< of the axes: "region", "processor"
  bool x_is_size = true;       ///< in bytes
  bool y_is_size = true;
  std::string unit;  ///< of the values
  std::vector<Cell> cells;
  bool operator==(const MemoryMap&) const = default;
};

/// How times compare at one size.
struct MemoryRatio {
  std::string name;  ///< "raw / (write + read)"
  std::uint64_t region_bytes = 0;
  std::uint64_t block_bytes = 0;
  double value = 0;
  std::optional<double> low, high;  ///< between what it lies; nothing where that is not known
  std::string verdict;              ///< what follows: "served above", "not forwarded", "undecided"
  bool operator==(const MemoryRatio&) const = default;
};

/// A run beside the measurement that has to come out as expected.
struct MemoryControl {
  std::string name;   ///< "reference ring", "ladder 4096 B" …
  std::string value;  ///< as it is printed
  std::optional<double> number;
  std::string unit;
  bool operator==(const MemoryControl&) const = default;
};

/// Whether the machine was quiet enough.
struct MemoryVerdict {
  bool contended = false;
  std::int64_t points = 0;
  std::int64_t flagged = 0;
  double rejected_percent = 0;
  double reference_moved_percent = 0;  ///< of the L1 reference ring, slowest against best
  std::string text;
  std::string cause{};   ///< what most of the flagged points were flagged for; may be empty
  std::string advice{};  ///< what to do next; empty where nothing is contended
  bool operator==(const MemoryVerdict&) const = default;
};

/// What a PMU was to count beside the timings.
struct MemoryCounter {
  std::string name;    ///< "instructions", "l1d_misses": one of memory_counts
  std::string event;   ///< "L1-dcache-load-misses:u"
  std::string source;  ///< the PMU that counted
  std::string doubt;   ///< why the counts are to be believed less; may be empty
  std::string reason;  ///< why it was not counted; empty where it was
  bool operator==(const MemoryCounter&) const = default;
};

/// The counts that there may be, in the order of the forms' columns.
struct MemoryCountName {
  std::string_view name;   ///< in data
  std::string_view title;  ///< over a column
};
inline constexpr std::array memory_counts{
    MemoryCountName{"instructions", "instr"},  MemoryCountName{"cycles_counted", "counted cyc"},
    MemoryCountName{"l1d_misses", "L1d miss"}, MemoryCountName{"l2_misses", "L2 miss"},
    MemoryCountName{"llc_misses", "LLC miss"}, MemoryCountName{"dtlb_misses", "dTLB miss"}};

/// What `tally memory TASK` found.
struct Memory {
  std::string task;
  Environment environment;
  std::vector<std::pair<std::string, std::string>> settings;  ///< pages, processor, seed, clock …
  std::vector<MemoryPoint> points;
  std::vector<MemoryLevel> levels;
  std::vector<MemoryTlb> tlbs;
  std::vector<MemoryControl> controls;
  std::vector<MemoryHistogram> histograms;
  std::vector<MemoryMap> maps;
  std::vector<MemoryRatio> ratios;
  std::vector<std::pair<std::string, double>> statistics;  ///< what a task concludes, with units in the names
  std::vector<std::string> findings;                       ///< the same in words
  MemoryVerdict verdict;
  std::vector<MemoryCounter> counters;  ///< empty where nothing was counted
  std::string counters_reason;          ///< why no point carries counts
  bool complete = true;                 ///< false after Ctrl-C, an error, or where time ran out
  bool broken_off = false;              ///< by an error, which is among the notices
  std::vector<std::string> notices;
  bool operator==(const Memory&) const = default;

  /// The count of this name among those of a point or a level; nothing where there is none.
  std::optional<double> count_of(const std::vector<double>& counts, std::string_view name) const;
};

}  // namespace tally::result
