#include "tally/engine/translate/logged_code.hpp"

#include "tally/engine/code_log_writer.hpp"
#include "tally/engine/command_requests.hpp"
#include "tally/engine/translate/execution_counts.hpp"
#include "tally/engine/translate/file_identity.hpp"
#include "tally/engine/translate/mix_rows.hpp"

namespace tally::engine::translate {
namespace {

using channel::CodeRecordKind;

// Mappings that are in the log. If there are more, the oldest entry is replaced, and logged again when it is needed.
constexpr u32 logged_limit = 256;
LARGE LoggedMapping logged[logged_limit];
u32 changes;            // counts changes of `logged`; odd during a change
u32 next_slot, latest;  // the next entry to replace; the last entry that was found
u32 numbers;            // the number of mapping numbers in use
u32 no_file;            // the number shared by all mappings without a file; 0 = none yet
u32 unmapped;           // counts logged mappings of files that were unmapped

/// The file of a mapping.
struct LoggedFile {
  u64 start, end, offset;
  u64 inode;  // 0: no file
  u32 device_major, device_minor;
  u64 check;  // checksum of its identity
  u32 number;
  u32 path_bytes;  // 0: the path is too long
  char path[200];
};
static_assert(sizeof(LoggedFile) == 256);
LARGE LoggedFile file_of[logged_limit];  // by index in `logged`
// Files whose mappings were recently replaced by other memory. Code that is moved to huge pages reappears there.
constexpr u32 former_limit = 32;
LARGE LoggedFile former[former_limit];
u32 former_turn;

/// Changes `logged`, which known_mapping() reads without a lock. If a thread is killed during the change, the number
/// stays odd; the next change makes it even.
template <class Change>
void change_logged(Change&& change) {
  const u32 odd = __atomic_load_n(&changes, __ATOMIC_RELAXED) | 1;
  __atomic_store_n(&changes, odd, __ATOMIC_RELAXED);
  __atomic_thread_fence(__ATOMIC_RELEASE);
  change();
  __atomic_store_n(&changes, odd + 1, __ATOMIC_RELEASE);
}

/// Returns the number of the mapping of an address, without a lock. Returns 0 if it is not in the log, or changing now.
u32 known_mapping(u64 pc) {
  const u32 before = __atomic_load_n(&changes, __ATOMIC_ACQUIRE);
  u32 found = 0;
  for (u32 i = 0; i < logged_limit && found == 0; i++)
    if (const LoggedMapping one = logged[i]; one.has(pc)) found = one.number;
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
  return before % 2 == 0 && __atomic_load_n(&changes, __ATOMIC_RELAXED) == before ? found : 0;
}

/// Returns null if the mapping of an address is not in the log.
const LoggedMapping* logged_at(u64 pc) {
  if (logged[latest].has(pc)) return &logged[latest];
  for (u32 i = 0; i < logged_limit; i++)
    if (logged[i].has(pc)) return &logged[latest = i];
  return nullptr;
}

LoggedFile logged_file(const ListedMapping& m, const MappedFile& of) {
  LoggedFile file{};
  if (m.inode == 0) return file;
  file.check = check_of(of.identity());
  file.start = m.start;
  file.end = m.end;
  file.offset = m.offset;
  file.inode = m.inode;
  file.device_major = m.device_major;
  file.device_minor = m.device_minor;
  if (m.path_bytes > sizeof file.path) return file;
  file.path_bytes = m.path_bytes;
  copy(file.path, m.path, m.path_bytes);
  return file;
}

/// Returns the previous number for a file that reappears at the same addresses.
u32 number_of(const LoggedFile& file) {
  if (file.inode == 0) return no_file != 0 ? no_file : no_file = ++numbers;
  for (const LoggedFile& f : former)
    if (f.number != 0 && f.start - f.offset == file.start - file.offset && f.inode == file.inode &&
        f.device_major == file.device_major && f.device_minor == file.device_minor && f.check == file.check)
      return f.number;
  return ++numbers;
}

/// Passes the file to the command, which keeps it open in case its path later refers to another one.
void keep_file(MappedFile& file) {
  if (settings().keeps_files == 0 || file.fd() < 0) return;
  u64* const kept = own_records.shared.header().kept_files;
  const u64 check = check_of(file.identity());
  constexpr u32 most_tries = 64;
  u32 i = static_cast<u32>(check >> 32) % channel::kept_file_limit;
  for (u32 tries = 0; tries < most_tries; tries++, i = (i + 1) % channel::kept_file_limit) {
    u64 found = 0;
    if (__atomic_compare_exchange_n(&kept[i], &found, check, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
      ask_command(current(), channel::request_keep_file, file.release());
      return;
    }
    if (found == check) return;
  }
}

void add_mapping(const ListedMapping& m, const MappedFile& file, u32 flags) {
  auto* const record =
      reinterpret_cast<channel::CodeMapping*>(code_log_begin(sizeof(channel::CodeMapping) + m.path_bytes + 1));
  if (record == nullptr) return;
  record->start = m.start;
  record->end = m.end;
  record->offset = m.offset;
  record->inode = m.inode;
  record->device_major = m.device_major;
  record->device_minor = m.device_minor;
  record->identity = file.identity();
  record->flags = flags;
  const u32 at = next_slot++ % logged_limit;
  file_of[at] = logged_file(m, file);
  record->number = file_of[at].number = number_of(file_of[at]);
  copy(record + 1, m.path, m.path_bytes);
  code_log_end(&record->head, CodeRecordKind::mapping);
  change_logged([&] { logged[at] = {m.start, m.end, record->number}; });
  code_log_mapping_of = known_mapping;
}

/// For anonymous memory at `pc`: logs the file that was mapped there before, if it contains the same bytes.
bool add_copy_of_file(const ListedMapping& m, u64 pc) {
  for (u32 back = 1; back <= former_limit; back++) {
    const LoggedFile& f = former[(former_turn - back) % former_limit];
    if (f.path_bytes == 0 || pc - f.start >= f.end - f.start) continue;
    LARGE static ListedMapping made;
    made = m;
    if (made.start < f.start) made.start = f.start;
    if (made.end > f.end) made.end = f.end;
    made.offset = f.offset + (made.start - f.start);
    made.inode = f.inode;
    made.device_major = f.device_major;
    made.device_minor = f.device_minor;
    made.path_bytes = f.path_bytes;
    copy(made.path, f.path, f.path_bytes);
    MappedFile file(made);
    if (file.fd() >= 0 && find_same_bytes(file.fd(), pc, made.start, made.end, made.offset)) {
      keep_file(file);
      add_mapping(made, file, channel::mapping_copied);
    } else {
      made.start = m.start;
      made.end = m.end;
      made.inode = 0;
      add_mapping(made, file, channel::mapping_overwritten);
    }
    return true;
  }
  return false;
}

void add_mapping_of(const ListedMapping& m, u64 pc) {
  if (m.inode == 0 && m.path_bytes == 0 && add_copy_of_file(m, pc)) return;
  MappedFile file(m);
  keep_file(file);
  add_mapping(m, file, 0);
}

/// Returns the mapping of an address, and logs it if necessary.
LoggedMapping log_mapping_of(u64 pc) {
  lock_code();
  if (logged_at(pc) == nullptr) {
    LARGE static ListedMapping mapping;
    mapping = ListedMapping{};
    mapping.start = page_down(pc);
    mapping.end = mapping.start + page_bytes;
    LARGE static KernelMappings mappings;
    mappings.each([&](const ListedMapping& m) {
      if (pc - m.start < m.end - m.start) mapping = m;
    });
    add_mapping_of(mapping, pc);
  }
  const LoggedMapping* const known = logged_at(pc);
  const LoggedMapping found = known != nullptr ? *known : LoggedMapping{};
  unlock_code();
  return found;
}

u8 field_of(const InstructionMapping& p) {
  if (p.plain_field() != 0) return p.plain_field();
  channel::SegmentVector v{};
  add_kind(v, p.kind);
  for (u32 f = channel::conditional; f < channel::first_plain_field; f++)
    if (f != channel::taken && v.branches[f - 3] != 0) return static_cast<u8>(f);
  return 0;
}

void note_unmapped() {
  __atomic_add_fetch(&unmapped, 1, __ATOMIC_RELEASE);
  if (on_unmapped_mapping != nullptr) on_unmapped_mapping();
}

/// More instructions than any trace has, unless a test asks for longer ones.
constexpr u32 most_forms = 512;

bool is_on_path(const Trace& t, const InstructionMapping& p) { return !counts_exits(t) || p.segment == 0; }

void keep_former(const LoggedFile& file) {
  note_unmapped();
  for (const LoggedFile& f : former)
    if (f.number == file.number && f.start == file.start && f.end == file.end) return;
  former[former_turn++ % former_limit] = file;
}

}  // namespace

void (*on_unmapped_mapping)();

bool logs_forms() { return counts_mix() || settings().logs_code == channel::code_log_with_forms; }

void log_trace(const Trace& t) {
  if (!logs_code()) return;
  // A trace may extend to another mapping. Each mapping is logged before the trace.
  LoggedMapping mapping{};
  u32 places = 0;
  for (; places < t.place_count && is_on_path(t, t.places[places]); places++) {
    const InstructionMapping& p = t.places[places];
    const u64 pc = t.pc + static_cast<u64>(static_cast<s64>(p.pc));
    if (p.kind != Kind::end && !mapping.has(pc)) mapping = log_mapping_of(pc);
  }
  const bool has_forms = logs_forms() && places <= most_forms;
  static u16 form[most_forms];
  Code code;
  for (u32 i = 0; has_forms && i < places; i++)
    form[i] = t.places[i].kind == Kind::end
                  ? u16{0}
                  : static_cast<u16>(logged_form(code, t.pc + static_cast<u64>(static_cast<s64>(t.places[i].pc))));
  auto* const record = reinterpret_cast<channel::CodeTrace*>(code_log_begin(
      sizeof(channel::CodeTrace) + places * (sizeof(channel::CodePlace) + (has_forms ? sizeof(u16) : 0))));
  if (record == nullptr) return;
  record->pc = t.pc;
  record->number = t.number;
  record->places = places;
  record->segments = t.segment_count;
  record->counts_exits = counts_exits(t);
  record->has_forms = has_forms;
  if (counts_exits(t))
    for (u32 i = 1; i < t.segment_count; i++)
      if (t.segments[i].counted < t.segments[0].counted) record->early |= u64{1} << i;
  auto* const place = reinterpret_cast<channel::CodePlace*>(record + 1);
  for (u32 i = 0; i < places; i++) {
    const InstructionMapping& p = t.places[i];
    u32 flags = is_branch(p.kind) ? channel::place_branches : 0;
    if (is_branch(p.kind) && p.falls_through) flags |= channel::place_falls_through;
    if (p.kind == Kind::end) flags |= channel::place_is_end;
    place[i] = {p.pc, field_of(p), p.loads, p.stores, static_cast<u8>(flags)};
  }
  if (has_forms) copy(place + places, form, places * sizeof form[0]);
  code_log_end(&record->head, CodeRecordKind::trace);
}

bool log_has_room(u32 traces, u32 places) {
  const u64 of_place = sizeof(channel::CodePlace) + (logs_forms() ? sizeof(u16) : 0);
  const u64 forms = !logs_forms() ? 0 : places < form_limit ? places : form_limit;
  return code_log_has_room(u64{traces} * sizeof(channel::CodeTrace) + u64{places} * of_place +
                           forms * sizeof(channel::CodeForm));
}

void log_unmapped(u64 start, u64 end) {
  if (!logs_code()) return;
  for (u32 i = 0; i < logged_limit; i++) {
    if (logged[i].start >= end || logged[i].end <= start) continue;
    if (file_of[i].inode != 0) keep_former(file_of[i]);
    change_logged([&] { logged[i] = {}; });
    file_of[i] = {};
  }
}

u32 logged_mapping(u64 pc) { return logged_around(pc).number; }

LoggedMapping logged_around(u64 pc) { return logs_code() ? log_mapping_of(pc) : LoggedMapping{}; }

u32 unmapped_mappings() { return __atomic_load_n(&unmapped, __ATOMIC_ACQUIRE); }

void log_restarted() {
  forget_forms();
  change_logged([] {
    for (LoggedMapping& mapping : logged) mapping = {};
  });
  note_unmapped();
}

}  // namespace tally::engine::translate
