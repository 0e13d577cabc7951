// Records where a command's page faults were: samples each one with its address.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>

#include "tally/linux/perf/perf_event.hpp"

namespace tally::linux {

/// Page faults by the mebibyte of address space in which they were.
struct FaultPlaces {
  std::map<std::uint64_t, std::int64_t> in_mebibyte;  ///< by address >> 20
  std::int64_t lost = 0;                              ///< the ring had no room: their addresses are unknown
  bool operator==(const FaultPlaces&) const = default;
};

/// Records the page faults of the next program that a child of the thread executes, and of all that it starts. A thread
/// reads the rings, one for each CPU, during its lifetime.
class FaultLog {
 public:
  /// `event`: a kind of page faults; all of them, or only those in user mode. Nothing if the kernel refuses: then their
  /// addresses are unknown. Cost: a counter, a descriptor and 128 KiB for each CPU, and some 0.2 µs for each fault.
  static std::optional<FaultLog> open(KernelEvent event, bool user_only);

  FaultLog(FaultLog&&) noexcept;
  FaultLog& operator=(FaultLog&&) noexcept;
  ~FaultLog();

  /// Stops recording, and returns all faults so far once.
  FaultPlaces finish();

 private:
  struct Reader;
  explicit FaultLog(std::unique_ptr<Reader> reader);
  std::unique_ptr<Reader> reader_;
};

}  // namespace tally::linux
