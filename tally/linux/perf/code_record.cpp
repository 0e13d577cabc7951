#include "tally/linux/perf/code_record.hpp"

#include <linux/perf_event.h>

#include "tally/linux/perf/record_body.hpp"

namespace tally::linux {
namespace {

using Kind = CodeRecord::Kind;
using Bytes = std::span<const std::byte>;

// Follows every record except samples (sample_id_all): process and thread, time, identifier.
constexpr std::size_t code_trailer_bytes = 24;

CodeRecord sample_of(const RingRecord& record, bool calls, std::uint64_t period) {
  // identifier, address, process and thread, time, period or accessed address; with calls their number and addresses.
  constexpr std::size_t plain = 40;
  const Bytes body = record.body;
  if (body.size() < plain + (calls ? 8 : 0)) return {};
  CodeRecord made;
  made.id = number_at<std::uint64_t>(body, 0);
  made.address = number_at<std::uint64_t>(body, 8);
  made.process = number_at<std::int32_t>(body, 16);
  made.thread = number_at<std::int32_t>(body, 20);
  made.time_ns = number_at<std::int64_t>(body, 24);
  made.period = period != 0 ? static_cast<std::int64_t>(period) : number_at<std::int64_t>(body, 32);
  const std::uint64_t depth = calls ? number_at<std::uint64_t>(body, plain) : 0;
  if (calls && depth > (body.size() - plain - 8) / sizeof(std::uint64_t)) return {};
  if (calls) made.chain = body.subspan(plain + 8, depth * sizeof(std::uint64_t));
  const auto mode = record.misc & PERF_RECORD_MISC_CPUMODE_MASK;
  made.in_kernel = mode == PERF_RECORD_MISC_KERNEL || mode == PERF_RECORD_MISC_HYPERVISOR;
  made.in_guest = mode == PERF_RECORD_MISC_GUEST_KERNEL || mode == PERF_RECORD_MISC_GUEST_USER;
  made.what = Kind::sample;
  return made;
}

// process and thread, address, bytes, offset, device, inode and its generation, protection, flags, name. Instead of
// device, inode and generation there may be a build ID: its size, three bytes, at most twenty.
void read_mapping(const RingRecord& record, std::size_t own, CodeRecord& made) {
  constexpr std::size_t before_name = 64;
  const Bytes body = record.body;
  if (own < before_name) return;
  made.process = number_at<std::int32_t>(body, 0);
  made.thread = number_at<std::int32_t>(body, 4);
  made.address = number_at<std::uint64_t>(body, 8);
  made.bytes = number_at<std::uint64_t>(body, 16);
  made.offset = number_at<std::uint64_t>(body, 24);
  if (record.misc & PERF_RECORD_MISC_MMAP_BUILD_ID) {
    constexpr std::size_t most_bytes = 20;
    const auto bytes = number_at<std::uint8_t>(body, 32);
    if (bytes == 0 || bytes > most_bytes) return;
    made.build_id = body.subspan(36, bytes);
  } else {
    made.device_major = number_at<std::uint32_t>(body, 32);
    made.device_minor = number_at<std::uint32_t>(body, 36);
    made.inode = number_at<std::uint64_t>(body, 40);
    made.generation = number_at<std::uint64_t>(body, 48);
  }
  made.name = text_at(body, before_name, own);
  made.what = Kind::mapped;
}

}  // namespace

std::uint64_t code_record_fields(bool calls, bool fixed) {
  return PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
         (fixed ? PERF_SAMPLE_ADDR : PERF_SAMPLE_PERIOD) | (calls ? std::uint64_t{PERF_SAMPLE_CALLCHAIN} : 0);
}

bool is_chain_mark(std::uint64_t entry) { return entry >= static_cast<std::uint64_t>(PERF_CONTEXT_MAX); }

bool is_mark_of_user(std::uint64_t entry) { return entry == static_cast<std::uint64_t>(PERF_CONTEXT_USER); }

CodeRecord code_record(const RingRecord& record, bool calls, std::uint64_t period) {
  if (record.type == PERF_RECORD_SAMPLE) return sample_of(record, calls, period);
  CodeRecord made{perf_record(record, code_trailer_bytes)};
  if (record.type == PERF_RECORD_MMAP2 && record.body.size() >= code_trailer_bytes)
    read_mapping(record, record.body.size() - code_trailer_bytes, made);
  return made;
}

}  // namespace tally::linux
