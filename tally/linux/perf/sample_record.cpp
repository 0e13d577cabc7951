#include "tally/linux/perf/sample_record.hpp"

#include <linux/perf_event.h>

#include "tally/linux/perf/record_body.hpp"

namespace tally::linux {

const std::uint64_t sample_record_fields =
    PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_READ;

namespace {

// Follows every record except samples (sample_id_all): process and thread, time, ID, CPU.
constexpr std::size_t trailer_bytes = 32;

SampleRecord sample_of(const RingRecord& record) {
  // address, process and thread, time, ID, CPU; then the number of counters, times, and their values.
  constexpr std::size_t before = 40, head = before + 24;
  const std::span<const std::byte> body = record.body;
  if (body.size() < head) return {};
  const std::uint64_t count = number_at<std::uint64_t>(body, before);
  if (count > (body.size() - head) / sizeof(std::uint64_t)) return {};
  SampleRecord made;
  made.what = SampleRecord::Kind::sample;
  made.address = number_at<std::uint64_t>(body, 0);
  made.process = number_at<std::int32_t>(body, 8);
  made.thread = number_at<std::int32_t>(body, 12);
  made.time_ns = number_at<std::int64_t>(body, 16);
  made.id = number_at<std::uint64_t>(body, 24);
  made.processor = number_at<std::int32_t>(body, 32);
  made.in_kernel = (record.misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
  made.raw = body.subspan(head, count * sizeof(std::uint64_t));
  return made;
}

}  // namespace

SampleRecord sample_record(const RingRecord& record) {
  if (record.type == PERF_RECORD_SAMPLE) return sample_of(record);
  if (record.body.size() < trailer_bytes) return {};
  SampleRecord made{perf_record(record, trailer_bytes)};
  if (record.type == PERF_RECORD_MMAP2) made.what = SampleRecord::Kind::mapped;
  made.processor = number_at<std::int32_t>(record.body, record.body.size() - trailer_bytes + 24);
  return made;
}

}  // namespace tally::linux
