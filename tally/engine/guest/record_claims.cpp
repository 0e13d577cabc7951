#include "tally/engine/guest/record_claims.hpp"

namespace tally::engine::guest {
namespace {

using channel::State;

/// Takes over the record of a process that has ended and whose counts are final. Returns 0 if none was found.
u32 reused_process_record(u32 limit) {
  channel::Header& header = own_records.shared.header();
  constexpr u32 most_tries = 1 << 16;
  for (u32 tries = 0; tries < limit && tries < most_tries; tries++) {
    const u32 i = 1 + __atomic_fetch_add(&header.next_reused, 1, __ATOMIC_RELAXED) % (limit - 1);
    channel::Process& p = own_records.shared.process(i);
    // The areas are released last. The record of a process that continued natively may still be needed for its time.
    if (p.state != State::ended || p.end == channel::End::unknown || p.handed_back_ns != 0 ||
        __atomic_load_n(&p.vectors, __ATOMIC_ACQUIRE) != 0)
      continue;
    u32 ended = static_cast<u32>(State::ended);
    if (!__atomic_compare_exchange_n(reinterpret_cast<u32*>(&p.state), &ended, static_cast<u32>(State::running), false,
                                     __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
      continue;
    p.pid = p.parent_pid = 0;
    p.end = channel::End::unknown;
    p.leaving = channel::leaving_none;
    p.leaves_stopped = 0;
    p.before++;
    __atomic_add_fetch(&header.reused, 1, __ATOMIC_RELAXED);
    return i;
  }
  return 0;
}

}  // namespace

u32 new_process_record(u32 forked_from) {
  channel::Header& header = own_records.shared.header();
  const u32 limit = header.settings.process_limit != 0 ? header.settings.process_limit : channel::process_limit;
  u32 last = __atomic_load_n(&header.next_process, __ATOMIC_RELAXED);
  while (last + 1 < limit && !__atomic_compare_exchange_n(&header.next_process, &last, last + 1, false,
                                                          __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
  const u32 i = last + 1 < limit ? last + 1 : reused_process_record(limit);
  if (i != 0) own_records.shared.process(i).forked_from = forked_from;
  return i;
}

u32 new_thread_record(u32 process) {
  const u32 i = __atomic_add_fetch(&own_records.shared.header().next_thread, 1, __ATOMIC_RELAXED);
  if (i >= channel::thread_limit) return 0;
  own_records.shared.thread(i).process = process;
  return i;
}

bool takes_over(const Thread* t, u32 process) {
  if (t->index == 0 ||
      __atomic_load_n(&own_records.shared.header().next_thread, __ATOMIC_RELAXED) < channel::threads_distinguished)
    return false;
  const channel::Thread& record = own_records.shared.thread(t->index);
  return record.process == process && record.state == State::ended && record.area == 0;
}

u32 left_thread_record(u32 process) {
  const channel::Process& p = own_records.shared.process(process);
  if (p.before == 0 || p.thread == 0) return 0;
  const channel::Thread& record = own_records.shared.thread(p.thread);
  return record.process == process && record.state == State::ended && record.area == 0 ? p.thread : 0;
}

}  // namespace tally::engine::guest
