// Decodes the records of counters that profile: code samples, and what programs do meanwhile (perf_event_open(2),
// PERF_RECORD_…).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "tally/linux/perf/perf_record.hpp"

namespace tally::linux {

/// Returns PerfSampling::fields of counters whose records code_record() decodes: PERF_SAMPLE_IDENTIFIER, IP, TID, TIME,
/// PERIOD, and with calls CALLCHAIN. `fixed`: all records have one period. Then ADDR, which is unused, replaces PERIOD:
/// with PERIOD the kernel records every single software event, whatever the period is (perf_swevent_event in
/// kernel/events/core.c).
std::uint64_t code_record_fields(bool calls, bool fixed);

/// A record of counters that were opened with these fields, and `ordered`.
struct CodeRecord : PerfRecord {
  bool in_guest = false;                     ///< sample: from a virtual machine
  std::int64_t period = 0;                   ///< sample: events that it represents
  std::uint64_t bytes = 0, offset = 0;       ///< of mapped
  std::span<const std::byte> build_id = {};  ///< mapped: of a file that has one; then inode to device are 0
  std::uint64_t inode = 0, generation = 0;   ///< of mapped
  std::uint32_t device_major = 0, device_minor = 0;
  std::span<const std::byte> chain = {};  ///< sample: calls, the innermost first, and context markers of the kernel

  std::size_t depth() const { return chain.size() / sizeof(std::uint64_t); }
  std::uint64_t called(std::size_t i) const {
    std::uint64_t at = 0;
    std::memcpy(&at, chain.data() + i * sizeof at, sizeof at);
    return at;
  }
};

/// Whether an entry of a chain is not an address but a marker of the context of the next ones (enum
/// perf_callchain_context), and whether that context is user mode.
bool is_chain_mark(std::uint64_t entry);
bool is_mark_of_user(std::uint64_t entry);

/// Like perf_record(), and also decodes samples and mappings. `calls`: as for the fields; `period`: the fixed one, or
/// 0. Pure.
CodeRecord code_record(const RingRecord& record, bool calls, std::uint64_t period = 0);

}  // namespace tally::linux
