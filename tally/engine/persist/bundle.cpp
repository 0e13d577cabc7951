#include "tally/engine/persist/bundle.hpp"

#include <initializer_list>

#include "tally/engine/instrument/instrumentation_key.hpp"
#include "tally/engine/persist/bundle_log.hpp"
#include "tally/engine/persist/bundle_make.hpp"
#include "tally/engine/translate/absent_code.hpp"
#include "tally/engine/translate/entry.hpp"
#include "tally/engine/translate/entry_check.hpp"
#include "tally/engine/translate/logged_code.hpp"
#include "tally/engine/translate/mix_rows.hpp"

namespace tally::engine::persist {

Growing<Used> uses;

namespace {

constexpr u32 use_limit = 1u << 19;
Growing<u32> replaced;  // pairs: a used template and its replacement
u64 entry, program;
bool is_kept;  // the bundles of this process are stored, or must not be

constexpr u32 module_limit = 64;
Module modules[module_limit];
u32 modules_known;

Module* module_of(u64 pc) {
  for (u32 i = 0; i < modules_known; i++)
    if (pc - modules[i].start < modules[i].end - modules[i].start) return &modules[i];
  return nullptr;
}

/// Hashes the key, the length of a mapping and eight words of its code.
u64 mix_key(u64 key, u64 bytes, u64 code) {
  u64 words[10] = {key, bytes};
  copy_code(words + 2, code, 8 * sizeof(u64));
  return channel::check_of(words, sizeof words);
}

/// The key of a program: the same in each run, whatever the program is called; a script has the key of its interpreter.
/// Covers several positions, because many programs have the same size and the same first bytes.
u64 key_of_program() {
  u64 start = 0, end = 0;
  // Code has other sizes.
  u64 key = settings().loop_is_fast | settings().protection_keys << 1 | settings().has_bmi2 << 2 |
            settings().repeatable << 3 | settings().counts_clock << 4 | u64{settings().mix} << 5 |
            settings().cpu.key << 6;
  if (!constant_around(entry, start, end)) return key;
  for (u64 quarter = 0; quarter < 4; quarter++) key = mix_key(key, end - start, start + (end - start) / 4 * quarter);
  return mix_key(key, end - start, entry & ~63ull);
}

u64 key_of(const Module& m) { return mix_key(program, m.end - m.start, m.start); }

/// Copies one bundle into the cache.
class Loader {
 public:
  Loader(const channel::Bundle& bundle, u64 start) : bundle_(bundle), start_(start) {}

  /// Returns the number of traces created; 0 if the bundle does not fit.
  u32 load() {
    if (!read_bundle(bundle_, head_, parts_) || head_.low_start != (start_ < low_limit ? start_ : 0)) return 0;
    arena_ = arena_for(start_);
    if (arena_ == nullptr || !has_room(*arena_, head_.traces, head_.block_bytes)) return 0;
    block_ = (arena_->hot + block_alignment - 1) & ~(block_alignment - 1);
    if (!reaches(head_.lowest) || !reaches(head_.highest)) return 0;
    if (!have_room(head_.traces, head_.exits, head_.pages, head_.different_pages, head_.numbers) ||
        !log_has_room(head_.traces, head_.places))
      return 0;
    const u32 damage_before = store_damage();
    if (uses.full(head_.traces) || !fits_bundle(head_, parts_, start_)) return 0;
    has_names_ = has_sound_names(bundle_);
    touch_pages();
    if (tables.traces.size + head_.traces > large_program) use_huge_pages();
    first_number_ = new_segment_pages(parts_.vectors, head_.numbers);
    if (first_number_ == 0) return 0;
    copy_code();
    // A part could not be read: the code is not used, and the segment numbers claimed for it stay unused.
    if (store_damage() != damage_before) return 0;
    arena_->hot = block_ + head_.block_bytes;
    add_traces();
    lead_exits();
    return head_.traces;
  }

 private:
  /// Whether the whole block can reach this address by a displacement.
  bool reaches(s64 from_start) const {
    const s64 distance = static_cast<s64>(start_ - block_) + from_start;
    return fits32(distance) && fits32(distance - head_.block_bytes);
  }

  /// Reads each page now, so that a failing disk is noticed as damage here and not halfway through copying.
  void touch_pages() const {
    const volatile u8* const record = reinterpret_cast<const u8*>(&bundle_);
    for (u64 at = 0; at < bundle_.head.bytes; at += page_bytes) record[at];
  }

  template <class Word>
  void shift(Shift what, u64 by) const {
    if (by == 0) return;
    const u32* const offsets = parts_.shifts[static_cast<u32>(what)];
    for (u32 i = 0; i < head_.shifts[static_cast<u32>(what)]; i++) {
      u8* const at = reinterpret_cast<u8*>(block_ + offsets[i]);
      Word word;
      __builtin_memcpy(&word, at, sizeof word);
      word = static_cast<Word>(word + by);
      __builtin_memcpy(at, &word, sizeof word);
    }
  }

  void copy_code() {
    populate(reinterpret_cast<void*>(block_), head_.block_bytes);
    copy(reinterpret_cast<void*>(block_), parts_.code, head_.code_bytes);
    shift<u32>(Shift::counter, 8 * first_number_);
    shift<u32>(Shift::relative, start_ - block_);
    shift<u64>(Shift::address, start_);
    shift<u32>(Shift::low_address, start_);
    shift<u32>(Shift::system_call, arena_->to_syscall - block_);
  }

  /// In a short program, each slot is a page of the jump table: it is written when its target has been reached some
  /// times. A large bundle fills all pages anyway, and saves an engine entry for each target.
  bool fills_slots() const { return head_.traces > 2048; }

  void add_traces() {
    first_trace_ = tables.traces.size;
    const CodeRange& last = parts_.ranges[head_.ranges - 1];
    BundleLog log(bundle_, start_, start_ + static_cast<u32>(last.from) + last.bytes - 1, first_number_);
    const bool is_logged = log.log(head_.traces);
    tables.traces.populate_next(head_.traces);
    uses.populate_next(head_.traces);
    for (u32 i = 0; i < head_.traces; i++) {
      const BundleTrace& stored = parts_.traces[i];
      const u64 pc = start_ + stored.pc, body = block_ + stored.body;
      Trace& t = *new_trace(*arena_, pc, body - (stored.by_jump ? entry_check_bytes(pc) : 0), true);
      if (stored.by_jump) {
        Emitter e{reinterpret_cast<u8*>(t.start)};
        t.entry = emit_entry_check(*arena_, e, pc);
        if (fills_slots())
          if (u64& slot = jump_slot(current(), pc); slot == reinterpret_cast<u64>(engine_no_target) && !has_better(i))
            slot = t.entry;
      }
      t.body = body;
      t.places = parts_.places + stored.place;
      t.segments = parts_.segments + stored.segment;
      t.bytes = stored.bytes;
      t.place_count = stored.place_count;
      t.number = first_number_ + stored.number;
      t.segment_count = stored.segment_count;
      t.looked_ahead = stored.looked_ahead;
      t.use = uses.add({pc, name(i) & ~channel::use_better, name(i), first_trace_ + i}) + 1;
      fill_mix_rows(t);
      if (!is_logged) log_trace(t);
    }
    if (!is_logged) log.store(head_.traces);
    for (u32 i = 0; i < head_.pages; i++)
      register_code(first_trace_ + parts_.pages[i].trace, start_ + parts_.pages[i].page * page_bytes, page_bytes);
  }

  void lead_exits() {
    populate_links(head_.exits);
    Emitter stub{reinterpret_cast<u8*>(block_ + head_.block_bytes - u64{head_.exits} * stub_bytes)};
    for (u32 i = 0; i < head_.exits; i++) {
      const BundleExit& exit = parts_.exits[i];
      u64 target = start_ + static_cast<u64>(static_cast<s64>(exit.target));
      if (exit.pointed != 0) target = follow(target, first_trace_ + exit.pointed - 1);
      emit_stub(*arena_, stub, block_ + exit.source, target);
    }
    // Traces with a better template are replaced when the program reaches them.
    for (u32 i = 0; i < head_.traces; i++)
      if (has_better(i)) give_up(tables.traces[first_trace_ + i]);
  }

  /// Identifies the template that the trace was made from.
  u32 name(u32 i) const { return has_names_ && bundle_.uses()[i] != 0 ? bundle_.uses()[i] : use_own; }
  bool has_better(u32 i) const { return (name(i) & channel::use_better) != 0; }

  static void give_up(Trace& t) {
    if (t.dead) return;
    mark_dead(t);
    supersede(t, nullptr);
  }

  /// Returns the target of a pointer that a trace relies on.
  u64 follow(u64 pointer, u32 trace) {
    u64 target = 0;
    register_code(trace, pointer, 8);
    if (read_pointer(pointer, target) && serves(*arena_, target)) return target;
    // The pointer may change: the trace is dropped, and translated again without it when the program reaches it.
    give_up(tables.traces[trace]);
    return 0;
  }

  static constexpr u64 block_alignment = 64;  // keeps a displacement within one cache line

  const channel::Bundle& bundle_;
  u64 start_;
  BundleHead head_{};
  BundleParts parts_{};
  Arena* arena_ = nullptr;
  u64 block_ = 0;
  u32 first_number_ = 0, first_trace_ = 0;
  bool has_names_ = false;
};

/// Records that the program ran. `collects`: this process makes a bundle, but may be killed before; otherwise a later
/// one does.
void note_program(Module& m, bool collects) {
  m.collects |= collects;
  if (find_bundle(m.key) != m.found) return;  // another process of this run was first
  channel::Bundle* const note = begin_bundle(m.key, collects ? channel::record_unit : 0);
  if (note == nullptr) return;
  end_bundle(*note);
  if (collects) m.found = note;
}
/// Whether there is a bundle, which could not be loaded, or a process of an earlier run was killed before it made one.
bool was_collected(const channel::Bundle& note) {
  return note.use_count > 0 || (note.head.bytes > sizeof note && !is_added(note.head));
}

/// Records the templates that are better than those in a bundle, which itself stays unchanged.
void note_improvements(const Module& m) {
  static u32 names[3 * 256];
  u32 n = 0;
  for (u32 i = 0; i < m.loaded && n < sizeof names / sizeof *names; i++) {
    const Used& used = uses[m.first_use + i];
    if (!used.is_better() || (used.bundled & channel::use_better) != 0) continue;
    for (const u32 name : {i, used.bundled & ~use_own, used.place}) names[n++] = name;
  }
  if (n > 0) add_names(channel::improvements_mark, m.key, names, n);
}

}  // namespace

bool read_bundle(const channel::Bundle& bundle, BundleHead& head, BundleParts& parts) {
  const u8* at = bundle.after_names();
  const u8* const end = reinterpret_cast<const u8*>(&bundle) + bundle.head.bytes;
  if (end - at < static_cast<s64>(sizeof head)) return false;
  __builtin_memcpy(&head, at, sizeof head);
  at += sizeof head;
  bool inside = head.traces == bundle.use_count && head.traces > 0;
  each_part(head, parts, [&](auto*& part, u32 n) {
    part = reinterpret_cast<decltype(+part)>(at);
    const u64 bytes = channel::part_bytes(u64{n} * sizeof *part);
    inside = inside && bytes <= static_cast<u64>(end - at);
    if (inside) at += bytes;
  });
  return inside && head.code_bytes + u64{head.exits} * stub_bytes <= head.block_bytes;
}

bool fits_bundle(const BundleHead& head, const BundleParts& parts, u64 start) {
  if (head.ranges == 0) return false;
  const CodeRange &first = parts.ranges[0], &last = parts.ranges[head.ranges - 1];
  if (!is_constant(start + static_cast<u32>(first.from), static_cast<u32>(last.from - first.from) + last.bytes))
    return false;
  const u8* original = parts.originals;
  for (u32 i = 0; i < head.ranges; i++) {
    const CodeRange& r = parts.ranges[i];
    if (compare_code(original, start + static_cast<u32>(r.from), r.bytes) != 0) return false;
    original += r.bytes;
  }
  return true;
}

void bundles_init(u64 first_instruction) {
  entry = first_instruction;
  uses.init(use_limit);
  replaced.init(use_limit);
}

u64 key_in_program(u64 key) {
  if (program == 0) program = key_of_program();
  const u64 words[2] = {program, key};
  return channel::check_of(words, sizeof words);
}

bool load_bundle(u64 pc) {
  Module m{};
  // Instrumented code has too many values that depend on addresses.
  if (instrumentation_key() != 0 || module_of(pc) != nullptr || !store_is_written() || modules_known == module_limit ||
      !constant_around(pc, m.start, m.end))
    return false;
  if (program == 0) program = key_of_program();
  m.key = key_of(m);
  m.first_use = uses.size;
  m.found = find_bundle(m.key);
  if (m.found != nullptr) m.loaded = Loader(*m.found, m.start).load();
  modules[modules_known++] = m;
  return m.loaded > 0;
}

bool has_templates(u64 pc) {
  const Module* const m = module_of(pc);
  return m == nullptr || m->loaded > 0 || m->fresh < large_program || m->reused >= m->fresh / 2;
}

Keep keep_of(u64 pc) {
  Module* const m = module_of(pc);
  if (m == nullptr || m->loaded > 0 || m->fresh < large_program) return Keep::now;
  if (m->found != nullptr && !m->collects && was_collected(*m->found)) return Keep::now;
  if (is_kept) return Keep::later;
  if (!m->collects) note_program(*m, true);
  return Keep::in_bundle;
}

bool is_only_in_bundle(u32 use, bool& by_jump) {
  const Used& used = uses[use - 1];
  if (used.place != use_own) return false;
  by_jump = tables.traces[used.trace].entry != 0;
  return true;
}

void forget_modules(u64 start, u64 end) {
  for (u32 i = modules_known; i-- > 0;)
    if (modules[i].start < end && modules[i].end > start) modules[i] = modules[--modules_known];
}

u32 note_use(const Template& t, const Trace& trace, bool is_reused) {
  const u64 pc = trace.pc;
  if (uses.full()) return 0;
  if (Module* const m = module_of(pc); m != nullptr) {
    m->reused += is_reused;
    m->fresh++;
  }
  return uses.add({pc, use_of(t), 0, static_cast<u32>(&trace - tables.traces.data)}) + 1;
}

void forget_used_traces() {
  for (u32 i = 0; i < uses.size; i++) uses[i].trace = 0;
}

const Template* used_template(u32 use) { return template_at(uses[use - 1].place); }

void replace_used(u32 use, const Template& by) {
  Used& used = uses[use - 1];
  const u32 by_place = use_of(by);
  if ((used.place & use_own) != 0) {
    publish_record(by.head);
  } else {
    const Template* const t = used_template(use);
    if (t == nullptr || replaced.full(2)) return;
    replace_template(*t, by);
    replaced.add(used.place);
    replaced.add(by_place);
  }
  used.place = by_place;
  if (Module* const m = module_of(used.pc); m != nullptr && used.bundled != 0) m->better++;
}

void keep_bundles() {
  Guard guard(cache_lock);
  // With a full cache, the bundle would have been refused.
  if (is_kept || cache_is_damaged() || !store_is_written() || settings().cache_limit != 0 || code_may_be_absent())
    return;
  if (replaced.size > 0) add_names(channel::replacements_mark, 0, replaced.data, replaced.size);
  replaced.size = 0;
  if (instrumentation_key() != 0) return;
  for (u32 i = 0; i < modules_known; i++) {
    Module& m = modules[i];
    // Creating a few traces each time costs less than creating a bundle each time.
    constexpr u32 least = 16, fresh_share = 8;
    if (m.fresh + m.loaded < least || m.fresh + m.better == 0) continue;
    is_kept = true;
    const channel::Bundle* const now = find_bundle(m.key);
    if (now != m.found && now != nullptr && now->use_count > 0) continue;  // another process has created one meanwhile
    if (m.found == nullptr && !m.collects)
      note_program(m, false);
    else if (m.loaded == bundle_limit || m.fresh <= m.loaded / fresh_share || !make_bundle(m))
      note_improvements(m);
  }
}

void drop_uses() { is_kept = true; }

}  // namespace tally::engine::persist
