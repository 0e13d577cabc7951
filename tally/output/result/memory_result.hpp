// The result of `tally memory`: measurements of the memory hierarchy, and conclusions from them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tally/output/result/stat_result.hpp"

namespace tally::result {

/// One measurement: a row of the CSV.
struct MemoryPoint {
  std::string task;      ///< "curve", "chase-read" …
  std::string quantity;  ///< the operation that `ns` is the time of: "load", "write", "read", "raw" …, per 64-byte line
                         ///< or per step
  std::string mode;   ///< "lap", "cold by-size", "cold by-flush"
  std::string order;  ///< of the blocks: "random", "page-local" …
  std::uint64_t region_bytes = 0;
  std::uint64_t block_bytes = 0;
  std::uint64_t stride_bytes = 0;
  std::uint64_t count = 0;    ///< blocks of a region
  std::uint64_t regions = 1;  ///< visited in one timed body
  std::uint64_t laps = 0;     ///< passes over one region; 0 if that is not a whole number
  std::string pages_asked;
  std::string pages_got;  ///< empty if the kernel does not report it
  std::optional<int> node;
  int threads = 1;
  std::string store;  ///< kind of store; empty without stores
  std::string load;
  std::string fence;
  std::uint64_t seed = 0;
  std::int64_t mappings = 0;
  std::optional<std::int64_t>
      mappings_kept;  ///< mappings used for the timing, if some were or might have been left out
  /// The share of loads that memory served, if the system reports a shared cache that should have served them.
  std::optional<double> from_memory;
  std::int64_t batches = 0;   ///< accepted
  std::int64_t rejected = 0;  ///< discarded because of interference
  std::optional<double> ns;
  std::optional<double> ns_min;  ///< of whole laps only
  std::optional<double> ns_low;  ///< 95 % interval
  std::optional<double> ns_high;
  std::optional<double> cycles;         ///< core cycles, from the clock frequency during the measurement
  std::optional<double> mb_per_second;  ///< for bandwidth tasks: 10^6 bytes per second
  /// PMU counts per step, as `ns`: one for each of Memory::counters that was counted, in that order; empty if nothing
  /// was counted. Memory::count_of() finds one.
  std::vector<double> counts;
  std::vector<std::string> flags;  ///< "contended: …", "few batches"
  bool operator==(const MemoryPoint&) const = default;
};

/// How reliable a finding is.
enum class Grade { high, medium, low };

/// "high", "medium", "low".
std::string_view name(Grade grade);

/// The grade of that name; low for any other word.
Grade grade_of(std::string_view word);

/// One level of the hierarchy.
struct MemoryLevel {
  std::string name{};                      ///< "L1d", "L2", "LLC", "memory"
  std::optional<double> capacity_bytes{};  ///< measured; none for memory, and if the latency never rises
  std::optional<double> capacity_low{};    ///< 95 % interval
  std::optional<double> capacity_high{};
  std::optional<std::int64_t> reported_bytes{};  ///< by the system
  bool snapped =
      false;  ///< printed as the reported size, because the measured one is close to it and the level is not shared
  bool effective = false;              ///< what one thread can use here, not the size of the cache
  std::string shape{};                 ///< of its rise
  std::optional<double> half_bytes{};  ///< where the latency is half-way to that of the next level
  std::optional<double> knee_bytes{};
  double ns = 0;  ///< 0 if the machine was too busy to measure it
  std::optional<double> ns_low{}, ns_high{};
  std::optional<double> cycles{};
  std::optional<std::int64_t> line_bytes{};
  std::optional<std::int64_t> ways{}, sets{};
  /// PMU counts per load on its plateau, as MemoryPoint::counts.
  std::vector<double> counts{};
  Grade grade = Grade::low;
  bool contended = false;  ///< the machine was too busy: values are missing for that reason
  bool unseen = false;     ///< reported by the system, or it must exist, but the curve does not show where it ends
  std::string because{};
  bool operator==(const MemoryLevel&) const = default;
};

/// One translation buffer.
struct MemoryTlb {
  std::string name{};  ///< "DTLB"
  std::int64_t entries = 0;
  std::optional<std::int64_t> ways{}, sets{};
  std::int64_t granule_bytes = 0;  ///< address range that an entry translates
  double penalty_ns = 0;           ///< additional time of a miss
  Grade grade = Grade::low;
  std::string because{};
  bool unseen = false;  ///< no measurement shows it: entries and penalty are unknown
  bool operator==(const MemoryTlb&) const = default;
};

/// Frequencies of values, in ascending bins. Only bins with values are listed.
struct MemoryHistogram {
  /// Values in [low, high).
  struct Bin {
    double low = 0;
    double high = 0;
    std::int64_t count = 0;
    bool operator==(const Bin&) const = default;
  };
  std::string name;   ///< "write", "gap between slow writes"
  std::string group;  ///< histograms of one group are drawn together: a series and its control
  std::string unit;   ///< of the values: "ns", "writes"
  std::vector<Bin> bins;
  bool operator==(const MemoryHistogram&) const = default;
};

/// A value for each combination of two variables.
struct MemoryMap {
  struct Cell {
    double x = 0;
    double y = 0;
    double value = 0;
    bool operator==(const Cell&) const = default;
  };
  std::string name;
  std::string x_name, y_name;  ///< axis titles: "region", "processor"
  bool x_is_size = true;       ///< the values are bytes
  bool y_is_size = true;
  std::string unit;  ///< of the values
  std::vector<Cell> cells;
  bool operator==(const MemoryMap&) const = default;
};

/// The ratio of times at one size.
struct MemoryRatio {
  std::string name;  ///< "raw / (write + read)"
  std::uint64_t region_bytes = 0;
  std::uint64_t block_bytes = 0;
  double value = 0;
  std::optional<double> low, high;  ///< interval of the value, if known
  std::string verdict;              ///< conclusion: "served above", "not forwarded", "undecided"
  std::string reason{};             ///< why it is undecided, and what to do; otherwise empty
  bool operator==(const MemoryRatio&) const = default;
};

/// A check next to the measurement that must have the expected result.
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
  double reference_moved_percent = 0;  ///< range of the L1 reference ring: slowest against fastest
  std::string text;
  std::string cause{};   ///< the most frequent reason of flagged points; may be empty
  std::string advice{};  ///< what to do next; empty if nothing is contended
  bool operator==(const MemoryVerdict&) const = default;
};

/// An event that a PMU was asked to count during the measurement.
struct MemoryCounter {
  std::string name;    ///< "instructions", "l1d_misses": one of memory_counts
  std::string event;   ///< "L1-dcache-load-misses:u"
  std::string source;  ///< the PMU that counted
  std::string doubt;   ///< why the counts are less reliable; may be empty
  std::string reason;  ///< why it was not counted; empty if it was
  bool operator==(const MemoryCounter&) const = default;
};

/// All counts of `tally memory`, in the order of the columns.
struct MemoryCountName {
  std::string_view name;   ///< in JSON and CSV
  std::string_view title;  ///< in column headings
};
inline constexpr std::array memory_counts{
    MemoryCountName{"instructions", "instr"},  MemoryCountName{"cycles_counted", "counted cyc"},
    MemoryCountName{"l1d_misses", "L1d miss"}, MemoryCountName{"l2_misses", "L2 miss"},
    MemoryCountName{"llc_misses", "LLC miss"}, MemoryCountName{"dtlb_misses", "dTLB miss"}};

/// The result of `tally memory TASK`.
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
  std::vector<std::pair<std::string, double>> statistics;  ///< conclusions of a task, with units in the names
  std::vector<std::string> findings;                       ///< the same as sentences
  Ceilings ceilings;                                       ///< of the task ceilings
  MemoryVerdict verdict;
  std::optional<double> ticks_per_ns;   ///< of the time-stamp counter; unknown for results of other tools
  std::vector<MemoryCounter> counters;  ///< empty if no events were counted
  std::string counters_reason;          ///< why points have no counts
  bool complete = true;                 ///< false after Ctrl-C, an error, or if time ran out
  bool stopped_by_error = false;        ///< by an error, which is in the notices
  std::vector<std::string> notices;
  bool operator==(const Memory&) const = default;

  /// The count of this name in the counts of a point or a level, if it is there.
  std::optional<double> count_of(const std::vector<double>& counts, std::string_view name) const;
};

}  // namespace tally::result
