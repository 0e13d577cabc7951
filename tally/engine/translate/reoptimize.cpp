#include "tally/engine/translate/reoptimize.hpp"

#include "tally/engine/translate/countdown.hpp"
#include "tally/engine/translate/entry.hpp"
#include "tally/engine/translate/instrumentation.hpp"
#include "tally/engine/translate/logged_code.hpp"
#include "tally/engine/translate/profile.hpp"
#include "tally/engine/translate/protection_keys.hpp"
#include "tally/engine/translate/reading.hpp"

namespace tally::engine::translate {
namespace {

constexpr u32 instruction_limit = 96, branch_limit = 8;
/// It ends where it is reached by fewer than one in so many that entered it.
constexpr u64 least_share = 8, whole_share = 1 << 16;

Instruction* buffer() {
  static Instruction* b;
  if (b == nullptr)
    b = reinterpret_cast<Instruction*>(reserve(page_up(sizeof(Instruction) * (instruction_limit + 2)), read_write));
  return b;
}

/// Makes one trace.
class Reoptimizer {
 public:
  Reoptimizer(const Profile& profile, const Trace& old, u64 entered)
      : profile_(profile), old_(old), pc_(old.pc), at_(old.pc), entered_(entered) {}

  /// Null where it cannot be made.
  const Trace* make(u8 generation, bool by_jump) {
    Arena* const arena = arena_for(pc_);
    if (arena == nullptr || !tables_have_room()) return nullptr;
    const u64 older = old_.entry != 0 || by_jump ? reinterpret_cast<u64>(engine_no_target) : 0;
    Builder b = begin_trace(*arena, pc_, older);
    const u32 index = static_cast<u32>(&b.trace - tables.traces.data);
    code_.relied_on_by(index);
    ahead_.relied_on_by(index);
    recorder.begin(b, older != 0, static_cast<u8>(generation + 1));
    b.trace.generation = static_cast<u8>(generation + 1);
    read(*arena);
    if (n_ == 0 || !emit(b)) {
      recorder.give_up();
      abandon_trace(b);
      return nullptr;
    }
    b.trace.bytes = static_cast<u32>(b.e.here() - b.body);
    if (is_instrumented) instrumentation->end_trace(b, index);
    arena->hot = b.e.here();
    recorder.end(b, old_.use);
    log_trace(b.trace);
    if (is_instrumented || is_probed || counts_down()) b.trace.use = old_.use;
    return &b.trace;
  }

 private:
  struct Branch {
    u32 end;     // instructions up to it, itself among them
    bool taken;  // the trace goes on where it leads to
    u64 exit;    // where it leads to else
    u32 hole;    // offset of the displacement that leads to the exit
    u16 offset;
  };

  /// Whether the trace goes on at `to`.
  bool goes_on(u64 to) const {
    if (n_ >= instruction_limit || to == pc_ || far_away(pc_, to) || probes->begins_at(to)) return false;
    for (u32 i = 0; i < n_; i++)
      if (in_[i].pc == to) return false;
    return true;
  }

  /// Notes a conditional branch down; whether the trace goes on after it.
  bool passes(const Instruction& in) {
    const Profile::Branch& seen = profile_.find(in.pc);
    const u64 all = seen.taken + seen.passed;
    const bool taken = seen.taken > seen.passed;
    branch_[branches_++] = {n_, taken, taken ? in.next() : in.target(), 0, 0};
    if (all == 0) return false;
    share_ = share_ * (taken ? seen.taken : seen.passed) / all;
    return branches_ < branch_limit && share_ >= whole_share / least_share;
  }

  void read(const Arena& arena) {
    while (n_ < instruction_limit || (n_ == instruction_limit && is_popf(in_[n_ - 1]))) {
      Instruction& in = in_[n_];
      bool readable = false;
      if (n_ > 0 && probes->begins_at(at_)) break;
      if (code_.watch(at_)) break;
      if (!read_instruction(code_, at_, in, readable) || in.kind == Kind::step || in.kind == Kind::leave) break;
      if (in.kind == Kind::trap || sets_protection_keys(in) || probes->begins_at(in) ||
          (counts_down() && is_countdown_late(in)))
        break;
      code_.register_instruction(in);
      resolve(code_, in, arena);
      n_++;
      at_ = in.next();
      if (in.kind == Kind::plain && !serializes(in)) continue;
      if (is_branch(in.kind)) {
        if (!passes(in)) break;
        const u64 to = branch_[branches_ - 1].taken ? in.target() : in.next();
        if (!goes_on(to)) break;
        at_ = to;
        continue;
      }
      const bool passes = in.kind == Kind::jump || (in.kind == Kind::call && probes->passes_calls());
      if (!passes || !goes_on(in.target())) {
        ended_ = in.kind != Kind::plain;
        return;
      }
      at_ = in.target();
    }
  }

  bool ends_by_branch() const { return branches_ > 0 && branch_[branches_ - 1].end == n_; }

  /// What the whole way counts, and what leaving it at each exit adds to that, or takes from it.
  void count_up(u32 counted_in) {
    channel::SegmentVector way{};
    u32 k = 0;
    for (u32 i = 0; i < n_; i++) {
      add_counts(way, in_[i]);
      if (k == branches_ || branch_[k].end != i + 1) continue;
      s8& taken = way.branches[channel::taken - 3];
      vectors_[k + 1] = way;
      if (branch_[k].taken)
        vectors_[k + 1].branches[channel::taken - 3]--;
      else
        taken--;
      k++;
    }
    vectors_[0] = way;
    for (k = counted_in; k < branches_; k++) vectors_[k + 1].add(way, -1);
  }

  /// The cheapest of all places on the way. `segment`: of how many branches it comes after.
  Increment choose(u32& segment) {
    Increment best{Increment::spill, 0, r11};
    u32 start = 0;
    for (u32 k = 0; start < n_ && (k == 0 || best.how != Increment::inc); k++) {
      const u32 end = k < branches_ ? branch_[k].end : n_;
      const Increment found = choose_increment(ahead_, in_ + start, end - start, in_[end - 1].next());
      // What an exit borrows is there only where the trace ends.
      const bool in_reach = !counts_down() || found.at + start <= countdown_reach;
      if (k == 0 || (found.how < best.how && in_reach)) {
        best = {found.how, found.at + start, found.reg};
        segment = k;
      }
      start = end;
    }
    return best;
  }

  void emit_branch(Builder& b, const Instruction& in, Branch& branch, bool is_last) {
    const u32 index = tables.places.size;
    b.place(in, 0);
    Place& p = tables.places[index];
    p.falls_through = !branch.taken;
    branch.offset = p.offset;
    const u8 condition = static_cast<u8>(in.opcode & 15);
    if (in.kind == Kind::loop) {
      if (in.address_bits == 32) b.e.byte(0x67);
      b.e.byte(in.opcode);
      b.e.byte(5);
      if (!branch.taken) {
        b.e.byte(0xe9);
        b.e.dword(5);
      }
      b.e.byte(0xe9);
    } else if (is_last) {
      const u64 jump = b.exit(branch.taken ? condition : condition ^ 1, branch.taken ? in.target() : in.next());
      branch.offset = p.offset = static_cast<u16>(jump - b.body);
      return;
    } else {
      b.e.byte(0x0f);
      b.e.byte(static_cast<u8>(0x80 | (branch.taken ? condition ^ 1 : condition)));
    }
    branch.hole = b.offset();
    b.e.dword(0);
  }

  void emit_exit_segment(Builder& b, const Branch& branch, u32 segment) {
    if (branch.hole != 0) {
      const u32 distance = b.offset() - branch.hole - 4;
      __builtin_memcpy(reinterpret_cast<u8*>(b.body + branch.hole), &distance, 4);
    }
    if (is_instrumented) instrumentation->emit_exit(b, segment - 1);
    const Increment increment = choose_increment(ahead_, in_, 0, branch.exit);
    emit_increment(b, segment, b.trace.number + segment, increment.how, increment.reg);
    emit_leave(b, branch.exit, segment);
  }

  void emit_way_on(Builder& b, u64 to) {
    if (is_instrumented && to == pc_) return emit_loop(b);
    if (is_instrumented) instrumentation->leave(b, needed_after_);
    emit_leave(b, to, 0);
  }

  /// To the trace's own beginning: where registers are borrowed already, if it can be.
  void emit_loop(Builder& b) {
    // What is counted down looks at the beginning.
    const u32 entry = counts_down() ? 0 : instrumentation->loops(b);
    if (entry != 0) b.trace.loop = static_cast<u32>(emit_loop_jump(b, b.body + entry, 0) - b.body);
    // Where a trace that is dropped comes out of its loop.
    instrumentation->leave(b, every_flag);
    emit_leave(b, pc_, 0);
  }

  u16 needed(u64 pc) { return flags_dead(ahead_, pc, every_flag) ? u16{0} : every_flag; }

  /// How often the instructions of the way ran until now, on it or not.
  void estimate_executions() {
    u64 reached = entered_;
    u32 i = 0;
    for (u32 k = 0; k < branches_; k++) {
      const Profile::Branch& seen = profile_.find(in_[branch_[k].end - 1].pc);
      if (seen.taken + seen.passed != 0) reached = seen.taken + seen.passed;
      while (i < branch_[k].end) executions_[i++] = reached;
      reached = branch_[k].taken ? seen.taken : seen.passed;
    }
    while (i < n_) executions_[i++] = reached;
  }

  void begin_instrumentation(Builder& b) {
    const Kind last = in_[n_ - 1].kind;
    const bool leads_on = last == Kind::jump || last == Kind::call;
    if (ends_by_branch())
      needed_after_ = needed(branch_[branches_ - 1].taken ? in_[n_ - 1].target() : in_[n_ - 1].next());
    else
      needed_after_ = !ended_ ? needed(at_) : leads_on ? needed(in_[n_ - 1].target()) : every_flag;
    __builtin_memset(needed_at_exits_, 0, sizeof needed_at_exits_);
    for (u32 k = 0; k < branches_; k++) needed_at_exits_[branch_[k].end - 1] = needed(branch_[k].exit);
    if (instrumentation->depends_on_accesses()) estimate_executions();
    instrumentation->begin_trace();
    instrumentation->begin_segment(b, in_, n_, needed_after_, needed_at_exits_,
                                   instrumentation->depends_on_accesses() ? executions_ : nullptr);
    instrumentation->open_first(b);
  }

  bool emit(Builder& b) {
    u32 counted_in = 0;
    const Increment increment = choose(counted_in);
    count_up(counted_in);
    place_segments(branches_ + 1);
    const u32 number = new_segments(vectors_, branches_ + 1);
    if (number == 0) return false;
    b.trace.number = number;
    b.trace.segment_count = static_cast<u16>(branches_ + 1);
    u16 counted = 0xffff;
    const bool instruments = is_instrumented;
    if (looks_first(in_[0])) emit_first_check(b, in_[0]);
    if (instruments) begin_instrumentation(b);
    u32 k = 0;
    for (u32 i = 0; i < n_; i++) {
      const Instruction& in = in_[i];
      if (increment.at == i && increment.how != Increment::late) {
        emit_increment(b, 0, number, increment.how, increment.reg);
        counted = b.offset();
      }
      const bool comes_back = instruments && ended_ && in.kind == Kind::jump && in.target() == pc_;
      if (instruments) instrumentation->before(b, i, ended_ && i + 1 == n_ && !comes_back);
      if (b.offset() == 0) emit_head(b, in);
      if (k < branches_ && branch_[k].end == i + 1) {
        if (instruments) instrumentation->begin_exit(b, i, !branch_[k].taken, needed_at_exits_[i]);
        emit_branch(b, in, branch_[k], i + 1 == n_ && !instruments);
        if (instruments)
          instrumentation->stay(b, in, branch_[k].taken,
                                i + 1 < n_ ? instrumentation->live_before(i + 1) : needed_after_);
        k++;
      } else if (in.kind == Kind::plain) {
        emit_copy(b, in, 0);
      } else if (comes_back) {
        b.place(in, 0);
        emit_loop(b);
      } else if (ended_ && i + 1 == n_) {
        emit_end(b, in, 0, increment, number, counted);
      } else {
        emit_passed(b, in, 0);
      }
      if (instruments) instrumentation->after(b, i);
    }
    tables.segments.add({counted, 0});
    for (const Branch& branch : branch_) {
      if (&branch == branch_ + branches_) break;
      tables.segments.add({branch.offset, Segment::is_exit});
    }
    if (ends_by_branch()) {
      const Branch& last = branch_[branches_ - 1];
      // A `loop` jumps over the jump to its exit: the way goes on after it.
      if (last.hole != 0) emit_way_on(b, last.taken ? in_[n_ - 1].target() : in_[n_ - 1].next());
      emit_exit_segment(b, last, branches_);
    } else if (!ended_) {
      emit_way_on(b, at_);
    }
    const u32 inner = ends_by_branch() ? branches_ - 1 : branches_;
    for (k = 0; k < inner; k++) emit_exit_segment(b, branch_[k], k + 1);
    return true;
  }

  const Profile& profile_;
  const Trace& old_;
  u64 pc_, at_;
  Instruction* in_ = buffer();
  u32 n_ = 0;
  Branch branch_[branch_limit];
  u32 branches_ = 0;
  u64 share_ = whole_share;  // of what enters, as much as comes here
  bool ended_ = false;       // by an instruction that leads away
  channel::SegmentVector vectors_[branch_limit + 1];
  // For instrumentation: which flags are needed after the trace, and where its branches leave it.
  u16 needed_after_ = 0, needed_at_exits_[instruction_limit + 2];
  u64 entered_;  // how often, until now
  u64 executions_[instruction_limit + 2];
  Code code_, ahead_;
};

}  // namespace

const Trace* reoptimize(const Profile& profile, const Trace& old, u64 entered, u8 generation, bool by_jump) {
  return Reoptimizer(profile, old, entered).make(generation, by_jump);
}

}  // namespace tally::engine::translate
