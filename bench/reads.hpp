// What one operation costs in retired instructions, counted by the PMU of the machine that it runs on.
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

/// A group of two counters of this thread that run all the time.
class Meter {
 public:
  /// Ends the program, with the reason, where the kernel does not let it count.
  Meter();
  Meter(const Meter&) = delete;
  Meter& operator=(const Meter&) = delete;
  ~Meter();

  Instructions now() const;

 private:
  std::array<int, 2> fds_{-1, -1};
};

/// What one operation costs.
struct Cost {
  Instructions each;
  int agreeing = 0;  ///< so many of `measured` were this very number
  int measured = 0;
};

/// The median of what two operations cost more than one, each done so often: the meter's own part falls out, and so
/// does what hits a few of them only. A tick of the clock does, and Linux's arm64 entry: one system call in 48 makes
/// new random numbers for the place of the kernel's stack (randomize_kstack_offset).
Cost median_cost(std::vector<Instructions> once, std::vector<Instructions> twice);

/// How often each operation is measured.
inline constexpr int measurements = 101;

/// The cost of an operation, with that of the loop around it: measure an empty one to take that off.
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
  bool is_region = false;  ///< tally's own; set against the best of the others
};

/// Rows of one kind: the first is what the others are compared with.
struct Table {
  std::string title;
  std::vector<Row> rows;
};

/// The rows of tally's regions are added, or why there are none is returned.
std::string add_regions(const Meter& meter, int events, Table& regions);

/// PAPI's rows are added, or why there are none is returned: it was not there when this was built, or it refuses to
/// work here.
std::string add_papi_readings(const Meter& meter, Table& readings);
std::string add_papi_regions(const Meter& meter, int events, Table& regions);

}  // namespace bench
