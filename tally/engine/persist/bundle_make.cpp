// Copies the code of templates next to one another, links exits, and lists the values that depend on the addresses of
// program and cache.
#include "tally/engine/persist/bundle_make.hpp"

#include <sys/mman.h>

#include "tally/engine/channel/hash.hpp"
#include "tally/engine/persist/code_marks.hpp"
#include "tally/engine/persist/reuse.hpp"
#include "tally/engine/translate/entry.hpp"
#include "tally/engine/translate/entry_check.hpp"
#include "tally/engine/translate/execution_counts.hpp"
#include "tally/engine/translate/generate.hpp"

namespace tally::engine::persist {
namespace {

/// A growing array of the bundle, in place.
template <class T>
struct Part {
  T* first = nullptr;
  u32 size = 0;
  T& add(const T& v) { return first[size++] = v; }
  T& operator[](u32 i) const { return first[i]; }
  const T* data() const { return first; }
};

/// The same for an array whose place depends on the sizes of others.
template <class T>
struct LatePart : Part<T> {
  bool begin(u32 limit) {
    if (!memory_.init(limit + 1)) return false;
    this->first = &memory_[0];
    return true;
  }

 private:
  Scratch<T> memory_;
};

class BundleMaker {
 public:
  explicit BundleMaker(const Module& m)
      : module_(m), start_(m.start), bytes_(static_cast<u32>(m.end - m.start)), key_(m.key) {}

  bool make() {
    const u32 damage_before = store_damage();
    if (!choose() || chosen_.size == 0 || !begin()) return false;
    copy_old();
    for (u32 i = 0; i < chosen_.size; i++) copy_trace(i);
    place_stubs();
    mark_code();
    return store_damage() == damage_before && write();
  }

 private:
  struct ChosenTemplate {
    u32 pc, place;
    const Template* of;
    u32 body, trace;
  };
  /// What a bundle contains of a template, or of the trace that is in the code cache.
  struct Contents {
    const channel::SegmentVector* vectors;
    const InstructionMapping* places;
    const Segment* segments;
    const u8* code;
    u32 code_bytes, place_count, segment_count;
  };
  static Contents contents(const ChosenTemplate& c) {
    const Template& t = *c.of;
    if (!is_own(t))
      return {t.vectors(), t.places(), t.segments(), t.code(), t.code_bytes, t.place_count, t.segment_count};
    const Trace& trace = tables.traces[c.trace];
    return {&segment(trace.number),
            trace.places,
            trace.segments,
            reinterpret_cast<const u8*>(trace.body),
            trace.bytes,
            trace.place_count,
            trace.segment_count};
  }
  static constexpr u32 none = ~u32{0};

  bool contains(u64 pc, u64 n) const { return pc - start_ < bytes_ && pc - start_ + n <= bytes_; }

  /// Whether all code that the template was made from is in this mapping and unchanged.
  bool fits(const Template& t, u64 pc) const {
    for (u32 i = 0; i < t.range_count; i++)
      if (!contains(pc + static_cast<u64>(static_cast<s64>(t.ranges()[i].from)), t.ranges()[i].bytes)) return false;
    for (u32 i = 0; i < t.fixup_count; i++)
      if (!fits32(static_cast<s64>(pc - start_) + t.fixups()[i].value)) return false;
    return room_before(t, 0) < room_nowhere && fits_template(t, pc);
  }

  struct Slot {
    u32 pc, chosen;  // chosen: 1 + index of the trace of the old bundle, and then of the template
  };

  /// Open addressing by program address. Returns a free slot if no template was chosen.
  Slot& slot(u32 pc) {
    // Neighbouring code has neighbouring slots: a cache line for 128 bytes of code.
    u32 i = (channel::hash32(pc >> 7) << 3 | (pc >> 4 & 7)) & slot_mask_;
    while (slots_[i].chosen != 0 && slots_[i].pc != pc) i = (i + 1) & slot_mask_;
    return slots_[i];
  }

  /// Whether a trace of this use was executed.
  bool was_executed(const Used& used) const {
    if (used.trace == 0) return true;  // unknown
    const Trace& t = tables.traces[used.trace];
    for (u32 i = 0; i < t.segment_count; i++)
      if (executions_[t.number + i] != 0) return true;
    return false;
  }

  /// Includes traces that were not executed this time if they are the minority, because runs of a program differ.
  bool choose() {
    if (bytes_ > 1u << 30) return false;
    Guard guard(threads_lock);
    if (!executions_.init(current())) return false;
    u32 n = 0, idle = 0;
    for (u32 i = 0; i < uses.size; i++) {
      if (!contains(uses[i].pc, 1)) continue;
      n++;
      idle += !was_executed(uses[i]);
    }
    const bool all = idle <= n / 2;
    // The traces of the bundle that was loaded stay as they are: not all of them have templates.
    const bool extends = all && module_.loaded > 0 && read_bundle(*module_.found, old_, from_);
    if (!extends || !fits_bundle(old_, from_, start_)) old_ = {};
    slot_mask_ = 63;
    while (slot_mask_ < 2 * n) slot_mask_ = slot_mask_ * 2 + 1;
    if (!chosen_.begin(n) || !slots_.init(slot_mask_ + 1)) return false;
    populate(&slots_[0], (slot_mask_ + 1) * sizeof(Slot));
    for (u32 i = 0; i < old_.traces; i++) slot(from_.traces[i].pc) = {from_.traces[i].pc, i + 1};
    for (u32 i = 0; i < uses.size && chosen_.size + old_.traces < bundle_limit; i++) {
      if (!contains(uses[i].pc, 1) || !(all || was_executed(uses[i]))) continue;
      const u32 pc = static_cast<u32>(uses[i].pc - start_);
      Slot& of_pc = slot(pc);
      const Template* const t = of_pc.chosen - 1 < old_.traces ? nullptr : template_at(uses[i].place);
      if (t == nullptr || !fits(*t, uses[i].pc)) continue;
      if (is_own(*t) && (uses[i].trace == 0 || tables.traces[uses[i].trace].dead)) continue;
      const ChosenTemplate used{pc, uses[i].place, t, 0, uses[i].trace};
      if (of_pc.chosen != 0)
        chosen_[of_pc.chosen - 1 - old_.traces] = used;
      else
        chosen_.add(used), of_pc = {pc, old_.traces + chosen_.size};
    }
    return true;
  }

  /// Address of the code at `pc`, or `none`.
  u32 body_of(u32 pc) {
    const u32 i = slot(pc).chosen - 1;
    return i == none ? none : i < old_.traces ? from_.traces[i].body : chosen_[i - old_.traces].body;
  }

  /// Determines where each trace will be, and reserves room for all arrays.
  bool begin() {
    u32 places = old_.places, segments = old_.segments, numbers = old_.numbers, fixups = old_.exits, pushed = 0;
    u32 pages = old_.pages, ranges = old_.ranges, originals = old_.original_bytes;
    u64 code = old_.code_bytes;
    for (u32 i = 0; i < chosen_.size; i++) {
      const Template& t = *chosen_[i].of;
      const Contents c = contents(chosen_[i]);
      places += c.place_count;
      segments += c.segment_count;
      numbers = placed(numbers, c.segment_count) + c.segment_count;
      fixups += t.fixup_count;
      for (u32 k = 0; k < t.fixup_count; k++) pushed += t.fixups()[k].what == Fix::pushed;
      ranges += t.range_count;
      for (u32 k = 0; k < t.range_count; k++) {
        originals += t.ranges()[k].bytes;
        pages += t.ranges()[k].bytes / page_bytes + 2;
      }
      code += dead_jump_bytes + (t.by_jump ? entry_check_bytes(start_ + chosen_[i].pc) : 0);
      code = (code + trace_alignment - 1) & ~(trace_alignment - 1);
      code += room_before(t, code);
      chosen_[i].body = static_cast<u32>(code);
      code += c.code_bytes;
    }
    code_.size = static_cast<u32>(channel::part_bytes(code));
    bool enough = true;
    for (u32 i = 0; i < shift_count; i++) enough = enough && shifts_[i].begin(fixups + old_.shifts[i]);
    if (!enough || !exits_.begin(fixups) || !pages_.begin(pages) || !literals_.begin(pushed) ||
        !ranges_.begin(ranges) || !mark_words_.init(marks_.words_for(bytes_)))
      return false;
    const u32 traces = chosen_.size + old_.traces;
    // The arrays after the code have their final sizes only in the end, and at most this one together.
    u64 last = fixups * (sizeof(BundleExit) + sizeof(u32)) + pages * sizeof(BundlePage) + 128;
    last += ranges * sizeof(CodeRange) + originals;
    for (const u32 n : old_.shifts) last += n * sizeof(u32);
    u64 at = sizeof *made_ + channel::part_bytes(traces * sizeof(u32)) + sizeof(BundleHead);
    const auto put = [&at]<class T>(Part<T>& array, u32 n) {
      array.first = reinterpret_cast<T*>(at);
      at += channel::part_bytes(n * sizeof(T));
    };
    const auto put_all = [&] {
      put(traces_, traces), put(vectors_, numbers), put(places_, places), put(segments_, segments);
      put(code_, code_.size + pushed * 8);
    };
    put_all();
    if (at + last > channel::largest_bundle || !memory_.init(static_cast<u32>(at + last))) return false;
    made_ = reinterpret_cast<channel::Bundle*>(&memory_[0]);
    *made_ = {{}, channel::bundle_mark, key_, traces, 0, 0};
    names_.first = made_->uses();
    at = reinterpret_cast<u64>(made_->after_names()) + sizeof(BundleHead);
    put_all();
    return true;
  }

  template <class T>
  static void copy_part(Part<T>& to, const T* from, u32 n) {
    copy(to.first, from, n * sizeof(T));
    to.size = n;
  }

  /// Copies the old bundle, and links its exits to the new traces.
  void copy_old() {
    copy(&code_[0], from_.code, old_.code_bytes);
    copy_part(traces_, from_.traces, old_.traces);
    copy_part(vectors_, from_.vectors, head_.numbers = old_.numbers);
    copy_part(places_, from_.places, old_.places);
    copy_part(segments_, from_.segments, old_.segments);
    copy_part(pages_, from_.pages, old_.pages);
    for (u32 i = 0; i < shift_count; i++) copy_part(shifts_[i], from_.shifts[i], old_.shifts[i]);
    for (u32 i = 0; i < old_.traces; i++) {
      const Used& used = uses[module_.first_use + i];
      names_.add((used.is_better() ? used.place | channel::use_better : used.bundled) & ~use_own);
    }
    for (u32 i = 0; i < old_.exits; i++) {
      const BundleExit& exit = from_.exits[i];
      const u32 body = exit.pointed == 0 ? body_of(static_cast<u32>(exit.target)) : none;
      head_.different_pages += exit.pointed != 0;
      if (body != none)
        put(exit.source, body - exit.source - 4);
      else
        exits_.add(exit);
    }
    for (u32 i = 0; i < old_.ranges; i++) marks_.add(static_cast<u32>(from_.ranges[i].from), from_.ranges[i].bytes);
    head_.lowest = old_.lowest;
    head_.highest = old_.highest;
  }

  void copy_trace(u32 chosen) {
    const ChosenTemplate& c = chosen_[chosen];
    const Template& t = *c.of;
    const u32 index = traces_.size;
    names_.add((c.place & use_own) != 0 ? 0 : c.place);
    const Contents from = contents(c);
    const u32 number = placed(head_.numbers, from.segment_count);
    traces_.add({c.pc, c.body, number, places_.size, segments_.size, static_cast<u16>(from.code_bytes),
                 static_cast<u16>(from.place_count), static_cast<u8>(from.segment_count), t.looked_ahead, t.by_jump,
                 0});
    for (u32 i = 0; i < from.segment_count; i++) {
      vectors_[number + i] = from.vectors[i];
      segments_.add(from.segments[i]);
    }
    head_.numbers = number + from.segment_count;
    for (u32 i = 0; i < from.place_count; i++) places_.add(from.places[i]);
    copy(&code_[c.body], from.code, from.code_bytes);
    for (u32 i = 0; i < t.fixup_count; i++) apply(c, t.fixups()[i], index, number);
    for (u32 i = 0; i < t.range_count; i++) {
      const u64 first = c.pc + static_cast<u64>(static_cast<s64>(t.ranges()[i].from));
      for (u64 page = first / page_bytes; page * page_bytes < first + t.ranges()[i].bytes; page++)
        pages_.add({static_cast<u32>(page), index});
      marks_.add(static_cast<u32>(first), t.ranges()[i].bytes);
    }
  }

  template <class Word>
  void put(u32 offset, Word word) {
    __builtin_memcpy(&code_[offset], &word, sizeof word);
  }

  void add_shift(Shift what, u32 offset) { shifts_[static_cast<u32>(what)].add(offset); }

  void apply(const ChosenTemplate& c, const Fixup& f, u32 index, u32 number) {
    const u32 at = c.body + f.offset, after = at + 4;
    const u32 to = c.pc + static_cast<u32>(f.value);
    switch (f.what) {
      case Fix::counter:
        put(at, static_cast<u32>(counters_at + 8 * (number + static_cast<u32>(f.value))));
        return add_shift(Shift::counter, at);
      case Fix::relative:
        put(at, to - after - f.extra);
        if (static_cast<s32>(to) < head_.lowest) head_.lowest = static_cast<s32>(to);
        if (static_cast<s32>(to) > head_.highest) head_.highest = static_cast<s32>(to);
        return add_shift(Shift::relative, at);
      case Fix::pushed: literals_.add({at, to}); return;
      case Fix::gate:
        put(at, f.extra * gate_bytes - after);  // see Gate
        return add_shift(Shift::system_call, at);
      case Fix::low_address: put(at, to); return add_shift(Shift::low_address, at);
      case Fix::address:
        put(at, static_cast<u64>(static_cast<s64>(static_cast<s32>(to))));
        return add_shift(Shift::address, at);
      case Fix::exit_by:
        head_.different_pages++;
        exits_.add({at, static_cast<s32>(to), index + 1});
        return;
      case Fix::exit:
        if (const u32 body = body_of(to); body != none)
          put(at, body - after);
        else
          exits_.add({at, static_cast<s32>(to), 0});
        return;
      default: return;  // of models, for which there are no bundles
    }
  }

  void place_stubs() {
    for (u32 i = 0; i < literals_.size; i++) {
      const u32 at = code_.size;
      put(at, static_cast<u64>(static_cast<s64>(static_cast<s32>(literals_[i].value))));
      add_shift(Shift::address, at);
      put(literals_[i].source, at - literals_[i].source - 4);
      code_.size += 8;
    }
    for (u32 i = 0; i < exits_.size; i++) put(exits_[i].source, code_.size + i * stub_bytes - exits_[i].source - 4);
  }

  /// Lists the code ranges that the bundle relies on, in ascending order.
  void mark_code() {
    u32 next_page = 0;
    marks_.each_range(bytes_, [&](u32 from, u32 bytes) {
      ranges_.add({static_cast<s32>(from), bytes});
      head_.original_bytes += bytes;
      const u32 first = from / page_bytes, last = (from + bytes - 1) / page_bytes;
      head_.different_pages += last + 1 - (first > next_page ? first : next_page);
      next_page = last + 1;
    });
  }

  bool write() {
    head_.low_start = start_ < low_limit ? start_ : 0;
    head_.block_bytes = code_.size + exits_.size * stub_bytes;
    head_.code_bytes = code_.size;
    head_.traces = traces_.size;
    head_.places = places_.size;
    head_.segments = segments_.size;
    head_.exits = exits_.size;
    head_.pages = pages_.size;
    head_.ranges = ranges_.size;
    BundleParts from{};
    from.exits = exits_.data();
    from.pages = pages_.data();
    from.ranges = ranges_.data();
    for (u32 i = 0; i < shift_count; i++) {
      head_.shifts[i] = shifts_[i].size;
      from.shifts[i] = shifts_[i].data();
    }
    u8* to = made_->after_names();
    copy(to, &head_, sizeof head_);
    to += sizeof head_;
    each_part(head_, from, [&](const auto* part, u32 n) {
      if (part != nullptr) copy(to, part, n * sizeof *part);
      to += channel::part_bytes(u64{n} * sizeof *part);
    });
    copy_originals(to - channel::part_bytes(head_.original_bytes));
    return add_bundle(*made_, static_cast<u64>(to - reinterpret_cast<u8*>(made_)));
  }

  void copy_originals(u8* to) const {
    for (u32 i = 0; i < ranges_.size; i++) {
      // If another thread unmaps the code, nobody will find the same code.
      safe_copy(to, reinterpret_cast<const void*>(start_ + static_cast<u32>(ranges_[i].from)), ranges_[i].bytes);
      to += ranges_[i].bytes;
    }
  }

  struct Literal {
    u32 source, value;
  };

  const Module& module_;
  u64 start_;
  u32 bytes_;
  u64 key_;
  BundleHead old_{};  // of the bundle that this one extends; empty if there is none
  BundleParts from_{};
  Scratch<u8> memory_;
  channel::Bundle* made_ = nullptr;
  LatePart<ChosenTemplate> chosen_;
  Scratch<Slot> slots_;
  Executions executions_;
  u32 slot_mask_ = 0;
  Part<BundleTrace> traces_;
  Part<channel::SegmentVector> vectors_;
  Part<InstructionMapping> places_;
  Part<Segment> segments_;
  Part<u8> code_;
  Part<u32> names_;
  LatePart<BundleExit> exits_;
  LatePart<BundlePage> pages_;
  LatePart<CodeRange> ranges_;
  LatePart<u32> shifts_[shift_count];
  LatePart<Literal> literals_;
  Scratch<u64> mark_words_;
  CodeMarks<Scratch<u64>> marks_{mark_words_};  // of the mapping
  BundleHead head_{};
};

}  // namespace

bool make_bundle(const Module& m) { return BundleMaker(m).make(); }

}  // namespace tally::engine::persist
