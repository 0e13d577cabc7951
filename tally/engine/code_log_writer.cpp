#include "tally/engine/code_log_writer.hpp"

#include <sys/mman.h>

#include "tally/engine/channel/hash.hpp"
#include "tally/engine/inherited.hpp"
#include "tally/engine/records.hpp"

namespace tally::engine {
namespace {

using channel::CodeLog;

CodeLog* log_;       // null: the process has no log
u32 number_, next_;  // number of this log; number of the log of a child that is about to be forked
u64* collected_at_;  // address at which a counter area is mapped while counts are added to it
u32 shared_area_;    // area of the threads that have no area of their own

constexpr u64 spare_bytes = 1 << 20;

u32 new_log(u32 process, u32 parent, u64 inherited_bytes) {
  const u32 number = __atomic_add_fetch(&own_records.shared.header().next_code_log, 1, __ATOMIC_RELAXED);
  if (number >= channel::code_log_limit) return 0;
  const CodeLog head{process, parent, inherited_bytes, channel::code_records_at};
  return write_to_channel(&head, sizeof head, channel::code_log_offset(number)) ? number : 0;
}

bool map_log(u32 number) {
  static u64 address;
  if (address == 0) address = try_reserve(channel::code_log_bytes, PROT_NONE);
  if (address == 0 || number == 0 || !map_channel(address, channel::code_log_bytes, channel::code_log_offset(number)))
    return false;
  log_ = reinterpret_cast<CodeLog*>(address);
  number_ = number;
  return true;
}

/// Threads for which this is false are summed as thread 0.
bool has_own_totals(const Thread* t) {
  return t->process != own_records.process || t->index < channel::code_threads_distinguished ||
         settings().parts.on != 0;
}

/// The offset at which the log is full.
u64 log_end() {
  return settings().log_limit != 0 ? channel::code_records_at + settings().log_limit : channel::code_log_bytes;
}

}  // namespace

u32 (*code_log_mapping_of)(u64 pc);

u32 code_log_area(channel::CodeRecordKind kind, u32 process, u32 thread, u32 part) {
  const u32 area = channel::take_area(own_records.shared, own_records.shared.header().free_counters);
  auto* const record = reinterpret_cast<channel::CodeCounts*>(code_log_begin(sizeof(channel::CodeCounts)));
  if (area != 0 && record == nullptr)
    channel::release_area(own_records.shared, own_records.shared.header().free_counters, area);
  if (area == 0 || record == nullptr) return 0;
  record->process = process;
  record->thread = thread;
  record->area = area;
  record->part = part;
  code_log_end(&record->head, kind);
  return area;
}

u64 map_code_log_area(u32 area, u64 address) {
  if (address == 0) address = try_reserve(channel::area_bytes, PROT_NONE);
  if (area == 0 || address == 0) return 0;
  return map_channel(address, channel::area_bytes, channel::area_offset(area)) ? address : 0;
}

bool logs_code() { return log_ != nullptr; }

u32 code_log_number() { return number_; }

bool code_log_init(u32 process) {
  if (settings().logs_code == 0) return true;
  collected_at_ = reinterpret_cast<u64*>(try_reserve(counters_bytes, PROT_NONE));
  return collected_at_ != nullptr && map_log(new_log(process, 0, 0));
}

u8* code_log_begin(u64 bytes) {
  bytes = (bytes + 7) & ~u64{7};
  const u64 at = __atomic_fetch_add(&log_->bytes, bytes, __ATOMIC_RELAXED);
  if (at + bytes > log_end()) return nullptr;
  u8* const record_bytes = reinterpret_cast<u8*>(log_) + at;
  reinterpret_cast<channel::CodeRecord*>(record_bytes)->bytes = static_cast<u32>(bytes);
  return record_bytes;
}

void code_log_end(channel::CodeRecord* record, channel::CodeRecordKind kind) {
  __atomic_store_n(reinterpret_cast<u32*>(&record->kind), static_cast<u32>(kind), __ATOMIC_RELEASE);
}

const u8* code_log_end_so_far() {
  const u64 bytes = __atomic_load_n(&log_->bytes, __ATOMIC_RELAXED), end = log_end();
  return reinterpret_cast<const u8*>(log_) + (bytes < end ? bytes : end);
}

bool code_log_has_room(u64 bytes) {
  return log_ == nullptr ||
         __atomic_load_n(&log_->bytes, __ATOMIC_RELAXED) + bytes + spare_bytes < channel::code_log_bytes;
}

void code_log_collect(Thread* t, const u64* c, u32 n) {
  if (log_ == nullptr) return;
  u32* area = t->part == 0 ? &t->collected : &t->collected_of_part;
  if (*area == 0) {
    const bool alone = has_own_totals(t);
    if (!alone) area = &shared_area_;
    if (*area == 0) *area = code_log_area(channel::CodeRecordKind::counts, t->process, alone ? t->index : 0, t->part);
    if (*area == 0) return;
  }
  const u64 bytes = page_up(u64{n} * 8);
  const u64 at = reinterpret_cast<u64>(collected_at_);
  if (!map_channel(at, bytes, channel::area_offset(*area))) return;
  for (u32 i = 0; i < n; i++)
    if (c[i] != 0) collected_at_[i] += c[i];
  kernel(SYS_mmap, at, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1ull, 0);
}

void code_log_new_thread(Thread* t) { t->collected = t->collected_of_part = 0; }

void code_log_enter_part(Thread* t, u32 part) {
  if (part != 0 && part != t->collected_part) {
    t->collected_part = part;
    t->collected_of_part = 0;
  }
  t->part = part;
  own_records.shared.thread(t->index).part = part;
}

void code_log_shares(u32 process) {
  if (log_ == nullptr) return;
  auto* const record = reinterpret_cast<channel::CodeCounts*>(code_log_begin(sizeof(channel::CodeCounts)));
  if (record == nullptr) return;
  record->process = process;
  code_log_end(&record->head, channel::CodeRecordKind::shared);
}

namespace {

/// Returns false if the table is full.
bool add_correction(u32 process, u32 thread, u32 part, u64 pc, const channel::Totals& delta) {
  constexpr u32 mask = channel::code_correction_limit - 1, most_tries = 64;
  auto* const table =
      reinterpret_cast<channel::CodeCorrection*>(reinterpret_cast<u64>(log_) + channel::code_corrections_at);
  const u64 site = channel::code_site(pc, code_log_mapping_of != nullptr ? code_log_mapping_of(pc) : 0);
  // Neighbouring instructions have neighbouring entries, so that few pages are written.
  const u32 line = channel::hash_bits(site >> 5 ^ u64{thread} << 40, 24);
  u32 i = (line << 3 | (pc >> 2 & 7)) & mask;
  for (u32 tries = 0; tries < most_tries; tries++, i = (i + 1) & mask) {
    channel::CodeCorrection& c = table[i];
    u64 found = 0;
    if (__atomic_compare_exchange_n(&c.site, &found, site, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
      c.process = process;
      c.thread = thread;
      c.part = part;
    } else if (found != site || c.process != process || c.thread != thread || c.part != part) {
      continue;
    }
    for (u32 f = 0; f < channel::field_count; f++)
      if (delta.field[f] != 0) __atomic_add_fetch(&c.field[f], delta.field[f], __ATOMIC_RELAXED);
    return true;
  }
  return false;
}

}  // namespace

void code_log_correct(Thread* t, u64 pc, const channel::Totals& delta, u32 part) {
  if (log_ == nullptr) return;
  const u32 thread = has_own_totals(t) ? t->index : 0;
  if (!add_correction(t->process, thread, part, pc, delta) && thread != 0)
    add_correction(t->process, 0, part, pc, delta);
}

bool code_log_restarts(u32 segments) {
  if (log_ == nullptr) return true;
  if (segments < channel::segment_limit / 4 * 3 && code_log_has_room(channel::code_log_bytes / 4)) return false;
  const u32 another = new_log(own_records.process, 0, 0);
  // Without a new log, later counts are not assigned to code.
  if (!map_log(another)) log_ = nullptr;
  shared_area_ = 0;
  for (Thread* t = own_records.live; t != nullptr; t = t->next) code_log_new_thread(t);
  return true;
}

bool code_log_fork(u32 process) {
  if (log_ == nullptr) return true;
  next_ = new_log(process, number_, log_->bytes);
  return next_ != 0;
}

void code_log_forked() {
  if (log_ == nullptr) return;
  if (!map_log(next_)) log_ = nullptr;
  shared_area_ = 0;
  code_log_new_thread(current());
}

}  // namespace tally::engine
