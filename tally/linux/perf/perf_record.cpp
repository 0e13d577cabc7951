#include "tally/linux/perf/perf_record.hpp"

#include <linux/perf_event.h>

#include "tally/linux/perf/record_body.hpp"

namespace tally::linux {
namespace {

using What = PerfRecord::What;

/// Returns the kind of a record; `other` if it is too short for its type.
What what_of(const RingRecord& record, std::size_t own) {
  const auto at_least = [own](std::size_t bytes, What what) { return own >= bytes ? what : What::other; };
  switch (record.type) {
    case PERF_RECORD_FORK: return at_least(24, What::begun);
    case PERF_RECORD_EXIT: return at_least(24, What::ended);
    case PERF_RECORD_COMM: return at_least(8, record.misc & PERF_RECORD_MISC_COMM_EXEC ? What::executed : What::named);
    case PERF_RECORD_READ: return at_least(32, What::end_count);
    case PERF_RECORD_LOST: return at_least(16, What::lost);
    case PERF_RECORD_THROTTLE: return at_least(24, What::throttled);
    default: return What::other;
  }
}

}  // namespace

PerfRecord perf_record(const RingRecord& record, std::size_t trailer_bytes) {
  const std::span<const std::byte> body = record.body;
  if (body.size() < trailer_bytes) return {};
  const std::size_t own = body.size() - trailer_bytes;
  PerfRecord made;
  made.process = number_at<std::int32_t>(body, own);
  made.thread = number_at<std::int32_t>(body, own + 4);
  made.time_ns = number_at<std::int64_t>(body, own + 8);
  made.id = number_at<std::uint64_t>(body, own + 16);
  made.what = what_of(record, own);
  switch (made.what) {
    case What::begun:
    case What::ended:
      // process, its parent, thread, its parent, time. The trailer contains the task that wrote it.
      made.process = number_at<std::int32_t>(body, 0);
      made.parent_process = number_at<std::int32_t>(body, 4);
      made.thread = number_at<std::int32_t>(body, 8);
      made.parent_thread = number_at<std::int32_t>(body, 12);
      break;
    case What::named:
    case What::executed:
      // process and thread, the name padded with zeros.
      made.process = number_at<std::int32_t>(body, 0);
      made.thread = number_at<std::int32_t>(body, 4);
      made.name = text_at(body, 8, own);
      break;
    case What::end_count:
      // process and thread, the value, two times.
      made.process = number_at<std::int32_t>(body, 0);
      made.thread = number_at<std::int32_t>(body, 4);
      made.value = number_at<std::int64_t>(body, 8);
      break;
    // a counter's ID, which may be that of one that inherited it, and the number.
    case What::lost: made.value = number_at<std::int64_t>(body, 8); break;
    default: break;
  }
  return made;
}

}  // namespace tally::linux
