// One run of code through the core: times of instructions, registers and ports.
#pragma once

#include <bit>

#include "tally/engine/models/core/core_model.hpp"
#include "tally/engine/models/core/reorder_buffer.hpp"

namespace tally::models {

/// One run of a code region. Times are relative to its start until finish().
class CoreRun {
 public:
  /// `buffer`: null if the reorder buffer hides the waits that CoreTable::window() and lead() are.
  CoreRun(const CoreTable& core, const CoreState& state, bool is_queued, ReorderBuffer* buffer = nullptr)
      : core_(core),
        fetches_(core.fetch != 0 && !is_queued),
        window_(core.window() * ticks_per_cycle),
        lead_(core.lead() * ticks_per_cycle),
        loaded_(state.loaded),
        chained_(state.chained),
        added_(state.added),
        fetched_(state.fetched),
        fetch_joins_(state.fetch_joins),
        stack_moved_(state.stack_moved),
        buffer_(buffer) {
    for (unsigned i = 0; i < registers; ++i) ready_[i] = state.ready[i];
    for (unsigned i = 0; i < units; ++i) free_[i] = state.free[i];
    for (unsigned i = 0; i < recent_stores; ++i) {
      stores_[i] = {state.stores[i].at, state.stores[i].ready, state.stores[i].end};
      follow(stores_[i].at);
    }
  }

  // `next`: the instruction after it in the block, or null.
  void step(const CoreInstruction& instruction, const Timing& timing, const CoreInstruction* next) {
    earliest_ = buffer_ != nullptr ? buffer_->earliest(core_, scheduler_of(instruction, timing))
                                   : front_ - (is_of_vectors(instruction) ? window_ : lead_);
    if (core_.in_order()) return step_in_order(instruction, timing);
    follow_stack(instruction);
    const bool adds = core_.add_to_add != 0 && instruction.operation == Operation::fp_add;
    std::int32_t start =
        ready(instruction.sources, core_.shifts_keep_flags || instruction.operation != Operation::shift_by_register,
              adds ? added_ : 0);
    if (core_.adds_index_last && adds_three(instruction.operation) && instruction.sources[1] != no_register)
      start =
          larger(larger(earliest_, ready_[instruction.sources[0]]), ready_[instruction.sources[1]] - ticks_per_cycle);
    start = larger(start, flags_merged(instruction, timing));
    Cause wait = Cause::core;  // what determines `start`
    if ((instruction.memory & CoreInstruction::loads) != 0) {
      const Loaded value = loaded(instruction);
      if (value.ready > start) {
        start = value.ready;
        wait = value.wait;
      }
    } else if (instruction.memory != 0) {
      start = larger(start, ready(instruction.address));
    }
    const bool is_fused = is_fused_;
    is_fused_ = next != nullptr && fuses(instruction, *next);
    const Timing* const jump = is_fused_ ? core_.timing(next->operation) : nullptr;
    const std::int32_t done = start + (is_fused ? 0 : timing.latency * ticks_per_cycle);
    const std::int32_t end = is_fused ? front_
                                      : occupy(instruction, jump != nullptr ? jump->uses : timing.uses, earliest_,
                                               reissue(instruction, timing));
    const unsigned used = is_fused || joins_move(instruction) ? 0 : slots(instruction, timing);
    const bool copies = instruction.operation == Operation::move && instruction.memory == 0;
    copied_ = copies && instruction.sources[0] != no_register ? instruction.results[0] : no_register;
    const Cause own = own_cause(instruction);
    retire(used, own);
    const std::int32_t retired = front_ + slot_ticks(used);
    const std::int32_t worked = larger(larger(end, retired), done);
    const std::int32_t waited = larger(start - retired, 0);
    spend(wait, waited);
    spend(own, worked - retired - waited);
    const std::int32_t fetched = is_fused ? worked : fetch(instruction, is_fused_ && next->begins_line);
    front_ = buffer_ != nullptr ? worked : larger(worked, fetched);
    spend(Cause::front_end, front_ - worked);
    done_ = done;
    if (buffer_ != nullptr) {
      const unsigned scheduler = scheduler_of(instruction, timing);
      buffer_->wait(scheduler, start - earliest_, start);
      buffer_->add(used, slot_ticks(used), front_, is_fused ? 0 : fetched);
    }
    for (const Register result : instruction.results) {
      if (result == no_register) continue;
      ready_[result] = done;
      added_ = (added_ & ~bit(result)) | (adds ? bit(result) : 0);
    }
    if ((instruction.memory & CoreInstruction::stores) != 0) remember(instruction.at, done);
    change_places(instruction);
    if (serializes(instruction.operation)) wait_for_all();
  }

  /// Runs a block. `is_jumped_to`: code elsewhere has run before it.
  void run_block(std::span<const CoreInstruction> code, bool is_jumped_to) {
    if (is_jumped_to) fetched_ = 0;
    for (std::size_t i = 0; i < code.size(); ++i) {
      const Timing* const timing = timing_of(core_, code[i]);
      step(code[i], timing != nullptr ? *timing : Timing{}, i + 1 < code.size() ? &code[i + 1] : nullptr);
    }
  }

  /// With a reorder buffer: what follows is renamed after the last instruction, a mispredicted branch.
  void restart() {
    const std::int32_t resolved = core_.load_latency + 1;  // included in CoreTable::mispredict
    const std::int32_t fetches = done_ + larger(core_.mispredict - resolved, 0) * ticks_per_cycle;
    buffer_->restart(fetches);
    free_[fetch_unit] = larger(free_[fetch_unit], fetches - ticks_per_cycle);
  }

  /// When the last instruction ended.
  std::int32_t end() const { return front_; }

  std::uint32_t aliases() const { return aliases_; }

  /// By how much the instructions end after the code before them, by cause.
  const CoreTimes& spent() const { return spent_; }

  // Ends the run: times become relative to its end. Only in-order results may come later than that, by the latency of
  // one instruction.
  std::int32_t finish(CoreState& state) const {
    static_assert(most_window * ticks_per_cycle <= INT16_MAX);
    state.loaded = loaded_;
    state.chained = chained_;
    state.added = added_;
    state.fetched = fetched_;
    state.fetch_joins = fetch_joins_;
    state.stack_moved = stack_moved_;
    const auto at_end = [this](std::int32_t time) {
      return static_cast<std::int16_t>(larger(time - front_, -window_));
    };
    for (unsigned i = 0; i < registers; ++i) state.ready[i] = at_end(ready_[i]);
    for (unsigned i = 0; i < units; ++i) state.free[i] = at_end(free_[i]);
    for (unsigned i = 0; i < recent_stores; ++i)
      state.stores[i] = {stores_[i].at, at_end(stores_[i].ready), at_end(stores_[i].end)};
    return front_;
  }

 private:
  struct Stored {
    SymbolicAddress at;
    std::int32_t ready, end;  ///< as in RecentStore
  };

  struct Loaded {
    std::int32_t ready;
    Cause wait;
  };

  static unsigned scheduler_of(const CoreInstruction& instruction, const Timing& timing) {
    const unsigned port = static_cast<unsigned>(std::countr_zero(timing.uses[0].any));
    return is_of_vectors(instruction) ? 1 + port / 2 % 2 : 0;
  }

  std::int32_t slot_ticks(unsigned slots) const {
    return static_cast<std::int32_t>(slots) * (ticks_per_cycle / core_.width);
  }

  void spend(Cause cause, std::int32_t ticks) { spent_.of(cause) += static_cast<std::uint64_t>(ticks); }

  // Spends the time of an instruction's slots. Those that a lock takes beyond the first belong to it.
  void retire(unsigned slots, Cause own) {
    const bool is_lock = own == Cause::locks && slots > 1;
    if (is_lock) spend(own, slot_ticks(slots - 1));
    spend(slots > 1 && !is_lock ? Cause::heavy : Cause::light, slot_ticks(is_lock ? 1 : slots));
  }

  // The cause of the time that an instruction itself takes.
  static Cause own_cause(const CoreInstruction& instruction) {
    const bool locks = instruction.operation == Operation::locked || instruction.operation == Operation::fence_full;
    return locks ? Cause::locks : Cause::core;
  }

  void wait_for_all() {
    for (std::int32_t& time : ready_) time = larger(time, front_);
    for (unsigned port = 0; port < ports; ++port) free_[port] = larger(free_[port], front_);
  }

  // When the value of a load is there: from the first level, or from the newest store that overlaps it.
  Loaded loaded(const CoreInstruction& instruction) {
    const Loaded usual{ready(instruction.address) + load_ticks(instruction), Cause::l1};
    const SymbolicAddress& at = instruction.at;
    if (at.bytes == 0) return usual;
    bool is_alias = false;
    for (unsigned i = 0; i < recent_stores; ++i) {
      const Stored& store = stores_[i];
      const SymbolicAddress& stored = store.at;
      if (stored.bytes == 0 || stored.base != at.base || stored.index != at.index || stored.form != at.form) continue;
      const std::uint32_t from = at.displacement - stored.displacement, back = 0 - from;
      const bool begins_there = core_.renames == Renames::all && from == 0 && at.bytes == 4 && stored.bytes == 8;
      if ((stored == at || begins_there) && i < core_.renamed_stores && renames(instruction))
        return {larger(store.ready, earliest_), Cause::forwarding};
      const bool is_inside = from < stored.bytes && from + at.bytes <= stored.bytes;
      if (!is_inside && from >= stored.bytes && back >= at.bytes) {
        constexpr std::uint32_t alias = 4095;
        if ((from & alias) < stored.bytes || (back & alias) < at.bytes)
          is_alias |= ready(instruction.address) < store.ready + alias_cycles * ticks_per_cycle;
        continue;
      }
      const std::int32_t time = is_inside ? store.ready + forward(instruction) * ticks_per_cycle
                                          : store.end + core_.forward_blocked * ticks_per_cycle;
      return time >= usual.ready ? Loaded{time, Cause::forwarding} : usual;
    }
    aliases_ += is_alias ? 1 : 0;
    return usual;
  }

  std::uint8_t forward(const CoreInstruction& instruction) const {
    return core_.vector_forward != 0 && is_vector(instruction.results[0]) ? core_.vector_forward : core_.forward;
  }

  bool renames(const CoreInstruction& instruction) const {
    const bool stores = (instruction.memory & CoreInstruction::stores) != 0;
    if (core_.renames == Renames::all && stores) return true;
    if (is_vector(instruction.results[0]) || instruction.at.bytes < 4) return false;
    if (core_.renames == Renames::all) return true;
    const bool only_loads = instruction.operation == Operation::move || instruction.operation == Operation::pop;
    if (core_.renames == Renames::moves) return stores || only_loads;
    return core_.renames == Renames::without_index && instruction.at.index == no_register && !stores;
  }

  void remember(const SymbolicAddress& at, std::int32_t ready) {
    if (at.bytes == 0) return;
    for (unsigned i = recent_stores - 1; i > 0; --i) stores_[i] = stores_[i - 1];
    stores_[0] = {at, ready, front_};
    follow(at);
  }

  void follow(const SymbolicAddress& at) {
    if (at.bytes != 0) followed_ |= std::uint64_t{1} << (at.base % 64) | std::uint64_t{1} << (at.index % 64);
  }
  bool is_followed(Register r) const { return r < 64 && r != no_register && (followed_ >> r & 1) != 0; }

  // Keeps the places of stores right, or forgets them, where the instruction changes their registers.
  void change_places(const CoreInstruction& instruction) {
    if (is_followed(instruction.moved))
      for (Stored& store : stores_) {
        if (store.at.base == instruction.moved) store.at.displacement -= instruction.by;
        if (store.at.index == instruction.moved) store.at.displacement -= instruction.by * factor(store.at);
      }
    for (const Register result : instruction.results)
      if (result != instruction.moved && is_followed(result))
        for (Stored& store : stores_)
          if (store.at.base == result || store.at.index == result) store.at = {};
  }

  static std::uint32_t factor(const SymbolicAddress& at) { return at.form & SymbolicAddress::factor; }

  // Starts an instruction when earlier ones have started and its sources and ports are ready. Its results come later,
  // and only instructions that read them wait.
  void step_in_order(const CoreInstruction& instruction, const Timing& timing) {
    const bool loads = (instruction.memory & CoreInstruction::loads) != 0;
    std::int32_t start = larger(ready(instruction.sources), ready(instruction.address));
    const bool waits_for_load = is_loaded(instruction.sources, start) || is_loaded(instruction.address, start);
    if (loads) start = larger(start, free_at(load_ports(instruction)));
    if ((instruction.memory & CoreInstruction::stores) != 0) start = larger(start, free_at(core_.stores));
    for (const PortUse& use : timing.uses)
      if (use.any != 0) start = larger(start, free_at(use.any));
    occupy(instruction, timing.uses, start);
    // A load into a register takes a load's time and no other.
    const bool only_loads = loads && (timing.operation == Operation::move ||
                                      timing.operation == Operation::vector_move || timing.operation == Operation::pop);
    const std::int32_t done =
        start + (loads ? load_ticks(instruction) : 0) + (only_loads ? 0 : timing.latency * ticks_per_cycle);
    const unsigned used = slots(instruction, timing);
    retire(used, own_cause(instruction));
    spend(waits_for_load ? Cause::l1 : own_cause(instruction), start - front_);
    front_ = start + slot_ticks(used);
    for (const Register result : instruction.results) {
      if (result == no_register) continue;
      ready_[result] = done;
      if (result < 64) loaded_ = (loaded_ & ~(std::uint64_t{1} << result)) | std::uint64_t{only_loads} << result;
    }
  }

  // Whether one of these registers is ready at `time`, not earlier, and has its value from a load.
  template <std::size_t n>
  bool is_loaded(const Register (&sources)[n], std::int32_t time) const {
    for (const Register source : sources)
      if (source < 64 && (loaded_ >> source & 1) != 0 && ready_[source] == time) return true;
    return false;
  }

  // Returns for how many ticks more an operation occupies its port because it waits for one in flight. Of a chain of
  // operations on general registers, the second one occupies it for two cycles; loads in chains for 1.4. Cycles of
  // unrolled chains on a Zen 5, 2026-11-30: 1, 2, 3, 4 and 6 operations take 0.17, 0.49, 0.69, 0.83 and 1.21 on six
  // ports (with a comparison at the end, too, but not with its jump), 2 and 3 loads 0.60 and 0.82 on four.
  std::int32_t reissue(const CoreInstruction& instruction, const Timing& timing) {
    if (!core_.reissues) return 0;
    const bool loads = (instruction.memory & CoreInstruction::loads) != 0;
    bool waits = false, waits_for_load = false, waits_for_first = false;
    const auto read = [&](Register r) {
      if (r == no_register || ready_[r] <= earliest_) return;
      waits_for_load |= (loaded_ & bit(r)) != 0;
      waits_for_first |= (chained_ & bit(r)) != 0;
      waits |= (loaded_ & bit(r)) == 0;
    };
    if (loads)
      for (const Register r : instruction.address) read(r);
    else
      for (const Register r : instruction.sources) read(r);
    const bool is_simple = !loads && timing.latency == 1 && timing.uses[0].any != 0 && !is_of_vectors(instruction) &&
                           instruction.operation != Operation::jump;
    for (const Register r : instruction.results) {
      loaded_ = (loaded_ & ~bit(r)) | (loads ? bit(r) : 0);
      chained_ = (chained_ & ~bit(r)) | (is_simple && !waits ? bit(r) : 0);
    }
    if (loads) return waits_for_load ? ticks_per_cycle * 2 / 5 : 0;
    return is_simple && waits_for_first && !is_fused_ ? ticks_per_cycle : 0;
  }

  // Bit 0, of no register, is the carry's.
  static std::uint64_t bit(Register r) {
    return r == carry_register ? 1 : r < 64 && r != no_register ? std::uint64_t{1} << r : 0;
  }

  // Whether a comparison and the conditional jump after it are one operation. It takes the ports of the jump.
  bool fuses(const CoreInstruction& comparison, const CoreInstruction& jump) const {
    return core_.fuses && comparison.operation == Operation::alu && jump.operation == Operation::jump &&
           (reads(jump, flags_register) || reads(jump, carry_register));
  }

  static bool reads(const CoreInstruction& instruction, Register r) {
    for (const Register source : instruction.sources)
      if (source == r) return true;
    return false;
  }

  unsigned slots(const CoreInstruction& instruction, const Timing& timing) const {
    return timing.slots + unsigned((instruction.memory & CoreInstruction::stores) != 0 && store_is_one_more(timing));
  }

  // A plain store is one operation with its data, any other instruction's store may be one more.
  bool store_is_one_more(const Timing& timing) const {
    return !core_.store_joins && timing.operation != Operation::move && timing.operation != Operation::vector_move &&
           timing.operation != Operation::push && timing.operation != Operation::call;
  }

  // The front end tracks RSP. Whoever reads it otherwise waits for an operation that adds up what that knows.
  void follow_stack(const CoreInstruction& instruction) {
    constexpr Register stack = first_general + 4;
    const Operation operation = instruction.operation;
    const bool moves = operation == Operation::push || operation == Operation::pop || operation == Operation::call ||
                       operation == Operation::ret;
    if (!moves && stack_moved_ && (reads(instruction, stack) || instruction.at.base == stack))
      ready_[stack] = larger(ready_[stack], earliest_) + core_.stack_sync * ticks_per_cycle;
    else if (!moves)
      return;
    stack_moved_ = moves && core_.stack_sync != 0;
  }

  // Whether the instruction is one operation with the move before it.
  bool joins_move(const CoreInstruction& instruction) const {
    const Operation operation = instruction.operation;
    return core_.fuses_moves && copied_ != no_register && instruction.results[0] == copied_ &&
           instruction.memory == 0 && reads(instruction, copied_) &&
           (operation == Operation::alu || operation == Operation::add_constant || operation == Operation::shift);
  }

  // When the last of these is ready; without flags for an instruction that does not wait for those it may keep. Those
  // in `early` are ready before, by CoreTable::add_to_add.
  template <std::size_t n>
  std::int32_t ready(const Register (&sources)[n], bool with_flags = true, std::uint64_t early = 0) const {
    std::int32_t time = earliest_;
    for (const Register source : sources)
      if (source != no_register && (with_flags || (source != flags_register && source != carry_register)))
        time = larger(time, ready_[source] - ((early & bit(source)) != 0 ? core_.add_to_add * ticks_per_cycle : 0));
    return time;
  }

  // A selection that takes two ports merges the flags, which takes a cycle.
  std::int32_t flags_merged(const CoreInstruction& instruction, const Timing& timing) const {
    const bool merges =
        instruction.operation == Operation::select_unsigned || instruction.operation == Operation::select_signed;
    if (!merges || timing.latency != 1 || timing.uses[0].cycles != 2) return earliest_;
    return larger(ready_[flags_register], reads(instruction, carry_register) ? ready_[carry_register] : earliest_) +
           ticks_per_cycle;
  }

  std::int32_t load_ticks(const CoreInstruction& instruction) const {
    const bool vector = is_vector(instruction.results[0]);
    const int index = instruction.at.index != no_register ? core_.index_latency : 0;
    return ((vector ? core_.vector_load_latency : core_.load_latency) + index) * ticks_per_cycle;
  }

  Ports load_ports(const CoreInstruction& instruction) const {
    return is_vector(instruction.results[0]) ? core_.vector_loads : core_.loads;
  }

  // Fetches an instruction, with the last bytes of its jump in a line of their own or not; returns when that is done.
  std::int32_t fetch(const CoreInstruction& instruction, bool jump_begins_line) {
    if (!fetches_) return front_;
    const bool begins_line = instruction.begins_line || jump_begins_line;
    const std::int32_t from = buffer_ != nullptr ? earliest_ - lead_ : earliest_;  // fetching is ahead of renaming
    if (begins_line || fetched_ <= 1) {
      // Two parts of one line, or one before and one after a taken branch, are fetched together.
      const bool is_next_line = begins_line && fetched_ != 0;
      const bool joins = fetch_joins_ && !is_next_line && free_[fetch_unit] >= from;
      if (!joins) free_[fetch_unit] = larger(free_[fetch_unit], from) + ticks_per_cycle;
      fetch_joins_ = !joins && core_.fetches > 1;
      fetched_ = static_cast<std::uint8_t>(core_.fetch + 1);
    }
    --fetched_;
    // Here, because what follows is not known.
    if (instruction.is_indirect) free_[fetch_unit] += core_.indirect * ticks_per_cycle;
    if (instruction.operation == Operation::ret) {
      free_[fetch_unit] = larger(free_[fetch_unit], free_[return_unit]);
      free_[return_unit] = free_[fetch_unit] + core_.returns * ticks_per_cycle;
      free_[fetch_unit] += core_.returns * ticks_per_cycle / 2;
    }
    return free_[fetch_unit];
  }

  // Writes a store into the first level: a cycle for each line. Returns when that is done. Of places in one line only
  // the distance is known, so they share a line in proportion to it.
  std::int32_t write(const CoreInstruction& instruction) {
    const SymbolicAddress &at = instruction.at, &last = stores_[0].at;
    std::int32_t ticks = cycles_of_port(instruction, core_.store_bytes) * ticks_per_cycle;
    if (at.bytes != 0 && at.bytes <= 8 && last.bytes != 0 && at.base == last.base && at.index == last.index &&
        at.form == last.form) {
      const std::uint32_t up = at.displacement - last.displacement, down = 0 - up, distance = up < down ? up : down;
      if (distance < 64) ticks = static_cast<std::int32_t>(distance) * ticks_per_cycle / 64;
    }
    return free_[write_unit] = larger(free_[write_unit], earliest_) + ticks;
  }

  static std::uint8_t cycles_of_port(const CoreInstruction& instruction, std::uint8_t bytes) {
    return instruction.at.bytes > bytes ? 2 : 1;
  }

  // Occupies ports for the accesses of an instruction and for its own work; returns when the last is free again.
  // `more`: ticks for which the first port is taken longer.
  std::int32_t occupy(const CoreInstruction& instruction, const PortUse (&uses)[3], std::int32_t from,
                      std::int32_t more = 0) {
    std::int32_t end = front_;
    if ((instruction.memory & CoreInstruction::loads) != 0) {
      end = larger(end, take({load_ports(instruction), cycles_of_port(instruction, core_.access_bytes)}, from, more));
      more = 0;
    }
    if ((instruction.memory & CoreInstruction::stores) != 0) {
      end = larger(end, take({core_.stores, cycles_of_port(instruction, core_.store_bytes)}, from));
      if (core_.store_merges) end = larger(end, write(instruction));
    }
    for (const PortUse& use : uses)
      if (use.any != 0) end = larger(end, take(use, from, &use == uses ? more : 0));
    return end;
  }

  // A port works without a pause when there is enough to do, but not before `from`. Returns when those that the work
  // was given to are free again.
  std::int32_t take(const PortUse& use, std::int32_t from, std::int32_t more = 0) {
    std::int32_t end = from;
    for (unsigned i = 0; i < use.cycles; ++i) {
      std::int32_t& free = free_[first_free(use.any)];
      free = larger(free, from) + ticks_per_cycle + (i == 0 ? more : 0);
      end = larger(end, free);
    }
    return end;
  }

  unsigned first_free(Ports any) const {
    unsigned first = static_cast<unsigned>(std::countr_zero(any)) % ports;
    for (Ports left = static_cast<Ports>(any & (any - 1)); left != 0; left = static_cast<Ports>(left & (left - 1))) {
      const unsigned port = static_cast<unsigned>(std::countr_zero(left)) % ports;
      if (free_[port] < free_[first]) first = port;
    }
    return first;
  }

  std::int32_t free_at(Ports any) const { return free_[first_free(any)]; }

  const CoreTable& core_;
  const bool fetches_;
  const std::int32_t window_, lead_;
  std::int32_t ready_[registers];
  std::int32_t free_[units];
  Stored stores_[recent_stores];
  std::uint64_t followed_ = 0;              ///< registers of their places
  std::int32_t earliest_ = 0;               ///< when this instruction may start
  std::int32_t front_ = 0;                  ///< when the last instruction ended
  std::uint64_t loaded_, chained_, added_;  ///< as in CoreState
  std::uint8_t fetched_;                    ///< as CoreState::fetched
  bool fetch_joins_;                        ///< as CoreState::fetch_joins
  bool stack_moved_;                        ///< as CoreState::stack_moved
  Register copied_ = no_register;           ///< the result of the last instruction, if that is a move between registers
  CoreTimes spent_;
  std::uint32_t aliases_ = 0;
  ReorderBuffer* const buffer_;
  std::int32_t done_ = 0;  ///< when the result of the last instruction was ready
  bool is_fused_ = false;  ///< the next instruction is one operation with the last
};

}  // namespace tally::models
