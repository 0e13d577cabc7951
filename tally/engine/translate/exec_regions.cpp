#include "tally/engine/translate/exec_regions.hpp"

#include <signal.h>
#include <sys/mman.h>

#include "tally/engine/clock.hpp"
#include "tally/engine/translate/absent_code.hpp"
#include "tally/engine/translate/code_cache.hpp"
#include "tally/engine/translate/entry.hpp"
#include "tally/engine/translate/known_ranges.hpp"
#include "tally/engine/translate/logged_code.hpp"
#include "tally/engine/translate/mapped_files.hpp"
#include "tally/engine/translate/past_code.hpp"
#include "tally/engine/translate/process_maps.hpp"
#include "tally/engine/translate/read_only.hpp"
#include "tally/engine/translate/recorder.hpp"
#include "tally/engine/translate/watching.hpp"

namespace tally::engine::translate {
namespace {

bool everything_executes;  // READ_IMPLIES_EXEC

u64 seen_page[2];      // pages known to need no watching, the cheapest check first
u64 constant_page[4];  // the last pages known to be constant
u32 constant_turn;

void forget_known_pages() {
  seen_page[0] = seen_page[1] = 0;
  for (u64& page : constant_page) page = 0;
}

/// A thread was killed before it recorded a change: queries everything again. Translations are discarded.
void repair_code() {
  note_cache_damaged();
  forget_known_pages();
  forget_all_ranges();
  forget_all_read_only();
  repair_watched();
  files_repair();
}

Lock ranges_lock{repair_code};

struct MemoryFile {
  u64 device, inode;
};
constexpr u32 memory_file_limit = 4;  // a program opens one, if any
MemoryFile memory_files[memory_file_limit];
u32 memory_file_count;

/// Asks the kernel, which returns EFAULT. A fault of the engine would need the lock that is held here.
bool readable(u64 address) {
  const u64 no_time[2] = {};
  return kernel(SYS_futex, address & ~3ull, FUTEX_WAIT_PRIVATE, 0, reinterpret_cast<u64>(no_time)) != -EFAULT;
}

bool query_kernel(u64 pc) {
  LARGE static KernelMappings mappings;
  bool found = false;
  const bool known = mappings.each([&](const ListedMapping& m) {
    const u64 start = m.start, end = m.end;
    const char* const p = m.permissions;
    static const char vdso_data[] = {'[', 'v', 'v', 'a', 'r'};
    if (m.path_bytes > sizeof vdso_data && __builtin_memcmp(m.path, vdso_data, sizeof vdso_data) == 0)
      clock_data_listed(start);
    const bool is_kernels = start >> 63 != 0;  // vsyscall
    if (is_kernels || (p[2] != 'x' && (p[0] != 'r' || !everything_executes))) return;
    // A mapping that the kernel lists may contain read-only code of the program and watched pages next to it.
    for (u64 from = start, to; from < end; from = to) {
      const bool writable = p[1] == 'w' || is_protected(from / page_bytes);
      for (to = from + page_bytes; to < end && (p[1] == 'w' || is_protected(to / page_bytes) == writable);)
        to += page_bytes;
      if (find_range(from) == nullptr) add_range(from, to, writable);
    }
    if (pc >= start && pc < end) found = true;
  });
  if (!known && readable(pc)) {
    // Without /proc, everything readable from here on is assumed to be code.
    u64 end = page_down(pc);
    while (find_range(end) == nullptr && readable(end)) end += page_bytes;
    add_range(page_down(pc), end, false);
    found = true;
  }
  return found;
}

bool executes(s64 protection) {
  return protection >= 0 && (protection & PROT_EXEC || (everything_executes && protection & PROT_READ));
}

/// Replaces what is known about [start, end); -1: unknown.
void set_range(u64 start, u64 end, s64 protection) {
  forget_known_pages();
  forget_read_only(start, end);
  persistent_cache->unmapped(start, end);
  clock_unmapped(start, end);
  log_unmapped(start, end);
  forget(start, end);
  if (executes(protection)) add_range(start, end, protection & PROT_WRITE);
  forget_watched(start / page_bytes, end / page_bytes);
}

/// Whether the same bytes can be written at another address.
bool is_alias(const FileMapping& m, u64 at, u64 page) {
  return at != 0 && at / page_bytes != page && m.shared && m.writable;
}

/// Whether another process may write these bytes at any time, which causes no fault here.
bool is_written_by_others(const FileMapping& m) { return m.others && (m.shared || m.by_descriptor); }

bool may_change_by_alias(u64 pc) {
  const FileMapping* file = file_at(pc);
  if (file == nullptr) return false;
  if (file->shared || file->by_descriptor) return true;
  for (u32 i = 0; const FileMapping* m = file_number(i); i++)
    if (is_alias(*m, same_byte(*file, pc, *m), pc / page_bytes)) return true;
  return false;
}

/// Whether a page can be written at other addresses, and whether all of these are watched now.
struct Aliases {
  bool any = false, all_watched = true;
};

/// Watches the page of a file at all other addresses where it can be written.
Aliases watch_aliases(const FileMapping& file, u64 page) {
  Aliases found;
  for (u32 i = 0; const FileMapping* m = file_number(i); i++) {
    const u64 at = same_byte(file, page * page_bytes, *m);
    if (!is_alias(*m, at, page)) continue;
    found.any = true;
    found.all_watched &=
        watch(at / page_bytes, static_cast<u8>(PROT_READ | PROT_WRITE | (m->executable ? PROT_EXEC : 0)));
  }
  return found;
}

/// Drops translations of [a, a + n), and of the same bytes of a shared mapping at other addresses.
void drop_everywhere(u64 a, u64 n) {
  invalidate(a, n);
  for (u32 i = 0; const FileMapping* m = file_number(i); i++) {
    if (!m->shared || !m->writable || m->start >= a + n || m->end <= a) continue;
    const u64 from = m->start > a ? m->start : a, to = m->end < a + n ? m->end : a + n;
    const u64 offset = m->offset + (from - m->start);
    for (u32 k = 0; const FileMapping* other = file_number(k); k++) {
      if (!other->executable || other->device != m->device || other->inode != m->inode) continue;
      const u64 end = other->offset + (other->end - other->start);
      const u64 low = offset > other->offset ? offset : other->offset,
                high = offset + (to - from) < end ? offset + (to - from) : end;
      if (low < high) invalidate(other->start + (low - other->offset), high - low);
    }
  }
}

/// Code of a page may change from now on. Its traces are resumed if it does not, unless the same bytes can be written
/// at other addresses.
void suspend_everywhere(u64 page) {
  const FileMapping* const file = file_at(page * page_bytes);
  if (file != nullptr && file->shared) return drop_everywhere(page * page_bytes, page_bytes);
  suspend_code(page * page_bytes, page_bytes);
}

/// Restores the protection of a watched page and suspends its traces.
void restore_page(Watched& w) {
  suspend_everywhere(w.page);
  if (unwatch(w)) return;
  // The number of mappings is limited, and this call would split one in three. With its neighbours, it stays whole.
  constexpr u32 limit = 256;
  Watched* neighbours[limit];
  u64 first = w.page;
  const auto is_neighbour = [&](u64 page) {
    const Watched* const n = watched_page(page);
    return n != nullptr && n->on && n->before == w.before;
  };
  while (w.page - first < limit / 2 && is_neighbour(first - 1)) first--;
  u32 n = 0;
  for (u64 page = first; n < limit && (page == w.page || is_neighbour(page)); page++) {
    neighbours[n++] = watched_page(page);
    suspend_everywhere(page);
  }
  if (!unwatch_together(neighbours, n))
    die("a page of the program cannot be made writable again:", w.page * page_bytes);
}

/// Blocks translation and changes of this data, so that a page's traces are suspended before it is written.
struct ChangeGuard {
  Guard cache{cache_lock}, code{ranges_lock};
};

}  // namespace

void reading_executes(bool yes) {
  Guard guard(ranges_lock);
  everything_executes = yes;
}

void code_init() { ranges_init(); }

void lock_code() { ranges_lock.take(); }
void unlock_code() { ranges_lock.release(); }
void release_code_for_dead(u32 holder) { ranges_lock.release_for_dead(holder); }

u32 read_code(u64 pc, u8* to, u32 n) {
  ranges_lock.take();
  const Range* r = find_range(pc);
  if (r == nullptr && query_kernel(pc)) r = find_range(pc);
  u64 end = r == nullptr ? 0 : r->end;
  ranges_lock.release();
  if (end == 0) return 0;
  if (end - pc < n) n = static_cast<u32>(end - pc);
  return n - static_cast<u32>(copy_code(to, pc, n));
}

bool may_change(u64 pc) {
  Guard guard(ranges_lock);
  const Range* r = find_range(pc);
  return r == nullptr || r->writable || may_change_by_alias(pc) || is_always_compared(pc / page_bytes);
}

bool is_guarded_code(u64 pc) {
  Guard guard(ranges_lock);
  const Range* const r = find_range(pc);
  return r != nullptr && (!r->writable || is_protected(pc / page_bytes)) && !may_change_by_alias(pc) &&
         !is_always_compared(pc / page_bytes);
}

void query_code(u64 pc) {
  Guard guard(ranges_lock);
  if (find_range(pc) == nullptr) query_kernel(pc);
}

bool is_constant(u64 a, u64 n) {
  Guard guard(ranges_lock);
  const u64 page = a / page_bytes;
  const bool one_page = (a + n - 1) / page_bytes == page;
  for (const u64 known : constant_page)
    if (one_page && known == page) return true;
  const Range* const r = find_range(a);
  const bool constant = r != nullptr && !r->writable && n <= r->end - a && !may_change_by_alias(a) &&
                        !is_always_compared(page) && (n == 1 || !may_change_by_alias(a + n - 1));
  if (constant && one_page) constant_page[constant_turn++ % 4] = page;
  return constant;
}

bool constant_around(u64 pc, u64& start, u64& end) {
  Guard guard(ranges_lock);
  const Range* const r = find_range(pc);
  if (r == nullptr || r->writable || may_change_by_alias(pc)) return false;
  start = r->start;
  end = r->end;
  return true;
}

bool watch_page(u64 pc) {
  const u64 page = pc / page_bytes;
  if (page == seen_page[0] || page == seen_page[1]) return false;
  Guard guard(ranges_lock);
  const Range* r = find_range(pc);
  if (r == nullptr && query_kernel(pc)) r = find_range(pc);
  if (r == nullptr) return false;
  const FileMapping* file = file_at(pc);
  if (file != nullptr && is_written_by_others(*file)) return true;
  const Aliases aliases = file != nullptr ? watch_aliases(*file, page) : Aliases{};
  if (r->writable && !watch(page, PROT_READ | PROT_WRITE | PROT_EXEC)) return true;
  if (!aliases.all_watched || is_always_compared(page) || (watches_nothing() && may_change_by_alias(pc))) return true;
  if (r->writable || aliases.any) return false;
  seen_page[1] = seen_page[0];
  seen_page[0] = page;
  return false;
}

bool unwatch_page(u64 address) {
  ChangeGuard guard;
  Watched* const w = watched_page(address / page_bytes);
  if (w == nullptr) return false;
  // If another thread handled the fault of this page first, the mapping decides whether it may be written.
  const Range* r = find_range(address);
  const FileMapping* file = file_at(address);
  const bool may_write = (r != nullptr && r->writable) || (file != nullptr && file->writable);
  if (w->on) {
    note_write(*w);
    restore_page(*w);
  }
  return may_write;
}

bool unwatch_range(u64 a, u64 n) {
  if (n == 0) return false;
  bool any = false;
  ChangeGuard guard;
  each_watched(a / page_bytes, (a + n - 1) / page_bytes, [&](Watched& w) {
    if (!w.on) return;
    restore_page(w);
    any = true;
  });
  return any;
}

void begin_protecting(u64 a, u64 n) {
  unwatch_range(a, n);
  ChangeGuard guard;
  suspend_code(a, n);
}

void begin_replacing(u64 a, u64 n) {
  if (!keeps_past_code() || n == 0) return;
  ChangeGuard guard;
  keep_code(a, n);
}

bool unwatch_all() { return unwatch_range(page_bytes, 1ull << 47); }

void open_for_kernel(u64 a, u64 n) {
  ChangeGuard guard;
  each_watched(a / page_bytes, (a + n - 1) / page_bytes, [](Watched& w) {
    if (!w.on) return;
    w.compared = Compared::for_good;
    restore_page(w);
  });
}

bool compare_all(bool on) {
  const bool before = watches_nothing();
  {
    ChangeGuard guard;
    never_watch_any(on);
    seen_page[0] = seen_page[1] = 0;
    // Code in files that may be written without a system call that announces it.
    for (u32 i = 0; const FileMapping* m = file_number(i); i++)
      if (on && !before && m->executable && (m->shared || m->by_descriptor)) invalidate(m->start, m->end - m->start);
  }
  if (on && !before) unwatch_all();
  return before;
}

void compare_range(u64 a, u64 n) {
  {
    ChangeGuard guard;
    if (!any_range(a, n)) return;
    always_compare(a, n);
    forget_known_pages();
    invalidate(a, n);
  }
  unwatch_range(a, n);
}

void watch_again() {
  Guard guard(ranges_lock);
  each_written_often([](Watched& w) { drop_everywhere(w.page * page_bytes, page_bytes); });
}

void note_mapping(u64 a, u64 n, s64 protection, const FileMapping* file) {
  const u64 start = page_down(a), end = page_up(a + n);
  ChangeGuard guard;
  set_range(start, end, protection);
  files_forget(start, end);
  if (file != nullptr) {
    FileMapping m = *file;
    m.start = start;
    m.end = end;
    m.writable = (protection & PROT_WRITE) != 0;
    m.executable = executes(protection);
    files_add(m);
  }
  forget_code(start, end - start);
  drop_everywhere(start, end - start);
}

void note_unknown(u64 a, u64 n) {
  const u64 start = page_down(a), end = page_up(a + n);
  if (start >= end) return;  // the kernel refuses it
  ChangeGuard guard;
  set_range(start, end, -1);
  files_forget(start, end);
  files_learn(start, end);
  forget_code(start, end - start);
  drop_everywhere(start, end - start);
}

void note_protection(u64 a, u64 n, s64 protection) {
  const u64 start = page_down(a), end = page_up(a + n);
  ChangeGuard guard;
  set_range(start, end, protection);
  if (protection >= 0) files_protect(start, end, (protection & PROT_WRITE) != 0, executes(protection));
  drop_everywhere(start, end - start);
  if (protection == PROT_READ) add_read_only(start, end);
}

bool read_pointer(u64 address, u64& value) {
  {
    Guard guard(ranges_lock);
    const FileMapping* file = file_at(address);
    if (file != nullptr && file->shared) return false;
    if (!use_read_only(address, 8)) return false;
  }
  return copy_code(&value, address, 8) == 0;
}

void note_move(u64 old, u64 old_bytes, u64 to, u64 bytes) {
  ChangeGuard guard;
  set_range(page_down(old), page_up(old + old_bytes), -1);
  set_range(to, page_up(to + bytes), -1);
  files_move(old, old_bytes, to, page_up(bytes));
  forget_code(old, old_bytes);
  forget_code(to, bytes);
}

u64 attached_bytes(u64 a) {
  Guard guard(ranges_lock);
  return attached_end(a) - a;
}

void note_other_pages(u64 a, u64 n, u64 offset) {
  const u64 start = page_down(a), end = page_down(a + n);
  ChangeGuard guard;
  forget_known_pages();
  persistent_cache->unmapped(start, end);
  clock_unmapped(start, end);
  log_unmapped(start, end);
  drop_everywhere(start, end - start);
  const FileMapping* const known = file_at(start);
  if (known == nullptr) return;
  FileMapping m = *known;
  m.start = start;
  m.end = end;
  m.offset = offset;
  files_forget(start, end);
  files_add(m);
}

void note_discarded_memory(u64 a, u64 n, bool of_file) {
  ChangeGuard guard;
  if (of_file) drop_everywhere(a, n);
  if (overlaps_read_only(a, a + n)) invalidate(a, n);
  forget_read_only(a, a + n);
  if (any_range(a, n)) invalidate(a, n);
}

void note_memory_file(u64 device, u64 inode) {
  Guard guard(ranges_lock);
  MemoryFile& m = memory_files[memory_file_count++ % memory_file_limit];
  m = {device, inode};
}

bool may_be_written() { return files_may_be_written() || __atomic_load_n(&memory_file_count, __ATOMIC_RELAXED) != 0; }

void note_written(u64 device, u64 inode) {
  ChangeGuard guard;
  for (u32 i = 0; i < memory_file_limit && i < memory_file_count; i++)
    if (memory_files[i].device == device && memory_files[i].inode == inode) return invalidate(page_bytes, 1ull << 47);
  for (u32 i = 0; const FileMapping* m = file_number(i); i++)
    if (m->executable && (device == 0 || (m->device == device && m->inode == inode)))
      invalidate(m->start, m->end - m->start);
}

void note_shared_with_others() {
  forget_known_pages();
  for (u32 i = 0; const FileMapping* m = file_number(i); i++)
    if (m->executable && !m->others && (m->shared || m->by_descriptor)) invalidate(m->start, m->end - m->start);
  files_shared_with_others();
}

}  // namespace tally::engine::translate
