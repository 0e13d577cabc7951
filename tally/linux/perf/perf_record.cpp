#include "tally/linux/perf/perf_record.hpp"

#include <linux/perf_event.h>

#include "tally/linux/perf/record_body.hpp"

namespace tally::linux {
namespace {

using Kind = PerfRecord::Kind;

/// Returns the kind of a record; `other` if it is too short for its type.
Kind what_of(const RingRecord& record, std::size_t own) {
  const auto at_least = [own](std::size_t bytes, Kind what) { return own >= bytes ? what : Kind::other; };
  switch (record.type) {
    case PERF_RECORD_FORK: return at_least(24, Kind::begun);
    case PERF_RECORD_EXIT: return at_least(24, Kind::ended);
    case PERF_RECORD_COMM: return at_least(8, record.misc & PERF_RECORD_MISC_COMM_EXEC ? Kind::executed : Kind::named);
    case PERF_RECORD_READ: return at_least(32, Kind::end_count);
    case PERF_RECORD_LOST: return at_least(16, Kind::lost);
    case PERF_RECORD_THROTTLE: return at_least(24, Kind::throttled);
    default: return Kind::other;
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
    case Kind::begun:
    case Kind::ended:
      // process, its parent, thread, its parent, time. The trailer contains the task that wrote it.
      made.process = number_at<std::int32_t>(body, 0);
      made.parent_process = number_at<std::int32_t>(body, 4);
      made.thread = number_at<std::int32_t>(body, 8);
      made.parent_thread = number_at<std::int32_t>(body, 12);
      break;
    case Kind::named:
    case Kind::executed:
      // process and thread, the name padded with zeros.
      made.process = number_at<std::int32_t>(body, 0);
      made.thread = number_at<std::int32_t>(body, 4);
      made.name = text_at(body, 8, own);
      break;
    case Kind::end_count:
      // process and thread, the value, two times.
      made.process = number_at<std::int32_t>(body, 0);
      made.thread = number_at<std::int32_t>(body, 4);
      made.value = number_at<std::int64_t>(body, 8);
      break;
    // a counter's ID, which may be that of one that inherited it, and the number.
    case Kind::lost: made.value = number_at<std::int64_t>(body, 8); break;
    default: break;
  }
  return made;
}

}  // namespace tally::linux
