// Translates program code to a trace: decodes one segment at a time, copies it, and gives it one counter.
#include "tally/engine/translate/code_reading.hpp"
#include "tally/engine/translate/compared_code.hpp"
#include "tally/engine/translate/countdown_code.hpp"
#include "tally/engine/translate/instrumentation.hpp"
#include "tally/engine/translate/logged_code.hpp"
#include "tally/engine/translate/mix_rows.hpp"
#include "tally/engine/translate/path_hash_code.hpp"
#include "tally/engine/translate/program_marks.hpp"
#include "tally/engine/translate/protection_keys.hpp"
#include "tally/engine/translate/source_probes.hpp"

namespace tally::engine::translate {
namespace {

constexpr u32 segment_instructions = 64;  // most instructions of one segment
// A trace ends at the next opportunity after this, unless settings differ. Longer traces make short programs slower
// (more code is translated than runs) and long ones hardly faster.
constexpr u32 trace_instructions = 24;
constexpr u32 trace_segments = 4;

Instruction* buffer() {
  static Instruction* b;
  if (b == nullptr)
    b = reinterpret_cast<Instruction*>(reserve(page_up(sizeof(Instruction) * (segment_instructions + 1)), read_write));
  return b;
}

bool is_conditional(Kind k) { return k == Kind::jcc || k == Kind::loop; }

/// Creates one trace.
class Translator {
 public:
  Translator(u64 pc, bool steps, bool by_jump) : pc_(pc), at_(pc), steps_(steps), by_jump_(by_jump) {
    limit_ = steps ? 1 : settings().trace_limit != 0 ? settings().trace_limit : trace_instructions;
  }

  Outcome translate(Trace*& out) {
    if (!tables_have_room()) return Outcome::no_room;
    query_code(pc_);
    out = steps_ ? nullptr : resumed();
    if (out != nullptr) return Outcome::translated;
    const bool may_be_stored = !steps_ && !is_changing_code(pc_);
    if (may_be_stored && persistent_cache->load(pc_)) {
      out = find_trace(pc_);
      if (out != nullptr) return Outcome::translated;
    }
    const Template* known = may_be_stored ? persistent_cache->find(pc_) : nullptr;
    if (known == nullptr)
      if (const Outcome first = read_first(); first != Outcome::translated) return first;
    Arena* arena = arena_for(pc_);
    if (arena == nullptr) return flush_makes_room() ? Outcome::no_room : Outcome::no_space;
    if (known != nullptr)
      if (Trace* const made = persistent_cache->reuse(*known, pc_, by_jump_, *arena); made != nullptr) {
        out = made;
        return made->dead ? Outcome::no_room : Outcome::translated;
      }
    Builder b = begin_trace(*arena, key_of(pc_, steps_), by_jump_);
    const u32 index = static_cast<u32>(&b.trace - tables.traces.data);
    code_.relied_on_by(index);
    ahead_.relied_on_by(index);
    recorder.begin(b, by_jump_);
    place_segments(trace_segments);
    if (is_instrumented) instrumentation->begin_trace();
    if (is_probed) probes->begin_trace(b, in_[0]);
    if (known == nullptr && begins_mark(in_[0])) emit_mark_gate(b);
    if (steps_)
      emit_check(b, in_[0]);
    else if (looks_first(in_[0]))
      emit_first_check(b, in_[0]);
    if (known == nullptr && (sets_protection_keys(in_[0]) || is_old_call(in_[0]))) emit_key_check(b, in_[0]);
    // A second template would not be found before the first; and code that changes is of no use to other processes.
    if (known != nullptr || compared_ || !may_be_stored) recorder.give_up();
    u32 segment = 0;
    do {
      // Another segment always follows a branch, even if it is empty: it counts how often the branch was not taken.
      const bool full =
          segment > 0 && (compared_ || total_ >= limit_ || segment + 1 >= trace_segments || ends_before(at_));
      const u32 n = full ? 0 : read_segment(segment, *arena);
      if (compared_ && segment == 0) emit_comparison(b, in_, n);
      if (segment == 0 && enters_first(in_[0])) emit_source_count(b, in_[0]);
      if (!emit_segment(b, n, segment++)) {
        // No segment numbers are left: discard the unfinished trace, to which nothing leads.
        abandon_trace(b);
        return Outcome::no_room;
      }
    } while (is_conditional(last_));
    b.trace.segment_count = static_cast<u16>(segment);
    b.trace.bytes = static_cast<u32>(b.e.here() - b.body);
    if (is_instrumented) {
      instrumentation->end_trace(b, index);
      instrumentation->emit_exits(b);
    }
    arena->hot = b.e.here();
    recorder.end(b);
    log_trace(b.trace);
    out = &b.trace;
    return Outcome::translated;
  }

 private:
  /// Resumes the trace of this code, if the code that it was made of is the same again. Otherwise returns null.
  Trace* resumed() {
    const Trace* const trace = suspended_trace(pc_);
    if (trace == nullptr) return nullptr;
    u64 page = 0;
    for (u32 i = 0; i < trace->place_count && trace->suspended != 0; i++) {
      const u64 pc = pc_ + static_cast<u64>(static_cast<s64>(trace->places[i].pc));
      if (pc / page_bytes == page) continue;
      page = pc / page_bytes;
      code_.watch(pc);
      resume_code(pc);
    }
    return find_trace(pc_);
  }

  Outcome read_first() {
    compared_ = code_.watch(pc_);
    bool readable = false;
    read_instruction(code_, pc_, in_[0], readable);
    if (!readable) return Outcome::unreadable;
    if (in_[0].kind == Kind::step) return Outcome::step;
    return in_[0].kind == Kind::leave ? Outcome::leave : Outcome::translated;
  }

  /// Whether the trace continues at the target of a jump instead of ending there.
  bool follows(const Instruction& jump, u32 n) const {
    const u64 target = jump.target();
    return !far_away(pc_, target) && target != pc_ && total_ + n < limit_ && !ends_before(target);
  }

  /// Whether a trace starts at `pc`, or must.
  static bool ends_before(u64 pc) { return find_trace(pc) != nullptr || probes->begins_at(pc); }

  /// Whether the target of a call is only such a jump. Then the trace continues there.
  bool follows_call(const Instruction& call, u32 n, const Arena& arena) {
    if (!probes->passes_calls() || total_ + n >= limit_ || far_away(pc_, call.target()) ||
        probes->begins_at(call.target()))
      return false;
    u64 target = 0;
    bool readable = false;
    Instruction in;
    return !code_.watch(call.target()) && read_instruction(code_, call.target(), in, readable) &&
           is_resolved(in, arena, target);
  }

  /// Reads instructions up to the next branch or the end of the trace. Returns how many; sets `last_` to the last kind.
  u32 read_segment(u32 segment, const Arena& arena) {
    u32 n = 0;
    last_ = Kind::plain;
    while (n < segment_instructions && (total_ + n < limit_ || (n == 0 && segment == 0))) {
      if (code_.watch(at_) && !compared_) break;
      bool readable = false;
      Instruction& in = in_[n];
      if (at_ != pc_ && probes->begins_at(at_)) break;
      if (!read_instruction(code_, at_, in, readable) || in.kind == Kind::step || in.kind == Kind::leave) break;
      if (at_ != pc_ && probes->begins_at(in)) break;
      if (at_ != pc_ && ((counts_down() && is_countdown_late(in)) || sets_protection_keys(in) || is_old_call(in) ||
                         enters_first(in) || begins_mark(in)))
        break;
      code_.register_instruction(in);
      resolve(code_, in, arena);
      n++;
      at_ = in.next();
      if (compared_) {
        last_ = in.kind;
        if (last_ != Kind::plain || serializes(in) || in.stores > 0 || in.dynamic != 0) break;
        continue;
      }
      if ((in.kind == Kind::jump && follows(in, n)) || (in.kind == Kind::call && follows_call(in, n, arena))) {
        at_ = in.target();
        continue;
      }
      last_ = in.kind;
      if (last_ != Kind::plain || serializes(in)) break;
    }
    total_ += n;
    return n;
  }

  channel::SegmentVector vector_of(u32 n, u32 segment) const {
    channel::SegmentVector v{};
    for (u32 i = 0; i < n; i++) add_counts(v, in_[i]);
    if (segment > 0) v.branches[channel::taken - 3]--;
    return v;
  }

  bool emit_segment(Builder& b, u32 n, u32 segment) {
    if (n == 0) last_ = Kind::plain;
    const u32 number = new_segment(vector_of(n, segment));
    if (number == 0) return false;
    for (u32 i = 0; counts_mix() && i < n; i++) add_mix(own_records.rows[number], in_[i]);
    if (segment == 0) b.trace.number = number;
    const Increment increment = steps_ ? Increment{Increment::spill, 0, r11} : choose_increment(ahead_, in_, n, at_);
    u16 counted = 0xffff;
    const u16 first_place = static_cast<u16>(b.trace.place_count);
    if (hashes_paths() && segment > 0) emit_path_not_taken(b, step_not_taken_);
    if (is_instrumented) instrumentation->begin_segment(b, in_, n, live_after_ = flags_live_after(n));
    for (u32 i = 0; i <= n; i++) {
      if (increment.at == i && increment.how != Increment::late) {
        emit_increment(b, segment, number, increment.how, increment.reg);
        counted = b.offset();
      }
      if (i == n) break;
      if (is_instrumented) instrumentation->before(b, i, i + 1 == n && last_ != Kind::plain && !is_conditional(last_));
      emit_instruction(b, i, i + 1 == n, segment, increment, number, counted);
      if (is_instrumented) instrumentation->after(b, i);
    }
    tables.segments.add({counted, first_place});
    if (last_ == Kind::plain || last_ == Kind::trap) {
      if (is_instrumented) instrumentation->leave(b, live_after_);
      emit_leave(b, at_, segment);
    }
    return true;
  }

  u16 needed(u64 pc) { return flags_dead(ahead_, pc, every_flag) ? u16{0} : every_flag; }

  /// Returns the flags that may be needed after the segment. Sets live_at_target_ to those at the target of its branch.
  u16 flags_live_after(u32 n) {
    live_at_target_ = every_flag;
    if (n == 0) return needed(at_);
    switch (last_) {
      case Kind::jcc:
      case Kind::loop:
        live_at_target_ = needed(in_[n - 1].target());
        return static_cast<u16>(needed(at_) | live_at_target_);
      case Kind::jump:
      case Kind::call: return needed(in_[n - 1].target());
      case Kind::plain: return needed(at_);
      default: return every_flag;
    }
  }

  void emit_instruction(Builder& b, u32 i, bool is_last, u32 segment, const Increment& increment, u32 number,
                        u16& counted) {
    const Instruction& in = in_[i];
    if (b.offset() == 0) emit_head(b, in);
    if (hashes_paths() && is_on_path(in.kind)) {
      emit_path_branch(b, in);
      step_not_taken_ = path_step_not_taken(in);
    }
    if (in.kind == Kind::plain || in.kind == Kind::trap)
      emit_copy(b, in, segment);
    else if (is_last && last_ == in.kind && is_instrumented && is_conditional(in.kind))
      instrumentation->conditional(b, i, segment, live_at_target_);
    else if (is_last && last_ == in.kind)
      emit_end(b, in, segment, increment, number, counted);
    else
      emit_passed(b, in, segment);
  }

  u64 pc_, at_;
  bool steps_;
  bool by_jump_;
  u32 limit_ = 0, total_ = 0;
  u16 live_at_target_ = 0, live_after_ = 0;
  Kind last_ = Kind::plain;
  s32 step_not_taken_ = 0;  // of the branch before this segment, on the path
  bool compared_ = false;
  Code code_, ahead_;
  Instruction* in_ = buffer();
};

}  // namespace

Outcome make_trace(u64 pc, bool steps, bool by_jump, Trace*& out) {
  return Translator(pc, steps, by_jump).translate(out);
}

}  // namespace tally::engine::translate
