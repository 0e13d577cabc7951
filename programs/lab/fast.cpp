// Runs blocks at full speed. A second emulator on the same memory runs them with one hook per block, as long as no
// event can occur in them: no instruction that the lab executes, no overflow. Then the first emulator continues
// instruction by instruction, so that every overflow has its exact address.
//
// This relies on two properties of Unicorn 2.0.1: a stop inside the block hook prevents the block from running, and a
// context that one emulator saved can be restored in another. If a block ends in another way (a fault, a store into
// code), neither RIP nor the hooks show the instruction: the run returns to its checkpoint, and the block runs in the
// first emulator.
#include <algorithm>

#include "programs/lab/layout.hpp"
#include "programs/lab/x86_machine.hpp"
#include "tally/linux/process/noted_signal.hpp"

namespace tally::lab {
namespace {

using pmu::emulated::Signal;
using pmu::emulated::Work;

// A switch to blocks and back costs as much as some hundred instructions.
constexpr std::uint64_t worth_it = 256;
constexpr std::uint32_t never = ~0U;

// Returns the most that one instruction counts: three cycles, two accesses.
Work most_of_one() {
  Work most;
  for (auto& times : most.times) times = 2;
  most[Signal::instructions] = 1;
  most[Signal::branches] = 1;
  most[Signal::core_cycles] = 3;
  return most;
}

void add(Work& sum, const Work& part, std::uint64_t times) {
  for (std::size_t i = 0; i < sum.times.size(); ++i) sum.times[i] += part.times[i] * times;
}

}  // namespace

bool LabX86::may_run_fast() const {
  if (!settings_.blocks || settings_.steps || settings_.width > 1 || code_bits_ == 16 || code_base_ != 0 ||
      is_shadowed_ || arrival_)
    return false;
  if (!pmu_.apic().is_idle() || instructions_ < single_until_) return false;
  // Events that depend on more than the instructions themselves.
  for (const Signal signal :
       {Signal::llc_references, Signal::llc_misses, Signal::mispredicts, Signal::taken_branches}) {
    if (pmu_.counts(signal, cpl_)) return false;
  }
  return budget() >= worth_it;
}

// Returns the number of instructions that can run before an event is possible.
std::uint64_t LabX86::budget() const {
  // A short time, so that signals are noticed soon; and below the mark of a block that never runs.
  constexpr std::uint64_t at_once = 1U << 24;
  // The last instructions before the limit are reported, so they run one by one.
  const std::uint64_t reported = instructions_ + recent_.size();
  const std::uint64_t to_limit = settings_.max_instructions > reported ? settings_.max_instructions - reported : 0;
  std::uint64_t left = std::min({pmu_.room(most_of_one(), cpl_), to_limit, at_once});
  if (timer_.is_running()) {
    const std::uint64_t ticks = timer_.deadline > pmu_.time_stamp() ? timer_.deadline - pmu_.time_stamp() : 0;
    const auto& clock = pmu_.behaviour().clock;
    // Each takes at most three cycles, plus a reference cycle for rounding.
    left = std::min(left, ticks / (3 * clock.base / clock.current + 2));
  }
  return left;
}

Result<bool> LabX86::start_fast() {
  const uc_mode mode = image_.bits == 64 ? UC_MODE_64 : UC_MODE_32;
  if (uc_open(UC_ARCH_X86, mode, &fast_) != UC_ERR_OK || uc_context_alloc(uc_, &context_) != UC_ERR_OK) {
    return fail(Code::cannot_measure, "cannot start the emulator a second time", "");
  }
  run_without_end(fast_);
  // The APIC's page is not mapped: the other emulator executes an instruction that accesses it.
  uc_mem_map_ptr(fast_, 0, memory_size(), UC_PROT_ALL, memory_);
  for (const Alias& alias : aliases_) uc_mem_map_ptr(fast_, alias.begin, alias.size, UC_PROT_ALL, alias.host.data());
  uc_hook hook;
  const auto hear = [&](int type, auto* function) {
    uc_hook_add(fast_, &hook, type, reinterpret_cast<void*>(function), this, 1, 0);
  };
  hear(UC_HOOK_BLOCK, on_block);
  hear(UC_HOOK_INTR, on_fast_interrupt);
  hear(UC_HOOK_INSN_INVALID, on_fast_invalid);
  hear(UC_HOOK_MEM_UNMAPPED, on_fast_hole);
  hear(UC_HOOK_MEM_WRITE, on_fast_write);
  return true;
}

// Runs from `at_` on as far as possible.
void LabX86::run_fast() {
  if (!fast_ && !start_fast()) {
    settings_.blocks = false;
    return;
  }
  uc_context_save(uc_, context_);
  uc_context_restore(fast_, context_);
  forget_code();
  if (fast_pages_changed_) forget_pages(fast_);
  fast_pages_changed_ = false;
  std::uint64_t at = at_;
  for (std::uint64_t room = budget(); room >= worth_it && linux::noted_signal() == 0; room = budget()) {
    checkpoint_.begin();
    const Leave how = run_blocks(at, room);
    if (how == Leave::astray) {
      at = go_back(at);
      break;
    }
    settle();
    uc_context_save(fast_, context_);
    at = leave_at_;
    if (how != Leave::may_go_on) break;
  }
  uc_context_restore(uc_, context_);
  uc_context_save(uc_, system_);
  set(UC_X86_REG_RIP, at);
  entered_.reset();
  ++switches_;
  calm_ = 0;
}

// Runs at most `budget` instructions. Unless a block does not complete, it ends before the block at leave_at_.
LabX86::Leave LabX86::run_blocks(std::uint64_t from, std::uint64_t budget) {
  granted_ = budget_ = budget;
  last_block_ = nullptr;
  is_astray_ = false;
  leave_ = Leave::astray;
  uc_emu_start(fast_, from, 0, 0, 0);
  if (is_astray_) leave_ = Leave::astray;
  if (leave_ == Leave::astray) go_astray();
  return leave_;
}

// Handles a fault, an unsupported instruction, a store into code, or an end without a hook. The instruction inside the
// block is unknown, and the rest of the block may have run.
void LabX86::go_astray() {
  if (is_astray_) return;
  is_astray_ = true;
  whole_ = granted_ - budget_ - (last_block_ ? last_block_->instructions : 0);
  budget_ = 0;
  uc_emu_stop(fast_);
}

// Returns to the start of the block that did not complete, so that it runs instruction by instruction: restores the
// checkpoint and repeats the blocks before it. Returns the address of the block.
std::uint64_t LabX86::go_back(std::uint64_t from) {
  const std::uint64_t whole = whole_;
  const std::uint64_t last = last_block_ ? last_block_->address : from;
  roll_back();
  if (whole == 0) return from;
  is_repeat_ = true;
  const Leave how = run_blocks(from, whole);
  is_repeat_ = false;
  if (how == Leave::at_block && leave_at_ == last && budget_ == 0) {
    settle();
    uc_context_save(fast_, context_);
    return last;
  }
  // It took another path: the emulator cannot run these blocks correctly.
  roll_back();
  single_until_ = instructions_ + whole;
  return from;
}

// Discards everything since the checkpoint.
void LabX86::roll_back() {
  for (Block* block : touched_) block->times = 0;
  touched_.clear();
  replaced_.clear();
  last_block_ = nullptr;
  checkpoint_.roll_back([this](std::uint64_t place, std::uint64_t size) { written(place, size); });
  uc_context_restore(fast_, context_);
  forget_code();
  // Also removes the flags that the emulator has set in page tables.
  if (is_paging()) forget_pages(fast_);
}

// Called before each block of the program. Rare cases are in other functions, so that no registers must be saved.
void LabX86::on_block(uc_engine*, std::uint64_t address, std::uint32_t size, void* machine) {
  LabX86& self = *static_cast<LabX86*>(machine);
  Block* const block = self.table_[address % table_size];
  if (block && block->address == address && block->size == size && block->times != 0 &&
      block->instructions <= self.budget_) [[likely]] {
    self.budget_ -= block->instructions;
    ++block->times;
    self.last_block_ = block;
    return;
  }
  self.begin_block(address, size);
}

// Handles a block that is new, runs for the first time since settle(), or exceeds the budget.
void LabX86::begin_block(std::uint64_t address, std::uint32_t size) {
  if (is_astray_) {
    uc_emu_stop(fast_);
    return;
  }
  Block* block = table_[address % table_size];
  if (!block || block->address != address || block->size != size) block = block_at(address, size);
  // Translating new code takes long, so signals are checked before the budget is used up.
  const bool is_stopped = !is_repeat_ && linux::noted_signal() != 0;
  if (block->instructions > budget_ || is_stopped) {
    // Branches and similar instructions use less of the budget than was assumed.
    const bool may_go_on = block->instructions != never && !is_repeat_ && !is_stopped && granted_ - budget_ >= worth_it;
    leave_ = may_go_on ? Leave::may_go_on : Leave::at_block;
    leave_at_ = address;
    uc_emu_stop(fast_);
    return;
  }
  budget_ -= block->instructions;
  if (block->times++ == 0) touched_.push_back(block);
  last_block_ = block;
}

LabX86::Block* LabX86::block_at(std::uint64_t address, std::uint32_t size) {
  std::unique_ptr<Block>& slot = blocks_[address];
  if (!slot || slot->size != size) {
    // A block of another size may have run.
    if (slot) replaced_.push_back(std::move(slot));
    slot = std::make_unique<Block>();
    slot->address = address;
    slot->size = size;
    mark_code(address, size);
    for (std::uint64_t at = address; at < address + size;) {
      const Instruction& instruction = decoded(at);
      const auto& stops = settings_.breakpoints;
      const bool is_plain = instruction.kind == Kind::plain && !instruction.repeats &&
                            std::find(stops.begin(), stops.end(), at) == stops.end();
      const bool is_rom = at >= layout::rom && at < layout::rom_end;
      if (!is_plain || is_rom || instruction.length == 0 || is_after_code(at)) {
        slot->instructions = never;
        break;
      }
      ++slot->instructions;
      add(slot->work, instruction.work(), 1);
      at += instruction.length;
    }
  }
  table_[address % table_size] = slot.get();
  return slot.get();
}

// Passes the counts of the blocks to the PMU.
void LabX86::settle() {
  Work sum;
  for (Block* block : touched_) {
    add(sum, block->work, block->times);
    block->times = 0;
  }
  touched_.clear();
  replaced_.clear();
  if (sum[Signal::instructions] == 0) return;
  pmu_.advance(sum, cpl_);
  instructions_ += sum[Signal::instructions];
}

void LabX86::on_fast_interrupt(uc_engine*, std::uint32_t, void* machine) { static_cast<LabX86*>(machine)->go_astray(); }

bool LabX86::on_fast_invalid(uc_engine*, void* machine) {
  static_cast<LabX86*>(machine)->go_astray();
  return true;
}

bool LabX86::on_fast_hole(uc_engine*, uc_mem_type, std::uint64_t address, int, std::int64_t, void* machine) {
  LabX86& self = *static_cast<LabX86*>(machine);
  if (self.reveal(address)) return true;
  self.go_astray();
  return false;
}

// Called before each store.
void LabX86::on_fast_write(uc_engine*, uc_mem_type, std::uint64_t address, int size, std::int64_t, void* machine) {
  LabX86& self = *static_cast<LabX86*>(machine);
  const auto place = self.memory_place(address);
  if (!place) return;
  const auto bytes = static_cast<std::uint64_t>(size);
  self.checkpoint_.before_write(*place, bytes);
  if (self.is_code(*place, bytes)) {
    self.written(*place, bytes);
    self.go_astray();
  } else if (self.checkpoint_.is_full() && !self.is_repeat_) {
    // The next block begins a new checkpoint.
    self.granted_ -= self.budget_;
    self.budget_ = 0;
  }
}

}  // namespace tally::lab
