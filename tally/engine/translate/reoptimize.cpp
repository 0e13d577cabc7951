#include "tally/engine/translate/reoptimize.hpp"

#include "tally/engine/translate/code_reading.hpp"
#include "tally/engine/translate/countdown_code.hpp"
#include "tally/engine/translate/execution_counts.hpp"
#include "tally/engine/translate/instrumentation.hpp"
#include "tally/engine/translate/logged_code.hpp"
#include "tally/engine/translate/mix_rows.hpp"
#include "tally/engine/translate/path_hash_code.hpp"
#include "tally/engine/translate/program_marks.hpp"
#include "tally/engine/translate/protection_keys.hpp"
#include "tally/engine/translate/source_probes.hpp"

namespace tally::engine::translate {
namespace {

constexpr u32 instruction_limit = 96, branch_limit = 8;
/// A trace ends where fewer than one in `least_share` of its entries arrive.
constexpr u64 least_share = 8, whole_share = 1 << 16;

Instruction* buffer() {
  static Instruction* b;
  if (b == nullptr)
    b = reinterpret_cast<Instruction*>(reserve(page_up(sizeof(Instruction) * (instruction_limit + 2)), read_write));
  return b;
}

/// Creates one reoptimized trace.
class Reoptimizer {
 public:
  Reoptimizer(const Profile& profile, const Trace& old, u64 entered)
      : profile_(profile), old_(old), pc_(old.pc), at_(old.pc), entered_(entered) {}

  /// Returns null if the trace cannot be created.
  const Trace* make(u8 generation, bool by_jump) {
    Arena* const arena = arena_for(pc_);
    if (arena == nullptr || !tables_have_room()) return nullptr;
    const bool checked = old_.entry != 0 || by_jump;
    Builder b = begin_trace(*arena, pc_, checked);
    const u32 index = static_cast<u32>(&b.trace - tables.traces.data);
    code_.relied_on_by(index);
    ahead_.relied_on_by(index);
    recorder.begin(b, checked, static_cast<u8>(generation + 1));
    if (is_changing_code(pc_)) recorder.give_up();
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
    u32 end;              // number of instructions up to and including it
    bool taken;           // the trace continues at its target
    u64 exit;             // where the other path leads
    u32 displacement_at;  // offset of the displacement that leads to the exit
    u16 offset;
    s32 step_not_taken;  // on the path (path_hash.hpp)
  };

  /// Whether the trace can continue at `to`.
  bool can_continue_at(u64 to) const {
    if (n_ >= instruction_limit || to == pc_ || far_away(pc_, to) || probes->begins_at(to)) return false;
    for (u32 i = 0; i < n_; i++)
      if (in_[i].pc == to) return false;
    return true;
  }

  /// Records a conditional branch. Returns whether the trace continues after it.
  bool follows_branch(const Instruction& in) {
    const Profile::Branch& outcomes = profile_.find(in.pc);
    const u64 all = outcomes.taken + outcomes.passed;
    const bool taken = outcomes.taken > outcomes.passed;
    branch_[branches_++] = {n_, taken, taken ? in.next() : in.target(), 0, 0, path_step_not_taken(in)};
    if (all == 0) return false;
    share_ = share_ * (taken ? outcomes.taken : outcomes.passed) / all;
    return branches_ < branch_limit && share_ >= whole_share / least_share;
  }

  void read(const Arena& arena) {
    while (n_ < instruction_limit) {
      Instruction& in = in_[n_];
      bool readable = false;
      if (n_ > 0 && probes->begins_at(at_)) break;
      if (code_.watch(at_)) break;
      if (!read_instruction(code_, at_, in, readable) || in.kind == Kind::step || in.kind == Kind::leave) break;
      if (in.kind == Kind::trap || sets_protection_keys(in) || enters_first(in) || begins_mark(in) ||
          probes->begins_at(in) || (counts_down() && is_countdown_late(in)))
        break;
      code_.register_instruction(in);
      resolve(code_, in, arena);
      n_++;
      at_ = in.next();
      if (in.kind == Kind::plain && !serializes(in)) continue;
      if (is_branch(in.kind)) {
        if (!follows_branch(in)) break;
        const u64 to = branch_[branches_ - 1].taken ? in.target() : in.next();
        if (!can_continue_at(to)) break;
        at_ = to;
        continue;
      }
      const bool passes = in.kind == Kind::jump || (in.kind == Kind::call && probes->passes_calls());
      if (!passes || !can_continue_at(in.target())) {
        ends_by_leaving_ = in.kind != Kind::plain;
        return;
      }
      at_ = in.target();
    }
  }

  bool ends_by_branch() const { return branches_ > 0 && branch_[branches_ - 1].end == n_; }

  /// Computes the counts of the whole path, and for each exit the correction to add.
  void count_up(u32 counted_in) {
    channel::SegmentVector path{};
    u32 k = 0;
    for (u32 i = 0; i < n_; i++) {
      add_counts(path, in_[i]);
      if (k == branches_ || branch_[k].end != i + 1) continue;
      s8& taken = path.branches[channel::taken - 3];
      vectors_[k + 1] = path;
      if (branch_[k].taken)
        vectors_[k + 1].branches[channel::taken - 3]--;
      else
        taken--;
      k++;
    }
    vectors_[0] = path;
    for (k = counted_in; k < branches_; k++) vectors_[k + 1].add(path, -1);
  }

  /// The same for the rows.
  void fill_rows(channel::MixRow* rows, u32 counted_in) {
    for (u32 i = 0, k = 0; i < n_; i++) {
      add_mix(rows[0], in_[i]);
      if (k < branches_ && branch_[k].end == i + 1) rows[++k] = rows[0];
    }
    for (u32 k = counted_in; k < branches_; k++) rows[k + 1].add(rows[0], -1);
  }

  /// Chooses the cheapest position on the path. `segment`: the number of branches before it.
  Increment choose(u32& segment) {
    Increment best{Increment::spill, 0, r11};
    u32 start = 0;
    for (u32 k = 0; start < n_ && (k == 0 || best.how != Increment::inc); k++) {
      const u32 end = k < branches_ ? branch_[k].end : n_;
      const Increment found = choose_increment(ahead_, in_ + start, end - start, in_[end - 1].next());
      // Registers borrowed at the end are only available there.
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
    InstructionMapping& p = tables.places[index];
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
    branch.displacement_at = b.offset();
    b.e.dword(0);
  }

  void emit_exit_segment(Builder& b, const Branch& branch, u32 segment) {
    if (branch.displacement_at != 0) {
      const u32 distance = b.offset() - branch.displacement_at - 4;
      __builtin_memcpy(reinterpret_cast<u8*>(b.body + branch.displacement_at), &distance, 4);
    }
    if (is_instrumented) instrumentation->emit_exit(b, segment - 1);
    if (hashes_paths() && branch.taken) emit_path_not_taken(b, branch.step_not_taken);
    const Increment increment = choose_increment(ahead_, in_, 0, branch.exit);
    emit_increment(b, segment, b.trace.number + segment, increment.how, increment.reg);
    emit_leave(b, branch.exit, segment);
  }

  void emit_continuation(Builder& b, u64 to) {
    if (is_instrumented && to == pc_) return emit_loop(b);
    if (is_instrumented) instrumentation->leave(b, live_after_);
    emit_leave(b, to, 0);
  }

  /// Emits a jump to the trace's own start, if possible to an entry where registers are already borrowed.
  void emit_loop(Builder& b) {
    // Countdowns are checked at the start.
    const u32 entry = counts_down() ? 0 : instrumentation->loops(b);
    if (entry != 0) b.trace.loop = static_cast<u32>(emit_loop_jump(b, b.body + entry, 0) - b.body);
    // The exit from the loop when the trace is dropped.
    instrumentation->leave(b, every_flag);
    emit_leave(b, pc_, 0);
  }

  u16 live_flags(u64 pc) { return flags_dead(ahead_, pc, every_flag) ? u16{0} : every_flag; }

  /// Estimates how often the instructions of the path were executed so far, in this trace or others.
  void estimate_executions() {
    u64 reached = entered_;
    u32 i = 0;
    for (u32 k = 0; k < branches_; k++) {
      const Profile::Branch& outcomes = profile_.find(in_[branch_[k].end - 1].pc);
      if (outcomes.taken + outcomes.passed != 0) reached = outcomes.taken + outcomes.passed;
      while (i < branch_[k].end) executions_[i++] = reached;
      reached = branch_[k].taken ? outcomes.taken : outcomes.passed;
    }
    while (i < n_) executions_[i++] = reached;
  }

  void begin_instrumentation(Builder& b) {
    const Kind last = in_[n_ - 1].kind;
    const bool leads_on = last == Kind::jump || last == Kind::call;
    if (ends_by_branch())
      live_after_ = live_flags(branch_[branches_ - 1].taken ? in_[n_ - 1].target() : in_[n_ - 1].next());
    else
      live_after_ = !ends_by_leaving_ ? live_flags(at_) : leads_on ? live_flags(in_[n_ - 1].target()) : every_flag;
    __builtin_memset(live_at_exits_, 0, sizeof live_at_exits_);
    for (u32 k = 0; k < branches_; k++) live_at_exits_[branch_[k].end - 1] = live_flags(branch_[k].exit);
    if (instrumentation->depends_on_accesses()) estimate_executions();
    instrumentation->begin_trace();
    instrumentation->begin_segment(b, in_, n_, live_after_, live_at_exits_,
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
    if (counts_mix()) fill_rows(own_records.rows + number, counted_in);
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
      const bool loops_back = instruments && ends_by_leaving_ && in.kind == Kind::jump && in.target() == pc_;
      if (instruments) instrumentation->before(b, i, ends_by_leaving_ && i + 1 == n_ && !loops_back);
      if (b.offset() == 0) emit_head(b, in);
      if (hashes_paths() && is_on_path(in.kind)) emit_path_branch(b, in);
      if (k < branches_ && branch_[k].end == i + 1) {
        if (instruments) instrumentation->begin_exit(b, i, !branch_[k].taken, live_at_exits_[i]);
        // Without the short form at the end, both ways have room for more code.
        emit_branch(b, in, branch_[k], i + 1 == n_ && !instruments && !hashes_paths());
        if (hashes_paths() && !branch_[k].taken) emit_path_not_taken(b, branch_[k].step_not_taken);
        if (instruments)
          instrumentation->stay(b, in, branch_[k].taken,
                                i + 1 < n_ ? instrumentation->live_before(i + 1) : live_after_);
        k++;
      } else if (in.kind == Kind::plain) {
        emit_copy(b, in, 0);
      } else if (loops_back) {
        b.place(in, 0);
        emit_loop(b);
      } else if (ends_by_leaving_ && i + 1 == n_) {
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
      // A `loop` jumps over the jump to its exit, and the path continues after that.
      if (last.displacement_at != 0) emit_continuation(b, last.taken ? in_[n_ - 1].target() : in_[n_ - 1].next());
      emit_exit_segment(b, last, branches_);
    } else if (!ends_by_leaving_) {
      emit_continuation(b, at_);
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
  u64 share_ = whole_share;       // share of the entries that arrive here
  bool ends_by_leaving_ = false;  // the last instruction leaves the trace
  channel::SegmentVector vectors_[branch_limit + 1];
  // For instrumentation: the flags that are needed after the trace, and at the targets of its branches.
  u16 live_after_ = 0, live_at_exits_[instruction_limit + 2];
  u64 entered_;  // number of entries so far
  u64 executions_[instruction_limit + 2];
  Code code_, ahead_;
};

}  // namespace

const Trace* reoptimize(const Profile& profile, const Trace& old, u64 entered, u8 generation, bool by_jump) {
  return Reoptimizer(profile, old, entered).make(generation, by_jump);
}

}  // namespace tally::engine::translate
