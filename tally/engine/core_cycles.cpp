// Segments that ran become blocks of the core model, exits and branches the edges between them. Where an indirect
// branch led nobody counts: what follows it begins as it most often does.
#include "tally/engine/core_cycles.hpp"

#include "tally/engine/core_code.hpp"
#include "tally/engine/models.hpp"
#include "tally/engine/profile.hpp"
#include "tally/sim/core_flow.hpp"
#include "tally/sim/haswell_core.hpp"

namespace tally::engine {
namespace {

u64* summed;  // executions of each segment by threads that have ended; null where cycles are not asked for

/// The blocks of one process, in the order of their segments.
class Flow {
 public:
  /// False without memory, or where nothing ran.
  bool build() {
    u32 instructions = 0;
    each_segment([&](const Trace& t, u32 s) {
      block_count_++;
      instructions += last_place(t, s) - t.segments[s].first;
    });
    if (block_count_ == 0 || !first_.init(tables.traces.size) || !blocks_.init(block_count_) ||
        !code_.init(instructions + 1) || !found_.init(2 * block_count_) || !sorted_.init(2 * block_count_) ||
        !begins_.init(block_count_ + 1) || !rounds_.init(block_count_))
      return false;
    make_blocks();
    make_edges();
    sort_edges();
    return true;
  }

  sim::CoreTotal total() {
    return sim::total(sim::haswell_core, {&blocks_[0], block_count_}, {&sorted_[0], edge_count_},
                      {&rounds_[0], block_count_});
  }

 private:
  static u64 executed(const Trace& t, u32 s) { return summed[t.number + s]; }
  /// Behind the last place of a segment.
  static u32 last_place(const Trace& t, u32 s) {
    return s + 1 < t.segment_count ? t.segments[s + 1].first : t.place_count;
  }

  template <class Each>
  static void each_segment(Each&& each) {
    for (u32 i = 1; i < tables.traces.size; i++)
      for (u32 s = 0; s < tables.traces[i].segment_count; s++)
        if (executed(tables.traces[i], s) > 0) each(tables.traces[i], s);
  }

  void make_blocks() {
    u32 block = 0, filled = 0;
    each_segment([&](const Trace& t, u32 s) {
      const u32 begin = filled;
      for (u32 i = t.segments[s].first; i < last_place(t, s); i++) {
        const Place& p = t.places[i];
        if (p.kind != Kind::end) code_[filled++] = read(t.pc + static_cast<u64>(static_cast<s64>(p.pc)));
      }
      blocks_[block] = {{&code_[begin], filled - begin}, executed(t, s)};
      if (s == 0) first_[static_cast<u32>(&t - tables.traces.data)] = block + 1;
      block++;
    });
  }

  static sim::CoreInstruction read(u64 pc) {
    u8 bytes[16] = {};
    Instruction in;
    const u32 n = read_code(pc, bytes, 15);
    return n != 0 && decode(pc, bytes, n, in) ? core_code(in) : sim::CoreInstruction{};
  }

  void add_edge(u32 from, u64 target, u64 count) {
    if (count == 0) return;
    const Trace* const t = find_trace(target);
    const u32 to = t == nullptr ? 0 : first_[static_cast<u32>(t - tables.traces.data)];
    if (to != 0) found_[edge_count_++] = {from, to - 1, count};
  }

  void make_edges() {
    u32 block = 0;
    each_segment([&](const Trace& t, u32 s) {
      const u64 here = executed(t, s), next = s + 1 < t.segment_count ? executed(t, s + 1) : 0;
      if (next > 0) found_[edge_count_++] = {block, block + 1, next};
      const Place& last = t.places[last_place(t, s) - 1];
      const u64 pc = t.pc + static_cast<u64>(static_cast<s64>(last.pc));
      if (last.kind == Kind::end) {
        add_edge(block, pc, here);
      } else if (is_branch(last.kind) && here > next) {
        u8 bytes[16] = {};
        Instruction in;
        const u32 n = read_code(pc, bytes, 15);
        if (n != 0 && decode(pc, bytes, n, in)) add_edge(block, in.target(), here - next);
      }
      block++;
    });
  }

  /// By the block that they lead to.
  void sort_edges() {
    for (u32 i = 0; i < edge_count_; i++) begins_[found_[i].to + 1]++;
    for (u32 i = 0; i < block_count_; i++) begins_[i + 1] += begins_[i];
    for (u32 i = 0; i < edge_count_; i++) sorted_[begins_[found_[i].to]++] = found_[i];
  }

  u32 block_count_ = 0, edge_count_ = 0;
  Scratch<u32> first_;  // of each trace, its first block + 1
  Scratch<sim::CoreBlock> blocks_;
  Scratch<sim::CoreInstruction> code_;
  Scratch<sim::CoreEdge> found_, sorted_;
  Scratch<u32> begins_;
  Scratch<sim::CoreRound> rounds_;
};

}  // namespace

void core_init() {
  if (settings().models.on & channel::model_core)
    summed = reinterpret_cast<u64*>(try_reserve(counters_bytes, PROT_READ | PROT_WRITE));
}

void core_collect(const u64* c, u32 n) {
  if (summed == nullptr) return;
  for (u32 i = channel::first_segment; i < n; i++) summed[i] += c[i];
}

void core_finish(Thread* t) {
  if (summed == nullptr) return;
  Guard guard(cache_lock);
  core_finish_locked(t);
}

void core_finish_locked(Thread* t) {
  if (summed == nullptr) return;
  Flow flow;
  if (flow.build()) {
    const sim::CoreTotal total = flow.total();
    channel::CoreValues& core = model_counts(t)->core;
    core.cycles += total.cycles;
    core.instructions += total.instructions;
    core.unknown += total.unknown;
  }
  core_forget();
}

void core_forget() {
  if (summed != nullptr) throw_away(summed, counters_bytes);
}

}  // namespace tally::engine
