#include "tally/engine/translate/mapped_files.hpp"

#include "tally/engine/records.hpp"
#include "tally/engine/translate/process_maps.hpp"

namespace tally::engine::translate {
namespace {

constexpr u32 limit = 16384;
FileMapping* table;
u32 count;
bool all_shared;    // other processes have descriptors of the program: they may write every file that it maps
u32 writable_code;  // number of executable mappings whose file may be written

/// Set while the table changes. A thread that dies then leaves lost or inconsistent entries.
bool is_changing;
struct ChangeScope {
  ChangeScope() { __atomic_store_n(&is_changing, true, __ATOMIC_SEQ_CST); }
  ~ChangeScope() { __atomic_store_n(&is_changing, false, __ATOMIC_SEQ_CST); }
  ChangeScope(const ChangeScope&) = delete;
  ChangeScope& operator=(const ChangeScope&) = delete;
};

void add(const FileMapping& m) {
  if (table == nullptr)
    table = reinterpret_cast<FileMapping*>(reserve(page_up(limit * sizeof(FileMapping)), read_write));
  if (count < limit) {
    table[count] = m;
    table[count++].others |= all_shared && m.device != anonymous_device;
  } else if (m.shared) {
    mark_partial(current(), channel::partial_shared_code);
  }
}

void recount() {
  u32 n = 0;
  for (u32 i = 0; i < count; i++) n += table[i].executable && (table[i].shared || table[i].by_descriptor);
  __atomic_store_n(&writable_code, n, __ATOMIC_RELAXED);
}

/// Returns the part of a mapping from `start` to `end`.
FileMapping part(const FileMapping& m, u64 start, u64 end) {
  FileMapping p = m;
  p.start = start;
  p.end = end;
  p.offset = m.offset + (start - m.start);
  return p;
}

/// Splits the mapping that contains the address, if any, so that none extends across it.
void split_at(u64 at) {
  for (u32 i = 0; i < count; i++) {
    if (table[i].start >= at || table[i].end <= at) continue;
    const FileMapping tail = part(table[i], at, table[i].end);
    table[i].end = at;
    return add(tail);
  }
}

bool continues(const FileMapping& a, const FileMapping& b) {
  return a.end == b.start && a.device == b.device && a.inode == b.inode && a.offset + (a.end - a.start) == b.offset &&
         a.writable == b.writable && a.executable == b.executable && a.shared == b.shared &&
         a.by_descriptor == b.by_descriptor && a.others == b.others;
}

/// Joins adjacent parts of a mapping that are equal again, so that alternating protections do not fill the table.
void join() {
  for (u32 i = 0; i < count; i++)
    for (u32 k = 0; k < count; k++)
      if (continues(table[i], table[k])) {
        table[i].end = table[k].end;
        table[k] = table[--count];
        k = ~0u;
        if (i >= count) return;
      }
}

}  // namespace

void files_forget(u64 start, u64 end) {
  if (count == 0) return;
  const ChangeScope change;
  split_at(start);
  split_at(end);
  for (u32 i = 0; i < count;)
    if (table[i].start >= start && table[i].end <= end)
      table[i] = table[--count];
    else
      i++;
  recount();
}

void files_add(const FileMapping& m) {
  const ChangeScope change;
  add(m);
  recount();
}

void files_protect(u64 start, u64 end, bool writable, bool executable) {
  if (count == 0) return;
  const ChangeScope change;
  split_at(start);
  split_at(end);
  for (u32 i = 0; i < count; i++)
    if (table[i].start >= start && table[i].end <= end) {
      table[i].writable = writable;
      table[i].executable = executable;
    }
  if (count > 16) join();
  recount();
}

void files_move(u64 old, u64 old_bytes, u64 to, u64 bytes) {
  const FileMapping* m = file_at(old);
  FileMapping moved;
  if (m != nullptr) moved = part(*m, old, old + bytes);
  if (old_bytes != 0) files_forget(old, old + page_up(old_bytes));
  files_forget(to, to + bytes);
  if (m == nullptr) return;
  moved.start = to;
  moved.end = to + bytes;
  files_add(moved);
}

void files_learn(u64 start, u64 end) {
  const ChangeScope change;
  LARGE static KernelMappings mappings;
  mappings.each([&](const ListedMapping& m) {
    if (m.start >= end || m.end <= start) return;
    FileMapping f;
    f.shared = m.permissions[3] == 's';
    f.writable = m.permissions[1] == 'w';
    f.executable = m.permissions[2] == 'x';
    if (!f.shared && (!f.executable || m.inode == 0)) return;
    const u64 from = m.start > start ? m.start : start, to = m.end < end ? m.end : end;
    f.start = from;
    f.end = to;
    f.offset = m.offset + (from - m.start);
    f.device = u64{m.device_minor & 0xff} | u64{m.device_major} << 8 | u64{m.device_minor & ~0xffu} << 12;
    f.inode = m.inode;
    f.by_descriptor = f.others = f.shared;  // unknown: assume that it may
    add(f);
  });
  recount();
}

void files_repair() {
  if (!is_changing) return;
  count = 0;
  files_learn(0, ~u64{0});
}

bool files_are_shared_with_others() { return __atomic_load_n(&all_shared, __ATOMIC_RELAXED); }
void files_shared_with_others() {
  for (u32 i = 0; i < count; i++) table[i].others = true;
  __atomic_store_n(&all_shared, true, __ATOMIC_RELAXED);
}

const FileMapping* file_at(u64 address) {
  for (u32 i = 0; i < count; i++)
    if (address - table[i].start < table[i].end - table[i].start) return &table[i];
  return nullptr;
}

const FileMapping* file_number(u32 i) { return i < count ? &table[i] : nullptr; }

u64 same_byte(const FileMapping& of, u64 address, const FileMapping& m) {
  if (m.device != of.device || m.inode != of.inode) return 0;
  const u64 offset = of.offset + (address - of.start);
  return offset - m.offset < m.end - m.start ? m.start + (offset - m.offset) : 0;
}

bool files_may_be_written() { return __atomic_load_n(&writable_code, __ATOMIC_RELAXED) != 0; }

u64 attached_end(u64 a) {
  const FileMapping* first = file_at(a);
  if (first == nullptr || first->device != system_v_device) return a;
  const FileMapping of = *first;
  u64 end = a;
  for (const FileMapping* m = first; m != nullptr && m->inode == of.inode && m->device == of.device; m = file_at(end))
    end = m->end;
  return end;
}

}  // namespace tally::engine::translate
