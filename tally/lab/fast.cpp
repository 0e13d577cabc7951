// Blocks at full speed. A second engine on the same memory runs them with one hook a block, while nothing can happen in
// them that must be seen: no instruction of the lab's, no overflow. Where that ends the first engine goes on,
// instruction by instruction, so that every overflow has its exact place.
//
// What Unicorn 2.0.1 does, and this rests on: a stop inside the block hook keeps the block from running; a context that
// one engine saved restores in another one; a fault of memory stops at its instruction, but RIP is the block's.
#include <algorithm>

#include "tally/lab/layout.hpp"
#include "tally/lab/machine.hpp"

namespace tally::lab {
namespace {

using pmu::emulated::Signal;
using pmu::emulated::Work;

// A switch there and back costs what some hundred instructions do.
constexpr std::uint64_t worth_it = 256;
constexpr std::uint32_t never = ~0U;
constexpr std::uint64_t nowhere = ~0ULL;

// The most that one instruction counts: three cycles, two accesses.
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

bool Machine::may_run_fast() const {
  if (!settings_.blocks || settings_.steps || settings_.width > 1 || image_.bits == 16 || is_shadowed_ || arrival_)
    return false;
  if (!pmu_.apic().is_idle()) return false;
  // What depends on more than the instructions themselves.
  for (const Signal signal :
       {Signal::llc_references, Signal::llc_misses, Signal::mispredicts, Signal::taken_branches}) {
    if (pmu_.counts(signal, cpl_)) return false;
  }
  return budget() >= worth_it;
}

// Instructions until something may happen.
std::uint64_t Machine::budget() const {
  // Below what marks a block that is never run.
  constexpr std::uint64_t at_once = 1U << 30;
  std::uint64_t left = std::min({pmu_.room(most_of_one(), cpl_), settings_.max_instructions - instructions_, at_once});
  if (timer_.is_running()) {
    const std::uint64_t ticks = timer_.deadline > pmu_.time_stamp() ? timer_.deadline - pmu_.time_stamp() : 0;
    const auto& clock = pmu_.behaviour().clock;
    // Each takes at most three cycles, and a reference cycle more for the rounding.
    left = std::min(left, ticks / (3 * clock.base / clock.current + 2));
  }
  return left;
}

Result<bool> Machine::start_fast() {
  const uc_mode mode = image_.bits == 64 ? UC_MODE_64 : UC_MODE_32;
  if (uc_open(UC_ARCH_X86, mode, &fast_) != UC_ERR_OK || uc_context_alloc(uc_, &context_) != UC_ERR_OK) {
    return fail(Code::cannot_measure, "the emulator does not start a second time", "");
  }
  // The APIC's page is not there: an instruction that touches it is left to the other engine.
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

// From `at_` on, as far as it goes.
void Machine::run_fast() {
  if (!fast_ && !start_fast()) {
    settings_.blocks = false;
    return;
  }
  uc_context_save(uc_, context_);
  uc_context_restore(fast_, context_);
  budget_ = budget();
  last_block_ = nullptr;
  leave_at_ = at_;
  uc_emu_start(fast_, at_, ~0ULL, 0, 0);
  settle();
  uc_context_save(fast_, context_);
  uc_context_restore(uc_, context_);
  if (leave_at_ != nowhere) set(UC_X86_REG_RIP, leave_at_);
  ++switches_;
  calm_ = 0;
}

// This runs before each block of the program: what is not the usual case is elsewhere, so that no register is saved.
void Machine::on_block(uc_engine*, std::uint64_t address, std::uint32_t size, void* machine) {
  Machine& self = *static_cast<Machine*>(machine);
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

// A block that is new, or the first time since settle(), or more than may run before something happens.
void Machine::begin_block(std::uint64_t address, std::uint32_t size) {
  Block* block = table_[address % table_size];
  if (!block || block->address != address || block->size != size) block = block_at(address, size);
  if (block->instructions > budget_ && !renewed(*block)) {
    leave_at_ = address;
    uc_emu_stop(fast_);
    return;
  }
  budget_ -= block->instructions;
  if (block->times++ == 0) touched_.push_back(block);
  last_block_ = block;
}

// Branches and the like leave more room than was thought: look again before leaving.
bool Machine::renewed(const Block& block) {
  if (block.instructions == never) return false;
  settle();
  budget_ = budget();
  return budget_ >= block.instructions;
}

Machine::Block* Machine::block_at(std::uint64_t address, std::uint32_t size) {
  std::unique_ptr<Block>& slot = blocks_[address];
  if (!slot || slot->size != size) {
    // A block of another size may be accounted for already.
    if (slot) settle();
    slot = std::make_unique<Block>();
    slot->address = address;
    slot->size = size;
    for (std::uint64_t at = address; at < address + size;) {
      const Instruction& instruction = decoded(at);
      const auto& stops = settings_.breakpoints;
      const bool is_plain = instruction.kind == Kind::plain && !instruction.repeats &&
                            std::find(stops.begin(), stops.end(), at) == stops.end();
      const bool is_rom = at >= layout::rom && at < layout::rom_end;
      if (!is_plain || is_rom || instruction.length == 0) {
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

// Tells the PMU what the blocks did.
void Machine::settle() {
  Work sum = left_over_;
  left_over_ = {};
  for (Block* block : touched_) {
    add(sum, block->work, block->times);
    block->times = 0;
  }
  touched_.clear();
  if (sum[Signal::instructions] == 0) return;
  pmu_.advance(sum, cpl_);
  instructions_ += sum[Signal::instructions];
}

// The last block ran up to `address`, and not further.
void Machine::leave_inside(std::uint64_t address) {
  leave_at_ = address;
  if (!last_block_ || address < last_block_->address || address >= last_block_->address + last_block_->size) return;
  --last_block_->times;
  for (std::uint64_t at = last_block_->address; at < address;) {
    const Instruction& instruction = decoded(at);
    add(left_over_, instruction.work(), 1);
    at += instruction.length;
  }
}

void Machine::on_fast_interrupt(uc_engine* uc, std::uint32_t, void* machine) {
  Machine& self = *static_cast<Machine*>(machine);
  std::uint64_t address = 0;
  uc_reg_read(uc, self.named(UC_X86_REG_RIP), &address);
  self.leave_inside(address);
  uc_emu_stop(uc);
}

bool Machine::on_fast_invalid(uc_engine* uc, void* machine) {
  on_fast_interrupt(uc, 6, machine);
  return true;
}

// The instruction that touched `address`: the first of the block whose operand is there.
bool Machine::on_fast_hole(uc_engine* uc, uc_mem_type type, std::uint64_t address, int, std::int64_t, void* machine) {
  Machine& self = *static_cast<Machine*>(machine);
  if (self.reveal(address)) return true;
  if (type == UC_MEM_FETCH_UNMAPPED || !self.last_block_) {
    self.leave_at_ = address;
    return false;
  }
  for (std::uint64_t at = self.last_block_->address; at < self.last_block_->address + self.last_block_->size;) {
    const Instruction& instruction = self.decoded(at);
    if (self.touches(uc, instruction, address)) {
      self.leave_inside(at);
      return false;
    }
    at += instruction.length;
  }
  self.leave_inside(self.last_block_->address);
  return false;
}

bool Machine::touches(uc_engine* uc, const Instruction& instruction, std::uint64_t address) const {
  std::array<std::uint8_t, 15> bytes{};
  uc_mem_read(uc, physical(instruction.address).value_or(instruction.address), bytes.data(), bytes.size());
  for (const MemoryOperand& operand : memory_operands(bytes, instruction.address, code_bits_)) {
    std::uint64_t at = operand.offset;
    const auto add_register = [&](int number, std::uint64_t scale) {
      if (number < 0) return;
      std::uint64_t value = 0;
      uc_reg_read(uc, general_register(number, image_.bits), &value);
      at += value * scale;
    };
    add_register(operand.base, 1);
    add_register(operand.index, operand.scale);
    if (code_bits_ == 32) at &= 0xFFFF'FFFF;
    // PUSH and CALL write below the stack pointer that they find.
    const std::uint64_t below = operand.is_stack ? 16 : 0;
    if (address + below >= at && address < at + operand.size + below) return true;
  }
  return false;
}

void Machine::on_fast_write(uc_engine*, uc_mem_type, std::uint64_t address, int size, std::int64_t, void* machine) {
  static_cast<Machine*>(machine)->written(address, size);
}

// Memory that holds decoded instructions is written: they are forgotten, and the engines translate them anew.
void Machine::written(std::uint64_t address, int size) {
  bool is_code = false;
  for (int i = 0; i < size && address + static_cast<std::uint64_t>(i) < code_bytes_.size(); ++i) {
    is_code = is_code || code_bytes_[address + static_cast<std::uint64_t>(i)];
  }
  if (!is_code) return;
  forgotten_ = true;
  first_dirty_ = std::min(first_dirty_, address);
  last_dirty_ = std::max(last_dirty_, address);
  instructions_seen_.clear();
  code_bytes_.assign(code_bytes_.size(), false);
  // A run of blocks ends behind this one, and asks the engine where it stands.
  leave_at_ = nowhere;
  if (fast_) uc_emu_stop(fast_);
}

// Not while a block of theirs runs: at the next boundary.
void Machine::forget_code() {
  if (!forgotten_) return;
  forgotten_ = false;
  settle();
  last_block_ = nullptr;
  blocks_.clear();
  table_.fill(nullptr);
  constexpr std::uint64_t page = 4096;
  if (fast_) uc_ctl_remove_cache(fast_, first_dirty_ & ~(page - 1), (last_dirty_ | (page - 1)) + 1);
  first_dirty_ = ~0ULL;
  last_dirty_ = 0;
}

}  // namespace tally::lab
