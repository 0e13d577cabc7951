#include "tally/linux/perf/sample_record.hpp"

#include <linux/perf_event.h>

#include "tally/linux/perf/record_body.hpp"

namespace tally::linux {

const std::uint64_t sample_record_fields =
    PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_READ;

namespace {

// Behind every record that is no sample (sample_id_all): process and thread, time, id, processor.
constexpr std::size_t trailer_bytes = 32;

SampleRecord sample_of(const RingRecord& record) {
  // address, process and thread, time, id, processor; then how many counters, times, and their values.
  constexpr std::size_t before = 40, head = before + 24;
  const std::span<const std::byte> body = record.body;
  if (body.size() < head) return {};
  const std::uint64_t count = number_at<std::uint64_t>(body, before);
  if (count > (body.size() - head) / sizeof(std::uint64_t)) return {};
  SampleRecord made;
  made.what = SampleRecord::What::sample;
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
  using What = SampleRecord::What;
  if (record.type == PERF_RECORD_SAMPLE) return sample_of(record);
  const std::span<const std::byte> body = record.body;
  if (body.size() < trailer_bytes) return {};
  const std::size_t own = body.size() - trailer_bytes;
  SampleRecord made;
  made.process = number_at<std::int32_t>(body, own);
  made.thread = number_at<std::int32_t>(body, own + 4);
  made.time_ns = number_at<std::int64_t>(body, own + 8);
  made.id = number_at<std::uint64_t>(body, own + 16);
  made.processor = number_at<std::int32_t>(body, own + 24);
  const auto is = [&](What what, std::size_t bytes) {
    if (own >= bytes) made.what = what;
    return own >= bytes;
  };
  switch (record.type) {
    case PERF_RECORD_FORK:
    case PERF_RECORD_EXIT:
      // process, its parent, thread, its parent, time. The trailer has who wrote it.
      if (!is(record.type == PERF_RECORD_FORK ? What::begun : What::ended, 24)) break;
      made.process = number_at<std::int32_t>(body, 0);
      made.thread = number_at<std::int32_t>(body, 8);
      made.parent_thread = number_at<std::int32_t>(body, 12);
      break;
    case PERF_RECORD_COMM:
      // process and thread, the name with zeros behind it.
      if (!(record.misc & PERF_RECORD_MISC_COMM_EXEC) || !is(What::executed, 8)) break;
      made.name = text_at(body, 8, own);
      break;
    case PERF_RECORD_READ:
      // process and thread, the value, two times.
      if (!is(What::end_count, 32)) break;
      made.process = number_at<std::int32_t>(body, 0);
      made.thread = number_at<std::int32_t>(body, 4);
      made.value = number_at<std::int64_t>(body, 8);
      break;
    case PERF_RECORD_LOST:
      if (is(What::lost, 16)) made.value = number_at<std::int64_t>(body, 8);
      break;
    case PERF_RECORD_THROTTLE: is(What::throttled, 24); break;
    default: break;
  }
  return made;
}

}  // namespace tally::linux
