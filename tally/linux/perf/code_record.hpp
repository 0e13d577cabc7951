// What the records say that counters write for a profile: samples of code, and what programs do meanwhile
// (perf_event_open(2), PERF_RECORD_…).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "tally/linux/perf/perf_record.hpp"

namespace tally::linux {

/// PerfSampling::fields of the counters whose records code_record() reads: PERF_SAMPLE_IDENTIFIER, IP, TID, TIME,
/// PERIOD, and with calls CALLCHAIN. `fixed`: all have one period. Then ADDR stands in PERIOD's place, which nobody
/// needs: with PERIOD the kernel records every single event of its own, whatever their period is (perf_swevent_event in
/// kernel/events/core.c).
std::uint64_t code_record_fields(bool calls, bool fixed);

/// A record of counters that were opened with these fields, and `ordered`.
struct CodeRecord : PerfRecord {
  bool in_guest = false;                     ///< of sample: it is one of a virtual machine's
  std::int64_t period = 0;                   ///< of sample: events that it stands for
  std::uint64_t bytes = 0, offset = 0;       ///< of mapped
  std::span<const std::byte> build_id = {};  ///< of mapped: of a file that has one; then all up to the name are 0
  std::uint64_t inode = 0, generation = 0;   ///< of mapped
  std::uint32_t device_major = 0, device_minor = 0;
  std::span<const std::byte> chain =
      {};  ///< of sample: addresses, the innermost first, with the kernel's marks between

  std::size_t depth() const { return chain.size() / sizeof(std::uint64_t); }
  std::uint64_t called(std::size_t i) const {
    std::uint64_t at = 0;
    std::memcpy(&at, chain.data() + i * sizeof at, sizeof at);
    return at;
  }
};

/// Whether an entry of a chain is no address, but says whose the next ones are (enum perf_callchain_context), and
/// whether these are the program's.
bool is_chain_mark(std::uint64_t entry);
bool is_mark_of_user(std::uint64_t entry);

/// perf_record(), with samples and mappings. `calls`: as of the fields; `period`: the fixed one, 0 where there is none.
/// Pure.
CodeRecord code_record(const RingRecord& record, bool calls, std::uint64_t period = 0);

}  // namespace tally::linux
