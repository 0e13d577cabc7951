// The program's executable memory: what may be executed, what changed, and who is told when it is written.
#include <signal.h>
#include <sys/mman.h>

#include "tally/engine/cache.hpp"
#include "tally/engine/entry.hpp"

namespace tally::engine {
namespace {

/// Executable memory as far as it is known; truth is the kernel's, read from /proc/self/maps where nothing is known.
struct Range {
  u64 start, end;
  bool writable;
};
constexpr u32 range_limit = 4096;
Range* ranges;
u32 range_count;
bool everything_executes;  // READ_IMPLIES_EXEC

struct Watched {
  u64 page;
  bool on;
};
Watched* watched;  // open addressing by page number
u32 watched_mask, watched_used;
Lock ranges_lock;
u64 seen_page[2];  // pages known not to need watching, cheapest first

u32 hash(u64 v) { return static_cast<u32>((v * 0x9E3779B97F4A7C15ull) >> 32); }

Watched& watched_entry(u64 page) {
  u32 i = hash(page) & watched_mask;
  while (watched[i].page != 0 && watched[i].page != page) i = (i + 1) & watched_mask;
  return watched[i];
}

void add_watched(u64 page) {
  if (watched == nullptr || watched_used * 2 > watched_mask) {
    Watched* old = watched;
    const u32 n = watched == nullptr ? 0 : watched_mask + 1;
    watched_mask = n == 0 ? 1023 : n * 2 - 1;
    watched = reinterpret_cast<Watched*>(reserve(page_up((watched_mask + 1) * sizeof(Watched)), 3));
    for (u32 i = 0; i < n; i++)
      if (old[i].page != 0) watched_entry(old[i].page) = old[i];
  }
  Watched& w = watched_entry(page);
  if (w.page == 0) watched_used++;
  w = {page, true};
}

Range* find_range(u64 pc) {
  for (u32 i = 0; i < range_count; i++)
    if (pc - ranges[i].start < ranges[i].end - ranges[i].start) return &ranges[i];
  return nullptr;
}

void forget(u64 a, u64 end) {
  for (u32 i = 0; i < range_count; i++) {
    Range& r = ranges[i];
    if (r.end <= a || r.start >= end) continue;
    if (r.start < a && r.end > end && range_count < range_limit) {
      ranges[range_count++] = {end, r.end, r.writable};
      r.end = a;
    } else if (r.start < a) {
      r.end = a;
    } else if (r.end > end) {
      r.start = end;
    } else {
      r = ranges[--range_count];
      i--;
    }
  }
}

void add_range(u64 a, u64 end, bool writable) {
  forget(a, end);
  for (u32 i = 0; i < range_count; i++) {
    if (ranges[i].writable != writable) continue;
    if (ranges[i].end == a) {
      ranges[i].end = end;
      return;
    }
    if (ranges[i].start == end) {
      ranges[i].start = a;
      return;
    }
  }
  // A full table forgets: what is missing is read anew from the kernel.
  if (range_count == range_limit) range_count = range_limit / 2;
  ranges[range_count++] = {a, end, writable};
}

/// Reads /proc/self/maps line by line; calls f(start, end, permissions). False where there is no /proc.
template <class F>
bool each_mapping(F&& f) {
  static char text[16384];
  const s64 fd = kernel(SYS_openat, static_cast<u64>(-100), reinterpret_cast<u64>("/proc/self/maps"), 02000000);
  if (failed(fd)) return false;
  u64 fields[2] = {};
  char permissions[4] = {};
  u32 field = 0, position = 0;
  for (s64 n; (n = kernel(SYS_read, fd, reinterpret_cast<u64>(text), sizeof text)) > 0;)
    for (s64 i = 0; i < n; i++) {
      const char c = text[i];
      if (c == '\n') {
        f(fields[0], fields[1], permissions);
        fields[0] = fields[1] = field = position = 0;
      } else if (field < 2) {
        if (c == '-' || c == ' ')
          field++;
        else
          fields[field] = fields[field] << 4 | static_cast<u64>(c <= '9' ? c - '0' : c - 'a' + 10);
      } else if (position < 4) {
        permissions[position++] = c;
      }
    }
  kernel(SYS_close, fd);
  return true;
}

bool learn(u64 pc) {
  bool found = false;
  const bool known = each_mapping([&](u64 start, u64 end, const char* p) {
    if (p[0] != 'r' || (p[2] != 'x' && !everything_executes)) return;
    const bool ours = watched != nullptr && watched_entry(start / page_bytes).page == start / page_bytes &&
                      watched_entry(start / page_bytes).on;
    if (find_range(start) == nullptr) add_range(start, end, p[1] == 'w' || ours);
    if (pc >= start && pc < end) found = true;
  });
  u8 byte = 0;
  if (!known && safe_copy(&byte, reinterpret_cast<const void*>(pc), 1) == 0) {
    // No /proc to ask: what can be read is taken for code.
    add_range(page_down(pc), page_down(pc) + page_bytes, false);
    found = true;
  }
  return found;
}

}  // namespace

void code_init(u64 read_implies_exec) {
  everything_executes = read_implies_exec != 0;
  ranges = reinterpret_cast<Range*>(reserve(range_limit * sizeof(Range), 3));
}

void lock_code() { ranges_lock.take(); }
void unlock_code() { ranges_lock.release(); }

u32 read_code(u64 pc, u8* to, u32 n) {
  ranges_lock.take();
  const Range* r = find_range(pc);
  if (r == nullptr && learn(pc)) r = find_range(pc);
  u64 end = r == nullptr ? 0 : r->end;
  ranges_lock.release();
  if (end == 0) return 0;
  if (end - pc < n) n = static_cast<u32>(end - pc);
  return n - static_cast<u32>(safe_copy(to, reinterpret_cast<const void*>(pc), n));
}

bool may_change(u64 pc) {
  ranges_lock.take();
  const Range* r = find_range(pc);
  const bool writable = r == nullptr || r->writable;
  ranges_lock.release();
  return writable;
}

void watch_page(u64 pc) {
  const u64 page = pc / page_bytes;
  if (page == seen_page[0] || page == seen_page[1]) return;
  ranges_lock.take();
  const Range* r = find_range(pc);
  if (r == nullptr && learn(pc)) r = find_range(pc);
  if (r != nullptr && r->writable) {
    add_watched(page);
    kernel(SYS_mprotect, page * page_bytes, page_bytes, PROT_READ | PROT_EXEC);
  } else if (r != nullptr) {
    seen_page[1] = seen_page[0];
    seen_page[0] = page;
  }
  ranges_lock.release();
}

bool unwatch_page(u64 address) {
  const u64 page = address / page_bytes;
  ranges_lock.take();
  bool ours = false;
  if (watched != nullptr) {
    Watched& w = watched_entry(page);
    ours = w.page == page;
    if (ours && w.on) {
      w.on = false;
      kernel(SYS_mprotect, page * page_bytes, page_bytes, PROT_READ | PROT_WRITE | PROT_EXEC);
    }
    // A page once watched whose fault comes late: another thread was first. The range says whether it may be written.
    if (ours) {
      const Range* r = find_range(address);
      ours = r != nullptr && r->writable;
    }
  }
  ranges_lock.release();
  if (ours) invalidate(page * page_bytes, page_bytes);
  return ours;
}

bool unwatch_range(u64 a, u64 n) {
  const u64 first = a / page_bytes, last = (a + n - 1) / page_bytes;
  bool any = false;
  ranges_lock.take();
  for (u32 i = 0; watched != nullptr && i <= watched_mask; i++) {
    if (!watched[i].on || watched[i].page < first || watched[i].page > last) continue;
    watched[i].on = false;
    any = true;
    kernel(SYS_mprotect, watched[i].page * page_bytes, page_bytes, PROT_READ | PROT_WRITE | PROT_EXEC);
  }
  ranges_lock.release();
  if (any) invalidate(first * page_bytes, (last - first + 1) * page_bytes);
  return any;
}

bool unwatch_all() { return unwatch_range(page_bytes, 1ull << 47); }

void note_mapping(u64 a, u64 n, s64 protection) {
  const u64 start = page_down(a), end = page_up(a + n);
  ranges_lock.take();
  seen_page[0] = seen_page[1] = 0;
  forget(start, end);
  if (protection >= 0 && (protection & PROT_EXEC || (everything_executes && protection & PROT_READ)))
    add_range(start, end, protection & PROT_WRITE);
  if (watched != nullptr) {
    if ((end - start) / page_bytes > watched_mask) {
      for (u32 i = 0; i <= watched_mask; i++)
        if (watched[i].page >= start / page_bytes && watched[i].page < end / page_bytes) watched[i].on = false;
    } else {
      for (u64 p = start / page_bytes; p < end / page_bytes; p++)
        if (Watched& w = watched_entry(p); w.page == p) w.on = false;
    }
  }
  ranges_lock.release();
  invalidate(start, end - start);
}

}  // namespace tally::engine
