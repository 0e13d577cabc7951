// Where the page faults of a command were: each is sampled with its address.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>

#include "tally/linux/perf/perf_event.hpp"

namespace tally::linux {

/// Page faults by the mebibyte of address space that they were in.
struct FaultPlaces {
  std::map<std::uint64_t, std::int64_t> in_mebibyte;  ///< its number: address >> 20
  std::int64_t lost = 0;                              ///< for which the ring had no room: they were nowhere
  bool operator==(const FaultPlaces&) const = default;
};

/// Follows the page faults of the next program that a child of the thread executes, and of all that it starts. A thread
/// reads the rings, one for each processor, while it lives.
class FaultLog {
 public:
  /// `event`: page faults of a kind; of the whole, or of user mode alone. Nothing where the kernel refuses; then
  /// nobody can tell where they were. Cost: a counter, a descriptor and 128 KiB for each processor; and each fault
  /// takes some 0.2 µs more.
  static std::optional<FaultLog> open(KernelEvent event, bool user_only);

  FaultLog(FaultLog&&) noexcept;
  FaultLog& operator=(FaultLog&&) noexcept;
  ~FaultLog();

  /// All that came until now, once; ends the reading.
  FaultPlaces finish();

 private:
  struct Reader;
  explicit FaultLog(std::unique_ptr<Reader> reader);
  std::unique_ptr<Reader> reader_;
};

}  // namespace tally::linux
