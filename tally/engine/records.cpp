#include "tally/engine/records.hpp"

#include <linux/prctl.h>

#include "tally/engine/code_log_writer.hpp"
#include "tally/engine/sharing.hpp"

namespace tally::engine {

OwnRecords own_records;

void take_settings() {
  const channel::Settings& from = own_records.shared.header().settings;
  static_assert(sizeof(channel::Settings) % sizeof(u64) == 0 && alignof(channel::Settings) == sizeof(u64));
  const u64* const words = reinterpret_cast<const u64*>(&from);
  u64* const to = reinterpret_cast<u64*>(&own_records.settings);
  for (u32 i = 0; i < sizeof(channel::Settings) / sizeof(u64); i++)
    if (words[i] != 0) to[i] = words[i];
}
namespace {

/// A thread that died while it changed the list may have left it half linked. The list is what its head reaches.
void repair_list() {
  Thread* before = nullptr;
  u32 n = 0;
  for (Thread* t = own_records.live; t != nullptr; t = t->next) {
    t->before = before;
    before = t;
    n += t->process == own_records.process;
  }
  own_records.threads = n;
}

}  // namespace

Lock threads_lock{repair_list};
bool fsgsbase_allowed;
void (*on_correction)(Thread* t, u64 pc, const channel::Totals& delta);

void link_in(Thread* t) {
  t->before = nullptr;
  t->next = own_records.live;
  if (own_records.live != nullptr) own_records.live->before = t;
  __atomic_store_n(&own_records.live, t,
                   __ATOMIC_RELEASE);  // if a thread dies here, it is either completely in the list or not at all
  if (t->process == own_records.process) own_records.threads++;
}

bool is_linked(const Thread* t) {
  for (const Thread* o = own_records.live; o != nullptr; o = o->next)
    if (o == t) return true;
  return false;
}

void unlink(Thread* t) {
  (t->before != nullptr ? t->before->next : own_records.live) = t->next;
  if (t->next != nullptr) t->next->before = t->before;
  if (t->process == own_records.process) own_records.threads--;
}

/// The caller must hold threads_lock, because a thread that ends changes lists.
bool is_last_of(u32 process) {
  if (process == own_records.process) return own_records.threads == 1;
  u32 n = 0;
  for (const Thread* t = own_records.live; t != nullptr; t = t->next) n += t->process == process;
  return n == 1;
}

const channel::Settings& settings() { return own_records.settings; }
channel::Records records() { return own_records.shared; }
Thread* threads() { return own_records.live; }
u32 own_process_number() { return own_records.process; }
channel::Process& process_record(Thread* t) { return own_records.shared.process(t->process); }
channel::SegmentVector& segment(u32 number) { return own_records.vectors[number]; }

void add_segment(channel::Totals& totals, u32 number, s64 n) {
  totals.add(own_records.vectors[number], n);
  if (own_records.rows != nullptr) totals.add(own_records.rows[number], n);
}

u32 segment_limit_so_far() { return own_records.segments; }

u32 new_segment(const channel::SegmentVector& v) { return new_segments(&v, 1); }

u32 placed(u32 number, u32 n) {
  // A processor that searches for the store of a loaded value compares the low 12 bits of addresses first. A counter
  // that shared them with a save slot of generated code would delay every load of the slot: one program took half as
  // long again.
  constexpr u32 first = 0x80 / 8, end_of_spills = 0x100 / 8, end_of_sums = o_popcount / 8;
  static_assert(o_spill1 >= first * 8 && o_borrowed_r11 < end_of_spills * 8 && counters_at % page_bytes == 0);
  const bool sums = own_records.settings.windows.on != 0 || own_records.settings.follows_calls != 0 ||
                    own_records.settings.marks.python != 0;
  const u32 last = sums ? end_of_sums : end_of_spills;
  const u32 in_page = number % counters_per_page;
  return in_page + n > first && in_page < last ? number + last - in_page : number;
}

void place_segments(u32 n) { own_records.segments = placed(own_records.segments, n); }

u32 new_segments(const channel::SegmentVector* v, u32 n) {
  if (own_records.segments + n > channel::segment_limit) return 0;
  const u32 number = own_records.segments;
  for (u32 i = 0; i < n; i++) own_records.vectors[number + i] = v[i];
  if (own_records.rows != nullptr) clear(own_records.rows + number, n * sizeof *own_records.rows);
  own_records.segments += n;
  own_records.shared.process(own_records.process).segments =
      own_records.segments;  // a vfork child shares them: see Process::vectors
  return number;
}

u32 new_segment_pages(const channel::SegmentVector* v, u32 n) {
  const u32 first = (own_records.segments + counters_per_page - 1) / counters_per_page * counters_per_page;
  if (first + n > channel::segment_limit) return 0;
  own_records.segments = first;
  populate(&own_records.vectors[first], n * sizeof *v);
  return new_segments(v, n);
}

void set_gs(u64 base) {
  if (fsgsbase_allowed)
    __builtin_ia32_wrgsbase64(base);
  else
    kernel(SYS_arch_prctl, 0x1001, base);
}

void mark_partial(Thread* t, channel::Partial why) {
  __atomic_or_fetch(&process_record(t).partial, static_cast<u32>(why), __ATOMIC_RELAXED);
}

void unmark_partial(Thread* t, channel::Partial why) {
  __atomic_and_fetch(&process_record(t).partial, ~static_cast<u32>(why), __ATOMIC_RELAXED);
}

void correct(Thread* t, u64 pc, const channel::Totals& delta) {
  own_records.shared.thread(t->index).base.add(delta);
  code_log_correct(t, pc, delta, t->part);
  if (on_correction != nullptr) on_correction(t, pc, delta);
  count_down(t, delta);
}

s64 amount_of(u32 trigger, const channel::Totals& totals) {
  s64 n = 0;
  for (u32 i = 0; i < counted_fields(); i++) n += own_records.countdown[trigger].weight[i] * totals.field[i];
  return n;
}

void count_down(Thread* t, const channel::Totals& delta) {
  for (u32 k = 0; k < own_records.countdowns; k++) t->countdown[k] -= amount_of(k, delta);
}

void name_thread(Thread* t) {
  kernel(SYS_prctl, PR_GET_NAME, reinterpret_cast<u64>(own_records.shared.thread(t->index).name));
}

bool is_last(const Thread* t) {
  Guard guard(threads_lock);
  return is_last_of(t->process);
}

u64 processor_ns() {
  u64 time[2] = {};
  kernel(SYS_clock_gettime, 2 /* CLOCK_PROCESS_CPUTIME_ID */, reinterpret_cast<u64>(time));
  return time[0] * 1'000'000'000 + time[1];
}

void end_as(Thread* t, channel::End how, int code) {
  channel::Process& p = process_record(t);
  p.end = how;
  p.end_code = code;
  p.counted_ns = processor_ns();
}

void write_back(Thread* t) {
  channel::Process& p = process_record(t);
  p.counted_ns = p.handed_back_ns = processor_ns();
}

}  // namespace tally::engine
