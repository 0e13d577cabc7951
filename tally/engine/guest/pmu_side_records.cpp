#include "tally/engine/guest/pmu_side_records.hpp"

#include "tally/engine/engine_addresses.hpp"
#include "tally/engine/guest/pmu_records.hpp"
#include "tally/engine/guest/pmu_rings.hpp"
#include "tally/engine/guest/pmu_wakeups.hpp"
#include "tally/engine/translate/arenas.hpp"
#include "tally/engine/translate/code_cache.hpp"
#include "tally/engine/translate/exec_regions.hpp"
#include "tally/engine/translate/process_maps.hpp"

namespace tally::engine::guest {
namespace {

/// Calls `f` with each event of a thread that records what one of these flags names.
template <class F>
void for_recording(u32 thread, Flag flag, Flag or_flag, F f) {
  for_countings_of(thread, [&](u32, const PmuCounting& c) {
    PmuOpenEvent& e = pmu_event(c.event);
    if (c.is_on && !c.is_elsewhere && !e.is_kernels && output_of(e) != nullptr &&
        (has_flag(e, flag) || has_flag(e, or_flag)))
      f(e);
  });
}

template <class Written>
void write(PmuOpenEvent& e, Written& record) {
  add_sample_id(e, record.header);
  if (write_record(e, &record.header)) wake(e, Wakeup::data);
}

u64 padded(u64 bytes) { return (bytes + 8) & ~7ull; }

struct NameRecord {
  perf_event_header header;
  u32 process, thread;
  char name[16];
  SampleId sample_id;
};

/// PERF_RECORD_FORK, PERF_RECORD_EXIT.
struct LifeRecord {
  perf_event_header header;
  s32 process, parent, thread, parent_thread;
  u64 time_ns;
  SampleId sample_id;
};

void record_life(u32 type, u32 thread, s32 process, s32 parent, s32 parent_thread) {
  for_recording(thread, Flag::task, Flag::task, [&](PmuOpenEvent& e) {
    LifeRecord record{{type, 0, offsetof(LifeRecord, sample_id)},
                      process,
                      parent,
                      records().thread(thread).tid,
                      parent_thread,
                      time_of(e),
                      {}};
    write(e, record);
  });
}

/// PERF_RECORD_MMAP2; without the fields from device on PERF_RECORD_MMAP.
struct MappingRecord {
  perf_event_header header;
  s32 process, thread;
  u64 start, bytes, offset;
  struct {
    u32 device_major, device_minor;
    u64 inode, generation;
    u32 protection, flags;
  } file;
  char path[sizeof(translate::ListedMapping::path) + 8];
  SampleId sample_id;
};

void record_mapping(const Thread* t, const translate::ListedMapping& m) {
  constexpr u32 shared = 1, not_shared = 2;
  const char(&may)[4] = m.permissions;
  const bool is_code = may[2] == 'x';
  const Flag data_flag = is_code ? Flag::mmap2 : Flag::mmap_data;
  for_recording(t->index, is_code ? Flag::mmap : Flag::mmap_data, data_flag, [&](PmuOpenEvent& e) {
    LARGE static MappingRecord record;
    const bool is_long = has_flag(e, Flag::mmap2);
    record.header = {is_long ? u32{PERF_RECORD_MMAP2} : u32{PERF_RECORD_MMAP},
                     static_cast<u16>(PERF_RECORD_MISC_USER | (is_code ? 0 : PERF_RECORD_MISC_MMAP_DATA)), 0};
    record.process = static_cast<s32>(kernel(SYS_getpid));
    record.thread = records().thread(t->index).tid;
    record.start = m.start;
    record.bytes = m.end - m.start;
    record.offset = m.offset;
    record.file = {
        m.device_major,
        m.device_minor,
        m.inode,
        0,
        (may[0] == 'r' ? u32{PROT_READ} : 0) | (may[1] == 'w' ? u32{PROT_WRITE} : 0) | (is_code ? u32{PROT_EXEC} : 0),
        may[3] == 's' ? shared : not_shared};
    static const char nameless[] = "//anon";
    const char* const path = m.path_bytes != 0 ? m.path : nameless;
    const u64 length = m.path_bytes != 0 ? m.path_bytes : sizeof nameless - 1;
    char* const to = is_long ? record.path : reinterpret_cast<char*>(&record.file);
    clear(to, padded(length));
    copy(to, path, length);
    record.header.size = static_cast<u16>(to + padded(length) - reinterpret_cast<char*>(&record));
    write(e, record);
  });
}

bool is_own(u64 start, const translate::AddressRange* arenas, u32 n) {
  if (start >= records_at && start < own_space_end()) return true;
  for (u32 i = 0; i < n; i++)
    if (start >= arenas[i].start && start < arenas[i].end) return true;
  return false;
}

}  // namespace

void record_name(const Thread* t, bool executes) {
  if (!pmu_is_used()) return;
  PmuGuard guard;
  for_recording(t->index, Flag::comm, Flag::comm, [&](PmuOpenEvent& e) {
    const bool says_so = executes && has_flag(e, Flag::comm_exec);
    NameRecord record{{PERF_RECORD_COMM, static_cast<u16>(says_so ? PERF_RECORD_MISC_COMM_EXEC : 0), 0},
                      static_cast<u32>(kernel(SYS_getpid)),
                      static_cast<u32>(kernel(SYS_gettid)),
                      {},
                      {}};
    copy(record.name, records().thread(t->index).name, sizeof record.name - 1);
    u64 length = 0;
    while (record.name[length] != 0) length++;
    record.header.size = static_cast<u16>(offsetof(NameRecord, name) + padded(length));
    write(e, record);
  });
}

void record_mappings(const Thread* t, u64 start, u64 end, bool may_be_code) {
  if (!pmu_is_used()) return;
  PmuGuard guard;
  bool any = false;
  for_recording(t->index, may_be_code ? Flag::mmap : Flag::mmap_data, Flag::mmap_data,
                [&](const PmuOpenEvent&) { any = true; });
  if (!any) return;
  Guard cache(cache_lock);
  static translate::AddressRange arenas[translate::arena_limit];
  const u32 n = translate::arena_ranges(arenas);
  lock_code();
  LARGE static translate::KernelMappings mappings;
  mappings.each([&](const translate::ListedMapping& m) {
    if (m.start < end && m.end > start && m.start >> 63 == 0 && !is_own(m.start, arenas, n)) record_mapping(t, m);
  });
  unlock_code();
}

void record_begin(const Thread* t) {
  const s32 process = static_cast<s32>(kernel(SYS_getpid));
  const bool is_thread = records().thread(t->index).tid != process;
  const s32 parent = is_thread ? process : static_cast<s32>(kernel(SYS_getppid));
  record_life(PERF_RECORD_FORK, t->index, process, parent, parent);
}

void record_end(u32 thread) {
  const s32 process = static_cast<s32>(kernel(SYS_getpid)), parent = static_cast<s32>(kernel(SYS_getppid));
  record_life(PERF_RECORD_EXIT, thread, process, parent, parent);
}

}  // namespace tally::engine::guest
