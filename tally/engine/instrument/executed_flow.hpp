// Turns executed instructions into blocks of the core model: code that is entered only at its top. The blocks follow
// from the program alone, not from how its code was divided into traces: traces are made again while the program runs,
// and persisted ones begin elsewhere. The targets of indirect branches are not counted: what follows one is taken to
// begin as it most often does. Code after a call follows the return that its callee executes most.
#pragma once

#include <bit>

#include "tally/engine/instrument/cold_models.hpp"
#include "tally/engine/instrument/core_code.hpp"
#include "tally/engine/instrument/core_cycles.hpp"
#include "tally/engine/instrument/core_steps.hpp"
#include "tally/engine/instrument/instruction_costs.hpp"
#include "tally/engine/instrument/kept_schedules.hpp"
#include "tally/engine/instrument/model_probes.hpp"
#include "tally/engine/models/core/core_flow.hpp"
#include "tally/engine/models/core/restart_waits.hpp"
#include "tally/engine/translate/past_code.hpp"

namespace tally::engine::instrument {

/// What threads mispredicted and which loads missed.
struct Missed {
  models::MissedBranches branches;
  models::MissedLoads loads;

  void add(Thread* t) {
    branches.add(missed_of(model_counts(t)->missed));
    loads.add(missed_loads_of(t) - collected(t));
  }
  static models::MissedLoads missed_loads_of(Thread* t) {
    return models::missed_loads(values_of(model_counts(t)->values).caches);
  }
  static models::MissedLoads& collected(Thread* t) {
    static_assert(sizeof(models::MissedLoads) == sizeof(channel::ModelMissedLoads));
    channel::ModelMissedLoads* const loads = &model_counts(t)->collected;
    return *reinterpret_cast<models::MissedLoads*>(loads);
  }
};

/// Returns the core that the command has sent. The caller holds cache_lock.
inline const models::CoreTable& core_table() {
  static_assert(models::operations <= channel::core_kinds && models::core_causes == channel::core_cause_count);
  static models::CoreTable table;
  const channel::ModelCore& core = settings().core;
  models::copy_parameters(core, table);
  for (u32 i = 0; i < models::operations; i++) {
    const channel::ModelTiming& row = core.timing[i];
    if (row.is_known == 0) continue;
    models::Timing& timing = table.timings[i];
    timing = {.operation = static_cast<models::Operation>(i), .latency = row.latency, .slots = row.slots};
    for (u32 use = 0; use < 3; use++) timing.uses[use] = {row.ports[use], row.cycles[use]};
  }
  return table;
}

/// Returns a fixed-point number with cost_bits fraction bits.
inline s64 ratio(u64 cycles, u64 executions) {
  for (; cycles >> (63 - cost_bits) != 0; executions /= 2) cycles /= 2;
  return executions == 0 ? 0 : static_cast<s64>((cycles << cost_bits) / executions);
}

/// Sorts by `key(element)`, which is less than `keys`; equal elements keep their order. False without memory.
template <class T, class Key>
bool sort_by(const Scratch<T>& from, const Scratch<T>& to, u32 n, u32 keys, Key&& key) {
  Scratch<u32> begins;
  if (!begins.init(keys + 1)) return false;
  for (u32 i = 0; i < n; i++) begins[key(from[i]) + 1]++;
  for (u32 i = 0; i < keys; i++) begins[i + 1] += begins[i];
  for (u32 i = 0; i < n; i++) to[begins[key(from[i])]++] = from[i];
  return true;
}

inline u64 class_of(const models::CoreTimes& times, u32 k) {
  using models::Cause;
  static constexpr Cause last[] = {Cause::heavy, Cause::heavy, Cause::front_end, Cause::mispredicts, Cause::core};
  static_assert(sizeof last == channel::cycle_class_count);
  return times.of(last[k]) + (k == channel::cycles_retiring ? times.of(Cause::light) : 0);
}

/// The blocks of one process, in order of their addresses, from the executions of each segment.
class ExecutedFlow final : public models::CoreSource {
 public:
  /// `schedules`: null if none are kept.
  ExecutedFlow(const u64* executed, const Missed& mispredicted, KeptSchedules* schedules)
      : executed_(executed), missed_(mispredicted), schedules_(schedules) {}

  /// False without memory, or if nothing ran.
  bool build() {
    u32 limit = 0;
    for (u32 i = 1; i < tables.traces.size; i++) limit += tables.traces[i].place_count;
    const auto each_address = [&](auto&& add) {
      each_trace([&](const Trace& t) {
        History(counter(), t).places([&](const InstructionMapping& p, u64 reached, u64, u64) {
          if (reached != 0 && p.kind != Kind::end) add(pc_of(t, p));
        });
      });
    };
    if (limit == 0 || !past_.init() || !steps_.init(each_address) || !edges_.init(3 * limit) ||
        !sorted_.init(3 * limit))
      return false;
    each_trace([&](const Trace& t) { read_steps(t); });
    steps_.read();
    for (u32 i = 0; i < steps_.size(); i++) follow_pointer(steps_[i]);
    each_trace([&](const Trace& t) { read_paths(t); });
    find_beginnings();
    if (!blocks_.init(block_count_) || !codes_.init(steps_.size()) || !ends_.init(block_count_) ||
        !marks_.init(block_count_) || !spent_.init(block_count_) || !lasts_.init(block_count_) ||
        !beginnings_.init(block_count_))
      return false;
    make_blocks();
    for (u32 i = 0; i < edge_count_; i++)
      edges_[i] = {steps_[edges_[i].from].block, steps_[edges_[i].to].block, edges_[i].count};
    return sort_edges() && lead_returns() && sort_edges() && find_restarts() &&
           (schedules_ == nullptr ||
            schedules_->reserve(block_count_ + edge_count_ + restart_count_ * models::blocks_after_restart));
  }

  models::CoreTotal total() {
    return models::total(core_table_, blocks(), {&edges_[0], edge_count_}, memory(), this,
                         {{&restarts_[0], restart_count_}, waits_, after_call_});
  }

  /// After total(): sets the costs of the executed segments. Others may read them meanwhile.
  void cost_segments(s64 average, SegmentCost* costs) {
    each_trace([&](const Trace& t) {
      for (u32 s = 0; s < t.segment_count; s++)
        if (const u64 n = executed_[t.number + s]; n != 0)
          costs[t.number + s].set(segment_cost(t, s, [&](u64 pc) { return cost_of(step_of(t, pc), average); }), n);
    });
  }

  /// After total(): the same for the classes of cycles. Element 0 gets those of an average instruction.
  void cost_classes(const models::CoreTotal& total, ClassCosts* classes) {
    for (u32 k = 0; k < channel::cycle_class_count; k++) {
      const s64 average = ratio(class_of(total.cycles, k), total.instructions);
      classes[0].of[k] = average;
      each_trace([&](const Trace& t) {
        for (u32 s = 0; s < t.segment_count; s++)
          if (executed_[t.number + s] != 0)
            classes[t.number + s].of[k] = segment_cost(t, s, [&](u64 pc) {
              return cost_of(step_of(t, pc), average,
                             [k](const models::CoreTimes& times) { return class_of(times, k); });
            });
      });
    }
  }

  /// After total(): keeps the costs of the executed instructions.
  void keep_costs(s64 average) {
    for (u32 i = 0; i < steps_.size(); i++)
      if (const u64 pc = steps_[i].pc; !is_past(pc)) kept_cost(pc) = {pc, cost_of(&steps_[i], average)};
  }

  /// After total(): calls `each(pc, cycles, executions)` for each instruction with its part of its block's cycles. Does
  /// nothing without memory.
  template <class Each>
  void shares(Each&& each) {
    struct Parts final : models::CoreParts {
      Parts(const ExecutedFlow& own, Each& use) : flow(own), each(use) {}
      std::span<models::CoreTimes> memory(u32 block) override { return {&parts[0], flow.blocks_[block].length}; }
      void take(u32 block) override {
        const Step* step = &flow.steps_[flow.beginnings_[block]];
        for (u32 i = 0; i < flow.blocks_[block].length; i++, step = flow.steps_.after(*step))
          if (parts[i].sum() != 0) each(step->pc, parts[i], step->executions);
      }
      const ExecutedFlow& flow;
      Each& each;
      Scratch<models::CoreTimes> parts;
    } parts(*this, each);
    if (parts.parts.init(steps_.size()))
      models::divide(core_table_, blocks(), {&edges_[0], edge_count_}, memory(), this, parts);
  }

  std::span<const models::CoreInstruction> read(u32 number, bool& can_be_kept) override {
    models::CoreBlock& block = blocks_[number];
    if (!block.instructions.empty()) return block.instructions;
    block.instructions = {&codes_[code_count_], block.length};
    u64 pc = block.begin;
    bool crossed = false;  // the last instruction began in the line before
    for (u32 i = 0; i < block.length; i++) {
      Instruction in;
      bool readable = false;
      models::CoreInstruction& code = codes_[code_count_++];
      if (!read_instruction(bytes_, pc, in, readable)) continue;
      code = core_code(in);
      // Across lines, a branch is fetched with its last byte, and others with their first.
      const bool crosses = pc % 64 + in.length > 64, branches = in.kind != Kind::plain;
      // After the last instruction of a block, no other one begins the line.
      code.begins_line = pc % 64 == 0 || crossed || (crosses && (branches || i + 1 == block.length));
      crossed = crosses && !branches;
      code.is_indirect = in.kind == Kind::jump_indirect || in.kind == Kind::call_indirect;
      // Absolute addresses are equal wherever the program is, but the distance to others is not.
      can_be_kept &= block.begin < models::absolute_limit || in.rip_relative() || !models::is_fixed(code.at);
      pc += in.length;
    }
    return block.instructions;
  }

  models::ScheduleStore* schedules() override { return schedules_; }

 private:
  std::span<const models::CoreBlock> blocks() const { return {&blocks_[0], block_count_}; }

  auto counter() const {
    return [this](u32 number) { return executed_[number]; };
  }

  models::CoreMemory memory() const {
    return {{&ends_[0], block_count_}, {&marks_[0], block_count_}, {&spent_[0], block_count_}};
  }

  template <class Each>
  void each_trace(Each&& each) const {
    constexpr u32 ahead = 4;
    for (u32 i = 1; i < tables.traces.size; i++) {
      const Trace& t = tables.traces[i];
      if (i + ahead < tables.traces.size) {
        const Trace& later = tables.traces[i + ahead];
        __builtin_prefetch(later.places);
        __builtin_prefetch(later.segments);
      }
      for (u32 s = 0; s < t.segment_count; s++) {
        if (executed_[t.number + s] == 0) continue;
        each(t);
        break;
      }
    }
  }

  static bool is_dropped(const Trace& t) { return t.dead && t.suspended == 0; }
  u64 address_before(const Trace& t, u64 pc) const {
    return past_.address(pc, static_cast<u32>(&t - tables.traces.data));
  }
  u64 address_of(const Trace& t, u64 pc) const { return is_dropped(t) ? address_before(t, pc) : pc; }
  u64 pc_of(const Trace& t, const InstructionMapping& p) const {
    return address_of(t, t.pc + static_cast<u64>(static_cast<s64>(p.pc)));
  }
  Step* step_of(const Trace& t, u64 pc) const { return steps_.find(address_of(t, pc)); }
  /// Returns the instruction that followed a step of this trace at `pc`, which counts from the address of the step: of
  /// the code that was there when the trace was made, or that is there now.
  Step* follower(const Trace& t, const Step& step, u64 pc) const {
    pc = translate::program_address(pc);
    const u64 before = address_before(t, pc);
    Step *const now = steps_.find_after(&step, pc), *const then = before == pc ? now : steps_.find(before);
    return then != nullptr && (now == nullptr || is_dropped(t) || then->executions > now->executions) ? then : now;
  }

  void read_steps(const Trace& t) {
    const History history(counter(), t);
    Step* last = nullptr;
    bool is_plain = false;
    history.places([&](const InstructionMapping& p, u64 reached, u64, u64) {
      constexpr u64 longest = 15;
      const u64 pc = pc_of(t, p);
      if (is_plain && last->length == 0 && pc - last->pc <= longest) last->length = static_cast<u8>(pc - last->pc);
      is_plain = reached != 0 && p.kind == Kind::plain;
      if (reached == 0 || p.kind == Kind::end) return;
      last = steps_.find_after(last, pc);
      last->executions += reached;
    });
    if (Step* const first = step_of(t, t.pc); first != nullptr) first->entered += history.entered();
  }

  /// Adds the edge of a jump or call by a pointer at a fixed address, as in the PLT: to where that points now. Does
  /// nothing if that was executed less often.
  void follow_pointer(Step& step) {
    if (step.kind != Kind::jump_indirect && step.kind != Kind::call_indirect) return;
    Instruction in;
    bool readable = false;
    u64 target = 0;
    if (!read_instruction(bytes_, step.pc, in, readable) || !in.rip_relative() ||
        copy_past_or_present_code(&target, in.rip_operand(), sizeof target) != 0)
      return;
    Step* const there = steps_.find(target);
    if (there == nullptr || there->executions < step.executions) return;
    step.leads_by_pointer = true;
    add_edge(step, *there, step.executions);
  }

  /// An instruction that is not a branch led to the place after it, which may be the end of the trace.
  void read_paths(const Trace& t) {
    Step *last = nullptr, *before = nullptr;
    History(counter(), t).places([&](const InstructionMapping& p, u64 reached, u64 taken, u64 passed) {
      const bool is_end = p.kind == Kind::end;
      Step* const here = reached == 0                  ? nullptr
                         : is_end && before != nullptr ? follower(t, *before, pc_of(t, p))
                                                       : steps_.find_after(before, pc_of(t, p));
      before = here;
      if (last != nullptr && here != nullptr) {
        if (last->leads_by_pointer)
          here->begins = true;
        else if (!last->falls_through() || last->next() != here->pc)
          add_edge(*last, *here, reached);
        else if (is_end)
          here->entered -= reached;
      }
      last = is_end || is_branch(p.kind) ? nullptr : here;
      if (here == nullptr || !is_branch(p.kind)) return;
      if (Step* const there = follower(t, *here, here->target()); there != nullptr) add_edge(*here, *there, taken);
      if (Step* const there = follower(t, *here, here->next()); there != nullptr) add_edge(*here, *there, passed);
    });
  }

  template <class Of>
  s64 cost_of(const Step* step, s64 average, Of of) const {
    if (step == nullptr || step->executions == 0) return average;
    const models::CoreBlock& block = blocks_[step->block];
    return ratio(of(spent_[step->block].cycles), block.executions) / static_cast<s64>(block.length);
  }
  s64 cost_of(const Step* step, s64 average) const {
    return cost_of(step, average, [](const models::CoreTimes& times) { return times.sum(); });
  }

  /// The edge is between instructions at first; make_edges() makes it one between their blocks.
  void add_edge(const Step& from, Step& to, u64 count) {
    if (count == 0) return;
    to.begins = true;
    edges_[edge_count_++] = {steps_.number_of(from), steps_.number_of(to), count};
  }

  void find_beginnings() {
    for (u32 i = 0; i < steps_.size(); i++) {
      Step* const next = steps_[i].falls_through() ? steps_.after(steps_[i]) : nullptr;
      if (next == nullptr) continue;
      next->begins |= next->follows;  // two instructions lead there: a jump between a prefix and its instruction
      next->follows = true;
    }
    for (u32 i = 0; i < steps_.size(); i++) {
      Step& step = steps_[i];
      step.begins |= !step.follows || static_cast<s64>(step.entered) > 0;
      block_count_ += step.begins;
    }
  }

  void make_blocks() {
    for (u32 i = 0, n = 0; i < steps_.size(); i++)
      if (steps_[i].begins) beginnings_[n++] = i;
    for (u32 number = 0; number < block_count_; number++) {
      Step* step = &steps_[beginnings_[number]];
      models::CoreBlock& block = blocks_[number];
      block.executions = step->executions;
      block.begin = step->pc;
      for (;;) {
        step->block = number;
        block.length++;
        Step* const next = step->falls_through() || step->calls() ? steps_.after(*step) : nullptr;
        if (next != nullptr && next->begins) add_edge(*step, *next, step->executions);
        if (next == nullptr || next->begins) break;
        step = next;
      }
      lasts_[number] = steps_.number_of(*step);
      block.end = step->next();
      block.last = step->calls()             ? models::Operation::call
                   : step->kind == Kind::ret ? models::Operation::ret
                                             : models::Operation::unknown;
      if (schedules_ != nullptr) block.code = code_key_of(block.begin, block.end);
    }
  }

  /// Hashes what the schedule of a block depends on: its bytes, and their address in a page; if absolute addresses
  /// reach it, in memory. Returns 0 if it cannot be read.
  static u64 code_key_of(u64 begin, u64 end) {
    u64 key = models::mixed(end - begin, begin < models::absolute_limit ? begin : begin % page_bytes);
    for (u64 at = begin; at < end; at += 64) {
      u64 words[8] = {};
      const u64 n = end - at < 64 ? end - at : 64;
      if (copy_past_or_present_code(words, at, n) != 0) return 0;
      for (u64 i = 0; i < (n + 7) / 8; i++) key = models::mixed(key, words[i]);
    }
    return key;
  }

  /// Sorts edges by the blocks that they lead to, then by those that they come from, and merges equal pairs.
  bool sort_edges() {
    if (!sort_by(edges_, sorted_, edge_count_, block_count_, [](const models::CoreEdge& e) { return e.from; }) ||
        !sort_by(sorted_, edges_, edge_count_, block_count_, [](const models::CoreEdge& e) { return e.to; }))
      return false;
    const u32 n = edge_count_;
    edge_count_ = 0;
    for (u32 i = 0; i < n; i++) {
      models::CoreEdge* const last = edge_count_ == 0 ? nullptr : &edges_[edge_count_ - 1];
      if (last != nullptr && last->from == edges_[i].from && last->to == edges_[i].to)
        last->count += edges_[i].count;
      else
        edges_[edge_count_++] = edges_[i];
    }
    return true;
  }

  const Step& last_of(u32 block) const { return steps_[lasts_[block]]; }
  bool passes_call(const models::CoreEdge& e) const {
    const Step& from = last_of(e.from);
    return from.calls() && from.next() == steps_[beginnings_[e.to]].pc;
  }

  /// Makes the edges from calls to the code after them edges from the callee's return that is executed most. Those of
  /// calls whose callee is unknown stay. The edges are sorted.
  bool lead_returns() {
    Scratch<u32> firsts, returns, sorted, reached, work;  // returns, and the return of each block, as block + 1
    if (!firsts.init(block_count_ + 1) || !returns.init(block_count_) || !sorted.init(block_count_) ||
        !reached.init(block_count_) || !work.init(block_count_))
      return false;
    for (u32 i = 0; i < edge_count_; i++) firsts[edges_[i].to + 1]++;
    for (u32 i = 0; i < block_count_; i++) firsts[i + 1] += firsts[i];
    u32 return_count = 0;
    for (u32 i = 0; i < block_count_; i++)
      if (last_of(i).kind == Kind::ret && blocks_[i].executions != 0) returns[return_count++] = i;
    // By powers of two of their executions, the most frequent ones first: each block belongs to the first that finds
    // it.
    const auto rarity = [&](u32 block) { return static_cast<u32>(__builtin_clzll(blocks_[block].executions)); };
    if (!sort_by(returns, sorted, return_count, 64, rarity)) return false;
    for (u32 i = 0; i < return_count; i++) {
      u32 waiting = 0;
      const auto reach = [&](u32 block) {
        if (reached[block] != 0) return;
        reached[block] = sorted[i] + 1;
        work[waiting++] = block;
      };
      reach(sorted[i]);
      while (waiting != 0) {
        const u32 block = work[--waiting];
        for (u32 e = firsts[block]; e < firsts[block + 1]; e++)
          if (!last_of(edges_[e].from).calls() || passes_call(edges_[e])) reach(edges_[e].from);
      }
    }
    // First the callees, then the edges from their calls.
    for (u32 i = 0; i < block_count_; i++) work[i] = 0;  // the return of the callee of the call that ends a block
    for (u32 i = 0; i < edge_count_; i++) {
      const models::CoreEdge& e = edges_[i];
      if (last_of(e.from).calls() && !passes_call(e)) work[e.from] = reached[e.to];
    }
    for (u32 i = 0; i < edge_count_; i++)
      if (passes_call(edges_[i]) && work[edges_[i].from] != 0) edges_[i].from = work[edges_[i].from] - 1;
    return true;
  }

  /// Finds the edges and the targets of indirect branches that were mispredicted. All mispredictions of each kind are
  /// divided among those that have a slot.
  bool find_restarts() {
    constexpr u32 limit = 2 * models::MissedBranches::slots, ratio_bits = 8;
    if (!restarts_.init(limit)) return false;
    u64 counted = 0, counted_indirect = 0;
    const auto add = [&](u32 from, u32 to, u64 count) {
      if (count == 0 || restart_count_ == limit) return;
      restarts_[restart_count_++] = {from, to, count};
      (from == models::CoreRestart::anywhere ? counted_indirect : counted) += count;
    };
    for (u32 i = 0; i < block_count_ && missed_.branches.all != 0; i++) {
      const Step& last = last_of(i);
      for (const bool taken : {false, true}) {
        const u64 count = is_branch(last.kind) ? missed_.branches.of(models::outcome_of(last.pc, taken)) : 0;
        const Step* const there = count == 0 ? nullptr : steps_.find(past_.target(taken ? last.target() : last.next()));
        if (there != nullptr && there->executions != 0) add(i, there->block, count);
      }
    }
    u64 most = 0;
    for (u32 i = 0; i < steps_.size() && missed_.branches.all != 0; i++) {
      const Step& step = steps_[i];
      if (step.executions != 0 && step.begins)
        add(models::CoreRestart::anywhere, step.block, missed_.branches.of(models::target_outcome_of(step.pc)));
      const u64 calls = step.calls() ? missed_.branches.of(models::indirect_outcome_of(step.pc)) : 0;
      const Step* const after = calls > most ? steps_.after(step) : nullptr;
      if (after != nullptr) most = calls, after_call_ = blocks_[after->block].begin;
    }
    const u64 indirect = missed_.branches.indirect, conditional = missed_.branches.all - indirect;
    for (u32 i = 0; i < restart_count_; i++) {
      const bool is_target = restarts_[i].from == models::CoreRestart::anywhere;
      const u64 ratio = ((is_target ? indirect : conditional) << ratio_bits) / (is_target ? counted_indirect : counted);
      restarts_[i].count = restarts_[i].count * ratio >> ratio_bits;
    }
    u64 instructions = 0;
    for (u32 i = 0; i < block_count_; i++) instructions += blocks_[i].executions * blocks_[i].length;
    const channel::ModelMissedLoads& exposed = settings().core.exposed;
    waits_ = models::cycles_before_restarts(missed_.loads, std::bit_cast<models::MissedLoads>(exposed),
                                            missed_.branches.all, instructions, core_table_.rob);
    return true;
  }

  const models::CoreTable& core_table_ = core_table();
  const u64* executed_;
  const Missed& missed_;
  u64 waits_ = 0, after_call_ = 0;  // as in CoreRestarts
  KeptSchedules* schedules_;
  translate::PastCode past_;
  Steps steps_;
  Code bytes_;
  u32 block_count_ = 0, edge_count_ = 0, code_count_ = 0, restart_count_ = 0;
  Scratch<u32> beginnings_;  // numbers of the first instructions of blocks
  Scratch<u32> lasts_;       // numbers of the last instructions of blocks
  Scratch<models::CoreBlock> blocks_;
  Scratch<models::CoreInstruction> codes_;  // of the blocks that were read
  Scratch<models::CoreEdge> edges_, sorted_;
  Scratch<models::CoreRestart> restarts_;  // sorted by the block before
  Scratch<models::CoreState> ends_;
  Scratch<models::CoreMark> marks_;
  Scratch<models::CoreSpent> spent_;
};

}  // namespace tally::engine::instrument
