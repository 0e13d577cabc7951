#include "tally/engine/guest/descriptors.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include "tally/engine/guest/descriptor_numbers.hpp"

#include "tally/engine/guest/guest_signals.hpp"
#include "tally/engine/guest/own_ranges.hpp"
#include "tally/engine/guest/process_calls.hpp"
#include "tally/engine/translate/code_cache.hpp"

namespace tally::engine::guest {
namespace {

constexpr u32 own_count = channel::inherited_count;

u32 first_own() { return static_cast<u32>(inherited(channel::inherited_channel)); }

/// The common start of both directory entry formats, and the offset of the name in each.
struct Entry {
  u64 inode;
  s64 next;
  u16 bytes;
} __attribute__((packed));
enum : u64 { name_at = 18, name_at_64 = 19 };

bool is_in_proc(u64 directory) {
  struct statfs s;
  return kernel(SYS_fstatfs, directory, reinterpret_cast<u64>(&s)) == 0 && s.f_type == 0x9fa0 /* PROC_SUPER_MAGIC */;
}

/// Returns the engine's descriptor whose number this name is, or -1.
s64 own_by_name(const char* name) {
  u64 n = 0;
  u32 i = 0;
  for (; name[i] >= '0' && name[i] <= '9' && i < 10; i++) n = n * 10 + static_cast<u64>(name[i] - '0');
  return i > 0 && name[i] == 0 && is_own_descriptor(n) ? static_cast<s64>(n) : -1;
}

/// Whether an entry with this name in a directory of /proc is an engine descriptor, of this process or of another
/// counted one. Next to `fd`, `fdinfo` and the per-thread directories there is an `fd` directory whose entry leads to
/// the same object.
bool is_own_entry(u64 directory, const char* name) {
  const s64 fd = own_by_name(name);
  if (fd < 0) return false;
  char path[24] = "../fd/";
  for (u32 i = 0; i < 12 && name[i] != 0; i++) path[6 + i] = name[i];
  struct stat there, ours;
  return kernel(SYS_newfstatat, directory, reinterpret_cast<u64>(path), reinterpret_cast<u64>(&there), 0) == 0 &&
         kernel(SYS_fstat, static_cast<u64>(fd), reinterpret_cast<u64>(&ours)) == 0 && there.st_dev == ours.st_dev &&
         there.st_ino == ours.st_ino;
}

/// Whether this is the directory of the process's own mappings, whose entries are named by their addresses.
bool is_own_map_files(u64 directory) {
  struct stat here, own;
  const auto stat_of = [](u64 from, const char* path, struct stat& to, u64 flags) {
    return kernel(SYS_newfstatat, from, reinterpret_cast<u64>(path), reinterpret_cast<u64>(&to), flags) == 0;
  };
  return stat_of(directory, "", here, AT_EMPTY_PATH) &&
         stat_of(inherited(channel::inherited_proc), "self/map_files", own, 0) && here.st_dev == own.st_dev &&
         here.st_ino == own.st_ino;
}

/// Whether this name of map_files, "55d0c000-55d0e000", is that of a mapping of the engine.
bool is_own_mapping(const OwnRanges& ranges, const char* name) {
  u64 start = 0;
  for (; *name != 0 && *name != '-'; name++)
    start = start << 4 | static_cast<u64>(*name <= '9' ? *name - '0' : *name - 'a' + 10);
  return *name == '-' && ranges.end_of(start) != 0;
}

/// Removes the engine's entries from what the kernel wrote to `buffer`. Returns the number of bytes left.
u64 without_own(u64 directory, u64 buffer, u64 bytes, u64 name_offset) {
  const bool lists_mappings = is_own_map_files(directory);
  OwnRanges ranges;
  if (lists_mappings) {
    const Guard guard(cache_lock);
    ranges.read();
  }
  u64 at = 0;
  while (at < bytes) {
    Entry entry;
    char name[40] = {};
    if (get(&entry, buffer + at, sizeof entry) != 0 || entry.bytes <= name_offset) return bytes;
    const u64 room = entry.bytes - name_offset;
    if (get(name, buffer + at + name_offset, room < sizeof name - 1 ? room : sizeof name - 1) != 0) return bytes;
    if (!(lists_mappings ? is_own_mapping(ranges, name) : is_own_entry(directory, name))) {
      at += entry.bytes;
      continue;
    }
    const u64 next = at + entry.bytes;
    if (put(buffer + at, reinterpret_cast<const void*>(buffer + next), bytes - next) != 0) return bytes;
    bytes -= entry.bytes;
  }
  return bytes;
}

}  // namespace

void keep_descriptors_over_exec(bool keep) {
  constexpr u64 only_close_on_exec = 4;  // CLOSE_RANGE_CLOEXEC, since Linux 5.11
  const u64 first = first_own();
  if (!keep && kernel(SYS_close_range, first, first + own_count - 1, only_close_on_exec) == 0) return;
  for (u32 i = 0; i < own_count; i++) kernel(SYS_fcntl, first + i, F_SETFD, keep ? 0 : FD_CLOEXEC);
}

bool is_own_descriptor(u64 fd) { return static_cast<u32>(fd) - first_own() < own_count; }

s64 close_range_around(u64 first, u64 last, u64 flags) {
  const u64 own = first_own(), next = own + own_count;
  if (first > last || last < own || first >= next) return kernel(SYS_close_range, first, last, flags);
  s64 r = 0;
  if (first < own) r = kernel(SYS_close_range, first, own - 1, flags);
  if (r == 0 && next <= last) r = kernel(SYS_close_range, next, last, flags);
  return r;
}

s64 list_directory(Thread* t, u64 number) {
  const u64 directory = t->gpr[rdi], buffer = t->gpr[rsi];
  while (true) {
    const s64 bytes = run(t);
    if (bytes <= 0 || !is_in_proc(directory)) return bytes;
    const u64 name_offset = number == SYS_getdents64 ? name_at_64 : name_at;
    const u64 left = without_own(directory, buffer, static_cast<u64>(bytes), name_offset);
    // An empty result would mean the end of the directory, so read more entries.
    if (left != 0) return static_cast<s64>(left);
  }
}

}  // namespace tally::engine::guest
