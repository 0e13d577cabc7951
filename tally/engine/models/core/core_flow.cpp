#include "tally/engine/models/core/core_flow.hpp"

#include "tally/engine/models/core/block_entry.hpp"
#include "tally/engine/models/core/repeated_loop.hpp"

namespace tally::models {

namespace {

// Enough for dependency chains through loops of several blocks.
constexpr unsigned most_rounds = 32;

// The usual predecessors of a block lead back to a block without one, or around a loop. So each end state is computed
// once, after that of its predecessor; those of loops until they stay the same. What a block costs after an end state
// with the same name is searched among the kept schedules first, and end states are computed where these have gaps.
class Flow {
 public:
  Flow(const CoreTable& core, std::span<const CoreBlock> blocks, std::span<const CoreEdge> edges,
       const CoreMemory& memory, CoreSource* source)
      : core_(core),
        blocks_(blocks),
        edges_(edges),
        ends_(memory.ends),
        marks_(memory.marks),
        spent_(memory.spent),
        source_(source),
        schedules_(source != nullptr ? source->schedules() : nullptr),
        elsewhere_(running_state(core)) {
    std::uint32_t next = 0;
    for (std::uint32_t i = 0; i < marks_.size(); ++i) {
      CoreMark& mark = marks_[i];
      states_ = mark.state > states_ ? mark.state : states_;  // of total(), before divide()
      mark.first_edge = next;
      for (std::uint64_t most = 0; next < edges_.size() && edges_[next].to == i; ++next) {
        if (edges_[next].count <= most) continue;
        most = edges_[next].count;
        mark.usual = edges_[next].from + 1;
      }
    }
    for (std::uint32_t i = 0; i < edges_.size(); ++i) {
      std::uint32_t& follower = marks_[edges_[i].from].follower;
      if (follower == 0 || edges_[follower - 1].count < edges_[i].count) follower = i + 1;
    }
  }

  // Sets the end states of a block and of all before it, or the names of these, and what each costs as it is usually
  // entered.
  void settle(std::uint32_t number) {
    if (marks_[number].is_settled) return;
    std::uint32_t first = number;
    marks_[number].next = last;
    while (true) {
      const std::uint32_t usual = marks_[first].usual;
      if (usual == 0 || marks_[usual - 1].is_settled) break;
      if (marks_[usual - 1].next != 0) {
        if (!find_loop(first, usual - 1)) settle_loop(first, usual - 1);
        first = usual - 1;
        break;
      }
      marks_[usual - 1].next = first + 1;
      first = usual - 1;
    }
    for (std::uint32_t i = first;; i = marks_[i].next - 1) {
      if (!marks_[i].is_settled && !find_usual(i)) {
        spent_[i].cycles = run_usual(i);
        finish(i, 1, key_of(i), marks_[i].can_be_kept);
      }
      if (marks_[i].next == last) break;
    }
  }

  // Sets what restarts cost, before count().
  void restart(const CoreRestarts& restarts) {
    std::uint64_t all = 0;
    for (const CoreRestart& each : restarts.list) all += each.count;
    const std::uint64_t waits = all != 0 ? restarts.waits * ticks_per_cycle * parts_of_tick / all : 0;
    const std::int64_t included = (core_.load_latency + 1) * ticks_per_cycle * std::int64_t{parts_of_tick};
    for (CoreRestart& each : restarts.list) {
      const std::int64_t longer = longer_after(each, restarts) - included;
      const std::uint64_t target = each.from == CoreRestart::anywhere ? core_.wrong_target : 0;
      const std::uint64_t more = waits + target * ticks_per_cycle * parts_of_tick;
      each.ticks = (more + (longer > 0 ? static_cast<std::uint64_t>(longer) : 0)) * each.count;
    }
  }

  // Finds, after restart() and before count(), the time in which loops overlap with the code after them.
  void overlap(std::span<CoreRestart> restarts) {
    constexpr std::uint64_t least_part = 128;  // of all time, in the first block of a loop
    std::uint64_t all = 0;
    for (std::uint32_t i = 0; i < blocks_.size(); ++i) all += blocks_[i].executions * spent_[i].cycles.sum();
    for (std::uint32_t i = 0; i < blocks_.size(); ++i) {
      RepeatedLoop loop;
      if (!marks_[i].is_in_loop || blocks_[i].executions * spent_[i].cycles.sum() <= all / least_part ||
          !find_repeated(blocks_, edges_, marks_, i, loop))
        continue;
      std::uint64_t length = 0;
      for (std::uint32_t n = 0; n < loop.loop_size; ++n) length += length_of(blocks_[loop.loop[n]]);
      // The overlap of longer loops is that of one with a few times the reorder buffer's instructions.
      const std::uint64_t most = 3 * core_.rob / length + 2, trips = loop.trips < most ? loop.trips : most;
      const NestTimes times = run_nest(loop, static_cast<std::uint32_t>(trips));
      const std::uint32_t share = overlapped(core_, loop, trips, times, ticks_outside(loop), spent_, restarts);
      for (std::uint32_t n = 0; n < loop.loop_size; ++n) marks_[loop.loop[n]].overlapped = share;
      for (std::uint32_t n = 0; n < loop.arm_count; ++n) marks_[loop.arms[n]].overlapped = share;
    }
  }

  // Sets what all executions of a block cost.
  void count(std::uint32_t number) {
    const CoreBlock& block = blocks_[number];
    const CoreMark& mark = marks_[number];
    const std::size_t end = number + 1 < marks_.size() ? marks_[number + 1].first_edge : edges_.size();
    std::uint64_t left = block.executions;
    CoreTimes ticks;
    for (const CoreEdge& edge : edges_.subspan(mark.first_edge, end - mark.first_edge)) {
      const std::uint64_t times = edge.count < left ? edge.count : left;
      if (edge.from + 1 == mark.usual || times == 0) continue;
      ticks.add(ticks_after(edge.from, number), times);
      left -= times;
    }
    ticks.add(spent_[number].cycles, left);
    spent_[number].cycles = without_overlap(ticks, mark.overlapped);
  }

  // Divides the cycles of a block, and of those before it whose end states are computed for that.
  void divide(std::uint32_t number, CoreParts& parts) {
    parts_ = &parts;
    if (marks_[number].state == 0) compute_end(number);
    if (marks_[number].is_divided) return;
    CoreState state = end_of_usual(number);
    run_divided(number, state);
  }

 private:
  static constexpr std::uint32_t last = ~std::uint32_t{0};

  // Returns the ticks of what is usually run after a block: of the code outside a loop and of its next beginning.
  std::uint64_t ticks_outside(const RepeatedLoop& loop) {
    std::uint64_t ticks = 0;
    for (std::uint32_t n = 0, from = loop.loop[loop.last - 1]; n <= loop.outside_size; ++n) {
      const std::uint32_t to = n == loop.outside_size ? loop.loop[0] : loop.outside[n];
      ticks += (marks_[to].usual == from + 1 ? spent_[to].cycles : ticks_after(from, to)).sum();
      from = to;
    }
    return ticks;
  }

  // Returns the times of a loop and of the code outside, which are kept like schedules.
  NestTimes run_nest(const RepeatedLoop& loop, std::uint32_t trips) {
    NestBlock ran[2 * RepeatedLoop::limit];
    const auto each = [&](const auto& use) {
      std::uint32_t before = loop.outside[loop.outside_size - 1];
      for (std::uint32_t n = 0; n < loop.loop_size + loop.outside_size; ++n) {
        const std::uint32_t i = n < loop.loop_size ? loop.loop[n] : loop.outside[n - loop.loop_size];
        if (n == loop.loop_size) before = loop.loop[loop.last - 1];
        use(i, before, ran[n]);
        before = i;
      }
    };
    bool can_be_kept = schedules_ != nullptr;
    std::uint64_t key = mixed(loop.last, trips);
    each([&](std::uint32_t i, std::uint32_t before, NestBlock&) {
      key = key_after(key | 1, &blocks_[before], blocks_[i]);
      can_be_kept &= blocks_[i].code != 0;
    });
    if (const Schedule* const kept = can_be_kept ? find(key) : nullptr)
      return {kept->parts[0], kept->parts[1], kept->parts[2]};
    each([&](std::uint32_t i, std::uint32_t before, NestBlock& block) {
      block = {code_of(i), jumps(blocks_[before], blocks_[i])};
      can_be_kept &= marks_[i].can_be_kept;
    });
    const NestTimes times =
        times_of(core_, {{ran, loop.loop_size}, {ran + loop.loop_size, loop.outside_size}, trips, loop.last});
    if (can_be_kept) {
      Schedule schedule{.key = key};
      schedule.parts = {static_cast<std::uint32_t>(times.endless), static_cast<std::uint32_t>(times.predicted),
                        static_cast<std::uint32_t>(times.mispredicted)};
      schedules_->add(schedule);
    }
    return times;
  }

  // Returns what one execution of a block costs after a block that is not its usual predecessor, in parts of ticks.
  CoreTimes ticks_after(std::uint32_t from, std::uint32_t to) {
    const StateName end = marks_[from].is_settled ? marks_[from].end : StateName{untouched};
    const std::uint64_t key = key_after(end, &blocks_[from], blocks_[to]);
    if (const Schedule* const kept = find(key)) return kept->times();
    CoreState state = end_of(from);
    enter(blocks_[from], blocks_[to], state);
    const CoreCost cost = run(core_, code_of(to), state);
    return keep_run(cost, key, to, state);
  }

  // Keeps what one execution of a block cost, and the state in which it ended. Returns the cost in parts of ticks.
  CoreTimes keep_run(const CoreCost& cost, std::uint64_t key, std::uint32_t number, const CoreState& end) {
    CoreTimes parts;
    parts.add(cost.causes, parts_of_tick);
    if (schedules_ != nullptr && marks_[number].can_be_kept)
      keep({parts, cost.aliases, cost.unknown}, key, name_of(end, blocks_[number].end));
    return parts;
  }

  // Returns by how much the blocks after a restart take longer than usual, in parts of ticks: those on the most
  // frequent path, each as far as no other misprediction comes first.
  std::int64_t longer_after(const CoreRestart& restart, const CoreRestarts& restarts) {
    constexpr unsigned most_calls = 4;
    constexpr std::uint64_t whole = 256, least = 16;
    std::uint32_t path[blocks_after_restart + 2] = {restart.from, restart.to}, ran = 0;
    std::uint32_t calls = restart.from == CoreRestart::anywhere ? 1 : 0;
    std::uint64_t reached = whole, returns[most_calls] = {restarts.after_call};
    std::int64_t longer = 0;
    StateName name = untouched;
    CoreState state;  // after `ran` blocks of the path
    for (unsigned n = 1; n <= blocks_after_restart && reached >= least; ++n) {
      const std::uint32_t from = path[n - 1], to = path[n];
      const bool is_usual = from == CoreRestart::anywhere || marks_[to].usual == from + 1;
      const CoreTimes usual = is_usual ? spent_[to].cycles : ticks_after(from, to);
      const std::uint64_t key = key_after(name, from != CoreRestart::anywhere ? &blocks_[from] : nullptr, blocks_[to]);
      std::uint64_t ticks = 0;
      if (const Schedule* const kept = find(key)) {
        ticks = kept->times().sum();
        name = kept->end;
      } else {
        CoreCost cost;
        for (; ran < n; ++ran) {
          if (path[ran] != CoreRestart::anywhere) enter(blocks_[path[ran]], blocks_[path[ran + 1]], state);
          cost = run(core_, code_of(path[ran + 1]), state);
        }
        ticks = keep_run(cost, key, to, state).sum();
        if (schedules_ != nullptr) name = name_of(state, blocks_[to].end);
      }
      longer +=
          static_cast<std::int64_t>(ticks - usual.sum()) * static_cast<std::int64_t>(reached) / std::int64_t{whole};
      const std::uint64_t missed = mispredicted(to, restarts.list), all = blocks_[to].executions;
      reached -= reached * (missed >= all ? whole : missed / (all / whole + 1)) / whole;
      const CoreBlock& block = blocks_[to];
      if (block.last == Operation::call && calls < most_calls) returns[calls++] = block.end;
      if (block.last == Operation::ret && calls != 0 && find_block(blocks_, returns[--calls], path[n + 1])) continue;
      if (marks_[to].follower == 0) break;
      path[n + 1] = edges_[marks_[to].follower - 1].to;
    }
    return longer;
  }

  // Settles the loop from `first` to `end`, whose usual successor is `first`. If it is settled, only computes its
  // states.
  void settle_loop(std::uint32_t first, std::uint32_t end) {
    const auto after = [&](std::uint32_t i) { return i == end ? first : marks_[i].next - 1; };
    const std::uint32_t begin = begin_of(first, end);
    const bool queued = is_queued(begin, after);
    const bool is_new = !marks_[begin].is_settled;
    const auto restart = [&] {
      if (is_new) each_of(begin, after, [this](std::uint32_t i) { spent_[i].cycles = {}; });
    };
    CoreState earlier;  // all ready now: a chain through the loop then needs no time to use up the lead of the front
    state_of(begin) = earlier;
    restart();
    unsigned rounds = 0;  // since `earlier`
    for (unsigned round = 1; round <= most_rounds; ++round) {
      each_of(begin, after, [&](std::uint32_t i) {
        const CoreTimes ticks = run_usual(i, queued);
        if (is_new) spent_[i].cycles.add(ticks);
      });
      ++rounds;
      if (are_same(core_, state_of(begin), earlier) || round == most_rounds) break;
      if ((round & (round - 1)) != 0) continue;
      earlier = state_of(begin);
      rounds = 0;
      restart();
    }
    if (!is_new) return;
    bool can_be_kept = true;
    each_of(begin, after, [&](std::uint32_t i) { can_be_kept &= marks_[i].can_be_kept; });
    std::uint64_t key = key_of_loop(begin, after);
    each_of(begin, after, [&](std::uint32_t i) {
      key = mixed(key, 1);
      finish(i, rounds, key, can_be_kept);
      marks_[i].is_in_loop = true;
    });
  }

  // The result does not depend on the block that led to the loop.
  std::uint32_t begin_of(std::uint32_t first, std::uint32_t end) const {
    std::uint32_t begin = end;
    for (std::uint32_t i = first; i != end; i = marks_[i].next - 1) begin = i < begin ? i : begin;
    return begin;
  }

  // Settles a loop by kept schedules. Returns false if one is missing.
  bool find_loop(std::uint32_t first, std::uint32_t end) {
    if (schedules_ == nullptr) return false;
    const auto after = [&](std::uint32_t i) { return i == end ? first : marks_[i].next - 1; };
    const std::uint32_t begin = begin_of(first, end);
    std::uint64_t key = key_of_loop(begin, after);
    bool finds = true;
    each_of(begin, after, [&](std::uint32_t i) {
      key = mixed(key, 1);
      const Schedule* const kept = finds ? find(key) : nullptr;
      finds = kept != nullptr;
      if (finds) take(i, *kept);
    });
    each_of(begin, after, [&](std::uint32_t i) { marks_[i].is_settled = marks_[i].is_in_loop = finds; });
    return finds;
  }

  // Whether a loop is repeated from the queue of decoded operations: it is short, and left in one of 16 rounds at most.
  template <class After>
  bool is_queued(std::uint32_t begin, const After& after) const {
    if (core_.loop_queue == 0) return false;
    std::uint64_t length = 0;
    each_of(begin, after, [&](std::uint32_t i) {
      const CoreEdge& edge = edges_[marks_[i].follower - 1];
      const bool repeats = edge.to == after(i) && 16 * edge.count >= 15 * blocks_[i].executions;
      length += repeats ? length_of(blocks_[i]) : 256;
    });
    return length <= core_.loop_queue;
  }

  template <class After>
  std::uint64_t key_of_loop(std::uint32_t begin, const After& after) const {
    std::uint64_t key = untouched;
    if (schedules_ == nullptr) return key;
    key += is_queued(begin, after) ? 2 : 0;
    std::uint32_t before = begin;
    each_of(begin, after, [&](std::uint32_t i) {
      key = key_after(key | 1, &blocks_[before], blocks_[i]);
      before = i;
    });
    return key;
  }

  template <class After, class Each>
  static void each_of(std::uint32_t begin, const After& after, const Each& each) {
    std::uint32_t i = begin;
    do {
      i = after(i);
      each(i);
    } while (i != begin);
  }

  // The block has the sum of the ticks of `rounds`.
  void finish(std::uint32_t number, unsigned rounds, std::uint64_t key, bool can_be_kept) {
    CoreMark& mark = marks_[number];
    CoreSpent& spent = spent_[number];
    for (std::uint64_t& ticks : spent.cycles.by) ticks = ticks * parts_of_tick / rounds;
    mark.is_settled = true;
    if (schedules_ == nullptr) return;
    mark.end = name_of(state_of(number), blocks_[number].end);
    if (can_be_kept) keep(spent, key, mark.end);
  }

  CoreTimes run_usual(std::uint32_t number, bool queued = false) {
    const CoreState& before = end_of_usual(number);
    CoreState& state = state_of(number);
    state = before;
    if (parts_ != nullptr && !queued && !marks_[number].is_in_loop) return run_divided(number, state);
    enter_usual(number, state);
    const CoreCost cost = run(core_, code_of(number), state, {}, queued);
    spent_[number].aliases = cost.aliases;
    spent_[number].unknown = cost.unknown;
    return cost.causes;
  }

  const CoreState& end_of_usual(std::uint32_t number) {
    return marks_[number].usual != 0 ? end_of(marks_[number].usual - 1) : elsewhere_;
  }
  void enter_usual(std::uint32_t number, CoreState& state) const {
    if (marks_[number].usual != 0) enter(blocks_[marks_[number].usual - 1], blocks_[number], state);
  }

  // Runs a block after the end state of its usual predecessor, and divides its cycles.
  CoreTimes run_divided(std::uint32_t number, CoreState& state) {
    const std::span<CoreTimes> each = parts_->memory(number);
    enter_usual(number, state);
    const CoreTimes all = run(core_, code_of(number), state, each).causes;
    for (unsigned cause = 0; cause < core_causes; ++cause) {
      const std::uint64_t cycles = spent_[number].cycles.by[cause];
      // A cause that only rare predecessors have is divided evenly.
      const std::uint64_t weights = all.by[cause] != 0 ? all.by[cause] : each.size();
      std::uint64_t weight = 0, divided = 0;
      for (CoreTimes& times : each) {
        weight += all.by[cause] != 0 ? times.by[cause] : 1;
        const std::uint64_t so_far = cycles / weights * weight + cycles % weights * weight / weights;
        times.by[cause] = so_far - divided;
        divided = so_far;
      }
    }
    parts_->take(number);
    marks_[number].is_divided = true;
    return all;
  }

  std::span<const CoreInstruction> code_of(std::uint32_t number) {
    const std::span<const CoreInstruction> given = blocks_[number].instructions;
    marks_[number].can_be_kept = blocks_[number].code != 0;
    return given.empty() && source_ != nullptr ? source_->read(number, marks_[number].can_be_kept) : given;
  }

  // Memory for the end state of a block.
  CoreState& state_of(std::uint32_t number) {
    std::uint32_t& state = marks_[number].state;
    if (state == 0) state = ++states_;
    return ends_[state - 1];
  }

  // Returns the end state of a block, which is computed if only its name is known.
  const CoreState& end_of(std::uint32_t number) {
    if (marks_[number].state == 0 && marks_[number].is_settled) compute_end(number);
    return marks_[number].state != 0 ? ends_[marks_[number].state - 1] : untouched_;
  }

  void compute_end(std::uint32_t number) {
    std::uint32_t first = number;
    marks_[number].next = last;
    while (!marks_[first].is_in_loop) {
      const std::uint32_t usual = marks_[first].usual;
      if (usual == 0 || marks_[usual - 1].state != 0) break;
      marks_[usual - 1].next = first + 1;
      first = usual - 1;
    }
    if (marks_[first].is_in_loop) compute_loop(first);
    for (std::uint32_t i = first;; i = marks_[i].next - 1) {
      if (marks_[i].state == 0) run_usual(i);
      if (marks_[i].next == last) break;
    }
  }

  void compute_loop(std::uint32_t end) {
    std::uint32_t first = end;
    for (; marks_[first].usual - 1 != end; first = marks_[first].usual - 1)
      marks_[marks_[first].usual - 1].next = first + 1;
    settle_loop(first, end);
  }

  std::uint64_t key_of(std::uint32_t number) const {
    const std::uint32_t usual = marks_[number].usual;
    if (usual == 0) return key_after(running, nullptr, blocks_[number]);
    return key_after(marks_[usual - 1].end, &blocks_[usual - 1], blocks_[number]);
  }

  // Settles a block by a kept schedule. Returns false if there is none.
  bool find_usual(std::uint32_t number) {
    const Schedule* const kept = find(key_of(number));
    if (kept == nullptr) return false;
    take(number, *kept);
    marks_[number].is_settled = true;
    return true;
  }

  const Schedule* find(std::uint64_t key) const { return schedules_ == nullptr ? nullptr : schedules_->find(key); }

  void take(std::uint32_t number, const Schedule& kept) {
    marks_[number].end = kept.end;
    spent_[number] = {kept.times(), kept.aliases, kept.unknown};
  }

  // `spent`: by one execution.
  void keep(const CoreSpent& spent, std::uint64_t key, StateName end) {
    if (spent.aliases > UINT16_MAX || spent.unknown > UINT16_MAX) return;
    Schedule made{.key = key, .end = end};
    made.aliases = static_cast<std::uint16_t>(spent.aliases);
    made.unknown = static_cast<std::uint16_t>(spent.unknown);
    for (unsigned i = 0; i < scheduled_causes; ++i) {
      if (spent.cycles.by[i] > UINT32_MAX) return;
      made.parts[i] = static_cast<std::uint32_t>(spent.cycles.by[i]);
    }
    schedules_->add(made);
  }

  const CoreTable& core_;
  std::span<const CoreBlock> blocks_;
  std::span<const CoreEdge> edges_;
  std::span<CoreState> ends_;
  std::span<CoreMark> marks_;
  std::span<CoreSpent> spent_;
  CoreSource* source_;
  ScheduleStore* schedules_;
  CoreParts* parts_ = nullptr;  // null: nothing is divided
  std::uint32_t states_ = 0;
  const CoreState elsewhere_;
  const CoreState untouched_ = {};
};

}  // namespace

CoreTotal total(const CoreTable& core, std::span<const CoreBlock> blocks, std::span<const CoreEdge> edges,
                const CoreMemory& memory, CoreSource* source, const CoreRestarts& restarts) {
  CoreTotal result;
  Flow flow(core, blocks, edges, memory, source);
  for (std::uint32_t i = 0; i < blocks.size(); ++i)
    if (blocks[i].executions != 0) flow.settle(i);
  if (!core.in_order()) {
    flow.restart(restarts);
    if (core.waiting != 0) flow.overlap(restarts.list);
  }
  for (std::uint32_t i = 0; i < blocks.size(); ++i)
    if (blocks[i].executions != 0) flow.count(i);
  for (const CoreRestart& each : restarts.list) memory.spent[each.to].cycles.of(Cause::mispredicts) += each.ticks;
  // Rounded during the summation, so that nothing is lost between blocks.
  std::uint64_t ticks = 0, cycles = 0;
  for (std::uint32_t i = 0; i < blocks.size(); ++i) {
    for (std::uint64_t& cause : memory.spent[i].cycles.by) {
      ticks += cause;
      const std::uint64_t before = cycles;
      cycles = ticks / parts_of_tick / ticks_per_cycle;
      cause = cycles - before;
    }
    result.cycles.add(memory.spent[i].cycles);
    const std::uint64_t executions = blocks[i].executions;
    result.instructions += executions * length_of(blocks[i]);
    result.unknown += executions * memory.spent[i].unknown;
    result.aliases += executions * memory.spent[i].aliases;
  }
  return result;
}

void divide(const CoreTable& core, std::span<const CoreBlock> blocks, std::span<const CoreEdge> edges,
            const CoreMemory& memory, CoreSource* source, CoreParts& parts) {
  Flow flow(core, blocks, edges, memory, source);
  for (std::uint32_t i = 0; i < blocks.size(); ++i)
    if (memory.spent[i].cycles.sum() != 0) flow.divide(i, parts);
}

}  // namespace tally::models
