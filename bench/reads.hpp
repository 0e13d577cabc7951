// Measures the cost of an operation in retired instructions with this machine's PMU.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace bench {

/// Instructions of this thread.
struct Instructions {
  std::int64_t user = 0;
  std::int64_t kernel = 0;
  auto operator<=>(const Instructions&) const = default;
  Instructions operator-(const Instructions& other) const { return {user - other.user, kernel - other.kernel}; }
};

/// Two counters of this thread in a group, always running.
class Meter {
 public:
  /// Exits with the reason if the kernel does not permit counting.
  Meter();
  Meter(const Meter&) = delete;
  Meter& operator=(const Meter&) = delete;
  ~Meter();

  Instructions now() const;

 private:
  std::array<int, 2> fds_{-1, -1};
};

/// The cost of an operation.
struct Cost {
  Instructions each;
  int agreeing = 0;  ///< how many of the `measured` values are equal to the median
  int measured = 0;
};

/// The median cost of two operations minus that of one, which removes the meter's own cost and rare events: timer
/// ticks, and on arm64 the random numbers for the kernel's stack offset, which Linux generates in one of 48 system
/// calls (randomize_kstack_offset).
Cost median_cost(std::vector<Instructions> once, std::vector<Instructions> twice);

/// Measurements of each operation.
inline constexpr int measurements = 101;

/// The cost of an operation and the loop around it. Measure an empty operation to subtract the loop.
template <class Operation>
Cost cost(const Meter& meter, Operation&& operation) {
  constexpr int warm_up = 5;
  const auto times = [&](int n) {
    const Instructions before = meter.now();
#pragma GCC unroll 1
    for (int i = 0; i < n; ++i) {
      operation();
      asm volatile("" : : : "memory");
    }
    return meter.now() - before;
  };
  std::vector<Instructions> once, twice;
  for (int i = 0; i < warm_up + measurements; ++i) {
    const Instructions one = times(1);
    const Instructions two = times(2);
    if (i < warm_up) continue;
    once.push_back(one);
    twice.push_back(two);
  }
  return median_cost(std::move(once), std::move(twice));
}

/// One row of the table.
struct Row {
  std::string name;
  std::string what;
  Cost cost;
  bool is_region = false;  ///< of tally's own; compared with the best of the others
};

/// Rows of one kind. The others are compared with the first.
struct Table {
  std::string title;
  std::vector<Row> rows;
};

/// Adds the rows of tally's regions; returns the reason if there are none.
std::string add_regions(const Meter& meter, int events, Table& regions);

/// Adds PAPI's rows; returns the reason if there are none: PAPI was missing at build time, or does not work here.
std::string add_papi_readings(const Meter& meter, Table& readings);
std::string add_papi_regions(const Meter& meter, int events, Table& regions);

}  // namespace bench
