#include "tally/engine/persist/translation_store.hpp"

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <initializer_list>

#include "tally/engine/channel/hash.hpp"
#include "tally/engine/channel/limits.hpp"
#include "tally/engine/engine_addresses.hpp"
#include "tally/engine/inherited.hpp"
#include "tally/engine/instrument/instrumentation_key.hpp"
#include "tally/engine/instrument/marked_addresses.hpp"
#include "tally/engine/translate/absent_code.hpp"
#include "tally/engine/translate/entry.hpp"

namespace tally::engine::persist {

namespace {

channel::Store kept, added;
bool writes;  // to `added`

/// Key and state of the record checks, excluded from the program's core files.
struct RecordChecks {
  channel::RecordKey key;
  u32 sound[512];  // places of records of `kept` that were checked last, and are valid: neighbours share a page
};
RecordChecks* checks;  // null without a store, and once the process has dropped privileges

u32 refused[16], refused_count;  // positions of the last invalid records in `kept`

bool is_template(const channel::RecordHead& record) {
  return record.bytes >= sizeof(Template) && channel::as_bundle(record) == nullptr;
}
const Template* as_template(const channel::RecordHead* record) { return reinterpret_cast<const Template*>(record); }

/// Reports a record to the command that was changed on the disk, or belongs to somebody else.
void refuse(u32 place) {
  for (const u32 known : refused)
    if (known == place) return;
  refused[refused_count++ % (sizeof refused / sizeof *refused)] = place;
  if (writes) __atomic_add_fetch(&added.header().refused, 1, __ATOMIC_RELAXED);
}

/// Whether a record is unchanged since an engine of this user wrote it. In `kept`, one process checks a bundle for the
/// whole run, because it is as large as a program. Records that other processes add may be damaged by their programs,
/// so these are checked each time.
bool is_sound(const channel::Store& store, const channel::RecordHead& record) {
  if (checks == nullptr) return false;
  if (&store == &added) return channel::is_sound(record, checks->key);
  const u32 place = store.place_of(record);
  u32& checked = checks->sound[place / 32 % (sizeof checks->sound / sizeof checked)];
  if (checked == place) return true;
  u32* const of_run =
      writes && channel::as_bundle(record) != nullptr ? &added.header().sound[place % channel::sound_limit] : nullptr;
  const bool is_checked = of_run != nullptr && __atomic_load_n(of_run, __ATOMIC_RELAXED) == place;
  if (is_checked || channel::is_sound(record, checks->key)) {
    checked = place;
    if (of_run != nullptr) __atomic_store_n(of_run, place, __ATOMIC_RELAXED);
    if (writes) channel::note_used(added.header().used, place, record.bytes);
    return true;
  }
  refuse(place);
  return false;
}

/// The records of this process alone; the first one is never used.
Growing<u8> own;
constexpr u32 own_limit = 256u << 20;

u64 added_inode;
u32 damaged;  // pages that could not be read

/// Returns the size of a store; 0 if it is another file: a process that dropped privileges has one there, and one that
/// closed the descriptor may have its own. The kept file ends after its last record: a program that locks all of its
/// memory would read more, too.
u64 bytes_of(u64 fd, u64 inode) {
  struct stat s;
  if (inode == 0 || failed(kernel(SYS_fstat, fd, reinterpret_cast<u64>(&s))) || s.st_ino != inode) return 0;
  const u64 bytes = static_cast<u64>(s.st_size);
  return bytes >= channel::store_log_offset && bytes <= channel::store_bytes ? bytes : 0;
}

bool map_store(channel::Store& store, channel::Inherited which, int protection, u64 bytes) {
  const u64 at = try_reserve(channel::store_bytes, PROT_NONE);
  if (at == 0) return false;
  const s64 r = kernel(SYS_mmap, at, bytes, static_cast<u64>(protection), MAP_SHARED | MAP_FIXED, inherited(which), 0);
  if (failed(r)) return false;
  keep_from_core(at, channel::store_bytes);
  store.base = reinterpret_cast<u8*>(at);
  store.readable = bytes;
  const channel::StoreHeader& h = store.header();
  if (h.magic == channel::store_magic && h.engine == image_header().build) return true;
  store.base = nullptr;
  return false;
}

/// Makes the pages of a store private, so that nobody else sees writes to them. Erases the key.
bool make_private(const channel::Store& store, u64 inode) {
  const u64 at = reinterpret_cast<u64>(store.base), fd = inherited(channel::inherited_added);
  if (bytes_of(fd, inode) != 0 &&
      !failed(kernel(SYS_mmap, at, channel::store_bytes, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0)))
    return !failed(kernel(SYS_mmap, at, page_bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, ~u64{0}, 0));
  // Another process with the same descriptors was first: make a copy.
  u64 used = store.header().end;
  used = used < channel::store_bytes ? page_up(used) : channel::store_bytes;
  const s64 copied = kernel(SYS_mmap, 0, channel::store_bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, ~u64{0}, 0);
  if (failed(copied)) return false;
  copy(reinterpret_cast<u8*>(copied) + page_bytes, store.base + page_bytes, used - page_bytes);
  return !failed(kernel(SYS_mremap, static_cast<u64>(copied), channel::store_bytes, channel::store_bytes,
                        MREMAP_MAYMOVE | MREMAP_FIXED, at));
}

/// If so, the program may need the address space that the stores would take.
bool address_space_is_limited() {
  struct rlimit limit;
  return kernel(SYS_prlimit64, 0, RLIMIT_AS, 0, reinterpret_cast<u64>(&limit)) == 0 &&
         limit.rlim_cur != channel::no_limit && !channel::is_lifted(limit.rlim_cur);
}

channel::Bundle* put_names(u64 mark, u64 key, const u32* uses, u32 n, u64 more_bytes) {
  if (!writes) return nullptr;
  channel::Bundle made{{}, mark, key, n, 0, 0};
  const u64 bytes = sizeof made + channel::part_bytes(n * sizeof *uses) + more_bytes;
  if (bytes > channel::largest_bundle) return nullptr;
  made.head.bytes = static_cast<u32>(channel::record_bytes(bytes));
  made.head.tag = channel::Store::bundle_tag(key);
  u8* const at = claim_record(made.head.bytes);
  if (at == nullptr) return nullptr;
  copy(at, &made, sizeof made);
  if (uses != nullptr) copy(at + sizeof made, uses, n * sizeof *uses);
  return reinterpret_cast<channel::Bundle*>(at);
}

/// Half of the store is reserved for templates, because bundles are made from them.
bool has_room_for_bundles() { return writes && added.header().end <= channel::store_bytes / 2; }

/// Adds a complete record. Writes to the file if possible: each new page of the mapping would cost a page fault.
u8* write_record(const channel::RecordHead& head) {
  const u64 fd = inherited(channel::inherited_added);
  struct rlimit limit;
  const bool is_limited = kernel(SYS_prlimit64, 0, RLIMIT_FSIZE, 0, reinterpret_cast<u64>(&limit)) != 0 ||
                          limit.rlim_cur != channel::no_limit;
  if (is_limited || bytes_of(fd, added_inode) == 0) {
    u8* const at = claim_record(head.bytes);
    if (at != nullptr) copy(at, &head, head.bytes);
    return at;
  }
  u8* const at = added.claim(head.bytes);
  const u64 from = reinterpret_cast<u64>(&head), to = reinterpret_cast<u64>(at) - reinterpret_cast<u64>(added.base);
  return at != nullptr && kernel(SYS_pwrite64, fd, from, head.bytes, to) == head.bytes ? at : nullptr;
}

void publish_bundle(const channel::Bundle& bundle) {
  // Only the first bundle with a key is found.
  const channel::Bundle* const before = added.find_bundle(bundle.key, [](const channel::RecordHead&) { return true; });
  if (before == nullptr || !added.replace(before->head, added.place_of(bundle.head))) added.publish(bundle.head);
}

/// Stops finding records in a store: the program may run for another user, who must not get the key.
void forget_key() {
  if (checks == nullptr) return;
  clear(&checks->key, sizeof checks->key);
  checks = nullptr;
}

/// Copies the key from the file, which only programs of this user can read.
bool take_key() {
  const u64 at = try_reserve(page_up(sizeof(RecordChecks)), read_write);
  if (at == 0) return false;
  keep_from_core(at, page_up(sizeof(RecordChecks)));
  checks = reinterpret_cast<RecordChecks*>(at);
  copy(&checks->key, &added.header().key, sizeof checks->key);
  return true;
}

}  // namespace

u64 kind_of_code() {
  constexpr u64 checks_keys = 0xA0761D6478BD642Full, without_bmi2 = 0xE7037ED1A0B428DBull,
                fixed_random = 0x8EBC6AF09C88C6E3ull, counted_clock = 0x589965CC75374CC3ull,
                mix = 0x1D8E4E27C47D124Full;
  return instrumentation_key() ^ (settings().protection_keys != 0 ? checks_keys : 0) ^
         (settings().has_bmi2 != 0 ? 0 : without_bmi2) ^ (settings().repeatable != 0 ? fixed_random : 0) ^
         (settings().counts_clock != 0 ? counted_clock : 0) ^ (settings().mix != 0 ? mix : 0) ^ settings().cpu.key;
}

u32 tag_of(u64 pc) {
  u64 word = 0;  // aligned, so that it never crosses a page
  if (copy_code(&word, pc & ~7ull, 8) != 0) return 0;
  const u64 place = pc < low_limit ? pc : pc % page_bytes;
  word = (word ^ kind_of_code() ^ channel::hash64(place)) * 0xD6E8FEB86659FD93ull;
  const u32 tag = static_cast<u32>(word >> 32);
  return tag == 0 ? 1 : tag;
}

bool repair_store(u64 address) {
  for (const channel::Store* store : {&kept, &added}) {
    const u64 base = reinterpret_cast<u64>(store->base);
    if (base == 0 || address - base >= channel::store_bytes) continue;
    damaged++;
    return !failed(kernel(SYS_mmap, page_down(address), page_bytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, ~u64{0}, 0));
  }
  return false;
}

u32 store_damage() { return damaged; }

bool fits_template(const Template& t, u64 pc) {
  // Without ranges, the page of the record could not be read.
  if (t.low_pc != (pc < low_limit ? pc : 0) || t.kind != kind_of_code() || t.range_count == 0) return false;
  const u8* original = t.originals();
  for (u32 i = 0; i < t.range_count; i++) {
    const CodeRange& r = t.ranges()[i];
    if (!is_constant(r.at(pc), r.bytes) || (!is_own(t) && compare_code(original, r.at(pc), r.bytes) != 0) ||
        instrument::has_given_marks(r.at(pc), r.bytes))
      return false;
    original += r.bytes;
  }
  return true;
}

const Template* find_template(u64 pc) {
  if (kept.base == nullptr && added.base == nullptr) return nullptr;
  if (!is_constant(pc, 1)) return nullptr;
  const u32 tag = tag_of(pc);
  if (tag == 0) return nullptr;
  const channel::RecordHead* found = nullptr;
  const auto fits_in = [pc](const channel::Store& store) {
    return [pc, &store](const channel::RecordHead& r) {
      return is_template(r) && is_sound(store, r) && fits_template(*as_template(&r), pc);
    };
  };
  if (kept.base != nullptr) found = kept.find(tag, fits_in(kept));
  if (found == nullptr && added.base != nullptr) found = added.find(tag, fits_in(added));
  return as_template(found);
}

const Template* template_at(u32 use) {
  if ((use & use_own) != 0) {
    const u64 at = u64{use & ~use_own} * channel::record_unit;
    return at != 0 && at < own.size ? reinterpret_cast<const Template*>(own.data + at) : nullptr;
  }
  const bool is_added = (use & channel::use_added) != 0;
  const channel::Store& store = is_added ? added : kept;
  if (store.base == nullptr) return nullptr;
  const channel::RecordHead* const found = store.record(use & ~(channel::use_added | channel::use_better));
  return found != nullptr && is_template(*found) && is_sound(store, *found) ? as_template(found) : nullptr;
}

u32 use_of(const Template& t) {
  const u64 in_own = reinterpret_cast<u64>(&t) - reinterpret_cast<u64>(own.data);
  if (in_own < own.size) return static_cast<u32>(in_own / channel::record_unit) | use_own;
  const bool is_kept = reinterpret_cast<u64>(&t) - reinterpret_cast<u64>(kept.base) < channel::store_bytes;
  if (kept.base != nullptr && is_kept) return kept.place_of(t.head);
  return added.place_of(t.head) | channel::use_added;
}

const channel::Bundle* find_bundle(u64 key) {
  for (const channel::Store* store : {&added, &kept}) {
    if (store->base == nullptr) continue;
    const channel::Bundle* const found =
        store->find_bundle(key, [store](const channel::RecordHead& r) { return is_sound(*store, r); });
    if (found != nullptr) return found;
  }
  return nullptr;
}

bool has_sound_names(const channel::Bundle& bundle) {
  return checks != nullptr && channel::check_of_names(bundle, checks->key) == bundle.names_check;
}

bool is_added(const channel::RecordHead& record) {
  return reinterpret_cast<u64>(&record) - reinterpret_cast<u64>(added.base) < channel::store_bytes;
}

bool store_is_written() { return writes; }

u64 bytes_added() { return added.header().end; }

bool keeps_nothing() { return !instrumentation_can_be_kept(); }

u8* claim_own_record(u64 bytes) {
  if (own.limit == 0 && own.try_init_in_steps(own_limit)) own.size = channel::record_unit;
  bytes = channel::record_bytes(bytes);
  if (own.limit == 0 || own.full(static_cast<u32>(bytes))) return nullptr;
  own.size += static_cast<u32>(bytes);
  return own.data + own.size - bytes;
}

u8* claim_record(u64 bytes) {
  constexpr u64 step = 64 << 10;
  u8* const at = added.claim(bytes);
  if (at == nullptr) return nullptr;
  const u64 start = reinterpret_cast<u64>(at), end = start + bytes;
  const u64 mapped = (start + step - 1) & ~(step - 1), needed = (end + step - 1) & ~(step - 1);
  const u64 last = reinterpret_cast<u64>(added.base) + channel::store_bytes;
  if (mapped < needed) populate(reinterpret_cast<void*>(mapped), (needed < last ? needed : last) - mapped);
  return at;
}

void seal_record(channel::RecordHead& head) {
  if (checks != nullptr) channel::seal(head, checks->key);
}

void publish_record(const channel::RecordHead& head) { added.publish(head); }

channel::Bundle* begin_bundle(u64 key, u64 bytes) {
  return has_room_for_bundles() ? put_names(channel::bundle_mark, key, nullptr, 0, bytes) : nullptr;
}

bool add_bundle(channel::Bundle& bundle, u64 bytes) {
  if (!has_room_for_bundles()) return false;
  bundle.head.bytes = static_cast<u32>(channel::record_bytes(bytes));
  bundle.head.tag = channel::Store::bundle_tag(bundle.key);
  seal_record(bundle.head);
  u8* const at = write_record(bundle.head);
  if (at != nullptr) publish_bundle(*reinterpret_cast<channel::Bundle*>(at));
  return at != nullptr;
}

void end_bundle(channel::Bundle& bundle) {
  seal_record(bundle.head);
  publish_bundle(bundle);
}

void add_names(u64 mark, u64 key, const u32* names, u32 n) {
  if (channel::Bundle* const made = put_names(mark, key, names, n, 0); made != nullptr) seal_record(made->head);
}

void give_up_writing() {
  Guard guard(cache_lock);
  give_up_writing_locked();
}

void give_up_writing_locked() {
  // Templates in use stay at their addresses. Other processes may share this memory or these descriptors: handle both.
  if (writes && !make_private(added, added_inode)) {
    // The process has as many mappings as it may have: its templates can only be given up.
    kernel(SYS_munmap, reinterpret_cast<u64>(added.base), channel::store_bytes);
    added.base = nullptr;
  }
  writes = false;
  forget_key();
  // Do not close them, because the program would get their numbers.
  for (const auto which : {channel::inherited_kept, channel::inherited_added})
    kernel(SYS_dup3, inherited(channel::inherited_image), inherited(which), 02000000 /* O_CLOEXEC */);
}

void store_init(u64 kept_inode, u64 inode_of_added) {
  // Tests choose the length of traces; others must not use these.
  if (settings().trace_limit != 0 || address_space_is_limited()) return;
  added_inode = inode_of_added;
  writes = bytes_of(inherited(channel::inherited_added), added_inode) != 0 &&
           map_store(added, channel::inherited_added, PROT_READ | PROT_WRITE, channel::store_bytes) && take_key();
  const u64 bytes = writes ? bytes_of(inherited(channel::inherited_kept), kept_inode) : 0;
  if (bytes != 0) map_store(kept, channel::inherited_kept, PROT_READ, bytes);
}

void replace_template(const Template& t, const Template& by) {
  if (!(use_of(t) & channel::use_added) || !added.replace(t.head, added.place_of(by.head))) added.publish(by.head);
}

}  // namespace tally::engine::persist
