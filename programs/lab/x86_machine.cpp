// The run loop: the work before and after each instruction.
#include "programs/lab/x86_machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "programs/lab/layout.hpp"
#include "tally/core/base/text.hpp"
#include "tally/linux/process/noted_signal.hpp"

namespace tally::lab {
namespace {

using pmu::emulated::Happening;
using pmu::emulated::Sent;
using pmu::emulated::Signal;

constexpr std::uint64_t calm_enough = 64;  // instructions without an event before whole blocks are tried

std::string_view fate(Sent sent) {
  switch (sent) {
    case Sent::pending: return "on its way";
    case Sent::masked: return "lost: LVT_PERFMON is masked (bit 16)";
    case Sent::illegal_vector: return "not delivered: vectors 0 to 15 are illegal, the APIC sets ESR bit 6";
    case Sent::wrong_mode: return "not delivered: the mode of LVT_PERFMON is not Fixed, NMI or SMI";
  }
  return "";
}

Entry::Kind kind_of(Happening::Kind kind) {
  switch (kind) {
    case Happening::Kind::overflow: return Entry::Kind::overflow;
    case Happening::Kind::pmi: return Entry::Kind::pmi;
    case Happening::Kind::record: return Entry::Kind::record;
    case Happening::Kind::frozen: break;
  }
  return Entry::Kind::frozen;
}

}  // namespace

std::vector<int> counter_numbers(const pmu::emulated::Profile& profile) {
  std::vector<int> numbers;
  for (int i = 0; i < profile.counters; ++i) numbers.push_back(i);
  for (int i = 0; i < 4; ++i) {
    if (profile.version >= 2 && profile.has_fixed(i)) numbers.push_back(32 + i);
  }
  return numbers;
}

LabX86::LabX86(const Image& image, const Settings& settings, Listener listener)
    : image_(image),
      code_end_(image.text_end != 0 ? image.text_end : image.end()),
      settings_(settings),
      listener_(std::move(listener)),
      pmu_(*settings.profile, settings.behaviour),
      tags_(settings.cache_bytes) {
  code_bytes_.assign(memory_size(), false);
  code_bits_ = image_.bits;
  pmu_.listen([this](const Happening& what) {
    Entry happened = entry(kind_of(what.kind));
    happened.record = what.record;
    if (what.kind == Happening::Kind::overflow) happened.text = pmu::emulated::counter_name(what.counter);
    if (what.kind == Happening::Kind::pmi) {
      happened.text = fate(what.sent);
      happened.value = what.sent == Sent::pending ? 1 : 0;
    }
    note(happened);
  });
}

LabX86::~LabX86() {
  if (context_) uc_context_free(context_);
  if (kernel_) uc_context_free(kernel_);
  if (system_) uc_context_free(system_);
  if (fast_) uc_close(fast_);
  if (uc_) uc_close(uc_);
}

Result<std::unique_ptr<LabX86>> LabX86::make(const Image& image, const Settings& settings, Listener listener) {
  std::unique_ptr<LabX86> machine(new LabX86(image, settings, std::move(listener)));
  const auto started = machine->start();
  if (!started) return fail(started.error());
  return machine;
}

std::uint64_t LabX86::get(int reg) const {
  std::uint64_t value = 0;
  uc_reg_read(uc_, named(reg), &value);
  return value;
}

void LabX86::set(int reg, std::uint64_t value) { uc_reg_write(uc_, named(reg), &value); }

// The emulator supports the wide register names in 64-bit mode only.
int LabX86::named(int reg) const {
  if (image_.bits == 64) return reg;
  switch (reg) {
    case UC_X86_REG_RAX: return UC_X86_REG_EAX;
    case UC_X86_REG_RBX: return UC_X86_REG_EBX;
    case UC_X86_REG_RCX: return UC_X86_REG_ECX;
    case UC_X86_REG_RDX: return UC_X86_REG_EDX;
    case UC_X86_REG_RSI: return UC_X86_REG_ESI;
    case UC_X86_REG_RDI: return UC_X86_REG_EDI;
    case UC_X86_REG_RBP: return UC_X86_REG_EBP;
    case UC_X86_REG_RSP: return UC_X86_REG_ESP;
    case UC_X86_REG_RIP: return UC_X86_REG_EIP;
    case UC_X86_REG_RFLAGS: return UC_X86_REG_EFLAGS;
    default: return reg;
  }
}

std::uint64_t LabX86::peek(std::uint64_t address, int size) const {
  std::uint64_t value = 0;
  uc_mem_read(uc_, physical(address).value_or(address), &value, static_cast<std::size_t>(size));
  return value;
}

void LabX86::poke(std::uint64_t address, std::uint64_t value, int size) {
  const std::uint64_t place = physical(address).value_or(address);
  uc_mem_write(uc_, place, &value, static_cast<std::size_t>(size));
  written(place, static_cast<std::uint64_t>(size));
}

bool LabX86::interrupts_enabled() const { return (get(UC_X86_REG_RFLAGS) & interrupt_flag) != 0; }

Entry LabX86::entry(Entry::Kind kind) const {
  Entry entry;
  entry.kind = kind;
  entry.address = at_;
  entry.instruction = instructions_;
  entry.cpl = cpl_;
  return entry;
}

std::string LabX86::instruction_text(std::uint64_t address) const {
  std::array<std::uint8_t, 15> bytes{};
  uc_mem_read(uc_, physical(address).value_or(address), bytes.data(), bytes.size());
  return text_of(bytes, address, code_bits_);
}

std::vector<std::pair<std::string, std::uint64_t>> LabX86::registers() const {
  struct Name {
    const char* name;
    int wide;
    int narrow;
  };
  static constexpr Name names[] = {{"AX", UC_X86_REG_RAX, UC_X86_REG_EAX}, {"BX", UC_X86_REG_RBX, UC_X86_REG_EBX},
                                   {"CX", UC_X86_REG_RCX, UC_X86_REG_ECX}, {"DX", UC_X86_REG_RDX, UC_X86_REG_EDX},
                                   {"SI", UC_X86_REG_RSI, UC_X86_REG_ESI}, {"DI", UC_X86_REG_RDI, UC_X86_REG_EDI},
                                   {"BP", UC_X86_REG_RBP, UC_X86_REG_EBP}, {"SP", UC_X86_REG_RSP, UC_X86_REG_ESP}};
  const bool wide = image_.bits == 64;
  std::vector<std::pair<std::string, std::uint64_t>> all;
  for (const Name& one : names)
    all.emplace_back((wide ? "R" : "E") + std::string(one.name), get(wide ? one.wide : one.narrow));
  for (int i = 8; wide && i < 16; ++i) all.emplace_back(fmt::format("R{}", i), get(UC_X86_REG_R8 + i - 8));
  all.emplace_back(wide ? "RIP" : "EIP", at_);
  all.emplace_back(wide ? "RFLAGS" : "EFLAGS", get(UC_X86_REG_RFLAGS));
  return all;
}

void LabX86::end(End::Reason reason, std::uint64_t address, std::string message, std::string hint) {
  if (!end_) end_ = End{reason, address, 0, std::move(message), std::move(hint)};
  uc_emu_stop(uc_);
}

// In its 16-bit mode the emulator subtracts the base of CS from the address at which it starts.
std::uint64_t LabX86::start_base() const { return image_.bits == 16 ? (get(UC_X86_REG_CS) & 0xFFFF) << 4 : 0; }

End LabX86::run() {
  end_.reset();
  while (!end_) {
    restarts_ = had_round_ = false;
    const uc_err error = uc_emu_start(uc_, get(UC_X86_REG_RIP) + start_base(), 0, 0, 0);
    if (end_) break;
    if (repages_) {
      repages_ = false;
      repage();
    } else if (goes_fast_) {
      goes_fast_ = false;
      run_fast();
    } else if (forgets_ && !aliases_.empty()) {
      forget_code();
    } else if (error == UC_ERR_OK && !restarts_ && !fault_ && !arrival_) {
      // A stop without a request: the emulator does not support the instruction, in a state that came from the other
      // emulator. Unicorn 2.0.1 calls no hook in this case.
      note_invalid();
    }
    if (fault_) {
      const Arrival met = *fault_;
      fault_.reset();
      arrive(met);
    }
    if (arrival_) {
      const Arrival arrival = *arrival_;
      arrival_.reset();
      enter(arrival);
    } else if (error != UC_ERR_OK && !end_) {
      end(End::Reason::fault, at_,
          fmt::format("the emulator stopped at {}: {}", image_.place(at_), uc_strerror(error)));
    }
  }
  flush_output();
  return *end_;
}

void LabX86::on_code(uc_engine*, std::uint64_t address, std::uint32_t, void* machine) {
  machine_of(machine).before(address);
}

// The lab's own instructions are not counted.
bool LabX86::in_rom(std::uint64_t address) {
  if (address < layout::rom || address >= layout::rom_end) return false;
  if (address == layout::leave) {
    finish();
    store_record(address);
    end(End::Reason::returned, at_, "the program returned");
  }
  return true;
}

// Whether the program left its code at the end: without a branch, or to memory that is 0. It may jump to code that it
// wrote there, or to the helpers of lab.inc, which may follow.
bool LabX86::is_past_end(std::uint64_t address, bool falls_through) const {
  return (falls_through && address == code_end_) || (is_after_code(address) && peek(address, 2) == 0);
}

// Called before each instruction: retires the previous one, delivers interrupts, and executes some instructions itself.
void LabX86::before(std::uint64_t address) {
  if (!end_ && linux::noted_signal() != 0) end_ = stopped_by_signal(address);
  if (end_ || arrival_) {
    uc_emu_stop(uc_);
    return;
  }
  if (in_rom(address)) return;
  if (is_entering_) {
    is_entering_ = false;
    note_segment();
    uc_context_save(uc_, system_);
  }
  const bool is_same = is_begun_again(address);
  // An iteration of a repeated instruction completes first, because it may have been restarted.
  if (restarts_ && (!is_same || had_round_)) {
    uc_emu_stop(uc_);
    return;
  }
  if (is_same) {
    had_round_ = restarts_ && running_->repeats;
    return;
  }
  const bool falls_through = running_ && !running_->is_branch && running_->address + running_->length == address;
  const bool was_system = running_ && running_->kind != Kind::plain && running_->kind != Kind::port;
  finish();
  store_record(address);
  if (was_system) uc_context_save(uc_, system_);
  // The written memory may be code at another address too, and the emulator invalidates translations at one address
  // only.
  if (repages_ || (forgets_ && !aliases_.empty())) {
    at_ = address;
    uc_emu_stop(uc_);
    return;
  }
  if (timer_.is_running() && pmu_.time_stamp() >= timer_.deadline) ring_timer();
  if (interrupted(address)) return;
  at_ = address;
  if (is_past_end(address, falls_through)) {
    end(End::Reason::hole, address,
        fmt::format("the program ran past its last instruction ({})", image_.place(code_end_ - 1)),
        "end it with HLT or RET");
    return;
  }
  if (++calm_ > calm_enough && may_run_fast()) {
    goes_fast_ = true;
    calm_ = 0;
    uc_emu_stop(uc_);
    return;
  }
  recent_[instructions_ % recent_.size()] = address;
  if (instructions_ >= settings_.max_instructions) {
    end_ = limit_reached(address);
    uc_emu_stop(uc_);
    return;
  }
  entered_.reset();
  const Instruction instruction = decoded(address);  // a copy, because the code below may change the original
  check_surroundings(instruction);
  tags_.clear_counts();
  loaded_ = stored_ = 0;
  if (instruction.is_call) stack_before_ = get(UC_X86_REG_RSP);
  if (instruction.repeats) count_before_ = get(UC_X86_REG_RCX);
  if (instruction.kind == Kind::plain || instruction.kind == Kind::port) {
    running_ = instruction;
  } else {
    calm_ = 0;
    intercept(instruction);
  }
}

// The emulator reports each iteration of REP, which is one instruction. It also restarts an instruction that writes
// into its own block; of those that write, only a call can lead to itself.
bool LabX86::is_begun_again(std::uint64_t address) const {
  if (!running_ || running_->address != address) return false;
  if (running_->repeats) return true;
  return running_->stores != 0 && (!running_->is_call || get(UC_X86_REG_RSP) == stack_before_);
}

void LabX86::check_surroundings(const Instruction& instruction) {
  const auto& stops = settings_.breakpoints;
  if (std::find(stops.begin(), stops.end(), instruction.address) != stops.end()) note(entry(Entry::Kind::breakpoint));
  if (!settings_.steps) return;
  Entry step = entry(Entry::Kind::step);
  step.text = instruction_text(instruction.address);
  if (settings_.step_registers) {
    const auto now = registers();
    for (std::size_t i = 0; i < now.size() && i < last_registers_.size(); ++i) {
      const bool is_pointer = now[i].first.ends_with("IP");
      if (now[i].second != last_registers_[i].second && !is_pointer) step.changed.push_back(now[i]);
    }
    last_registers_ = now;
  }
  for (const int number : counter_numbers(pmu_.profile())) {
    if (pmu_.is_counting(number, cpl_) || pmu_.counter(number) != 0) {
      step.counters.emplace_back(pmu::emulated::counter_name(number), pmu_.counter(number));
    }
  }
  note(step);
}

// Retires the instruction that the emulator executed.
void LabX86::finish() {
  if (!running_) return;
  const Instruction done = *running_;
  running_.reset();
  pmu::emulated::Work work = work_of(done);
  if (done.repeats) {
    const std::uint64_t elements = done.elements(count_before_, get(UC_X86_REG_RCX));
    work[Signal::loads] *= elements;
    work[Signal::stores] *= elements;
  }
  // The target of a branch can be the next instruction, so the next address does not show whether it was taken.
  const bool taken = done.is_conditional ? done.was_taken(get(UC_X86_REG_RFLAGS), get(UC_X86_REG_RCX)) : done.is_branch;
  if (taken) work[Signal::taken_branches] = 1;
  if (done.is_conditional && pmu_.counts(Signal::mispredicts, cpl_)) {
    // Two bits for each branch, as in the declared model: 2 and 3 predict taken.
    std::uint8_t& state = directions_[done.address];
    if ((state >= 2) != taken) work[Signal::mispredicts] = 1;
    if (taken && state < 3) ++state;
    if (!taken && state > 0) --state;
  }
  work[Signal::llc_references] = tags_.references();
  work[Signal::llc_misses] = tags_.misses();
  const int level = cpl_;
  if (done.kind == Kind::interrupt_return || done.kind == Kind::far) note_segment();
  is_shadowed_ = done.kind == Kind::enable;
  repages_ = done.kind == Kind::paging;
  pmu_.retire(work, level);
  ++instructions_;
  if (done.kind != Kind::interrupt_return) return;
  if (cpl_ > level) pmu_.count_return();
  note(entry(Entry::Kind::leave));
}

// Several instructions retire per cycle, in order; each multiplication waits for the previous one. So a loop takes the
// longer of its instructions and its chain of products.
pmu::emulated::Work LabX86::work_of(const Instruction& instruction) {
  pmu::emulated::Work work = instruction.work();
  if (settings_.width == 1) return work;
  const auto width = static_cast<std::uint64_t>(settings_.width);
  const std::uint64_t before = retired_ / width;
  ++issued_;
  std::uint64_t done = issued_;
  if (instruction.cycles > 1) {
    done = std::max(issued_, product_ready_) + instruction.cycles * width;
    product_ready_ = done;
  }
  retired_ = std::max(retired_ + 1, done);
  work[Signal::core_cycles] = retired_ / width - before;
  work.ends_cycle = retired_ % width == 0;
  return work;
}

// Delivers an interrupt before the instruction at `address`. Returns whether there was one.
bool LabX86::interrupted(std::uint64_t address) {
  if (pmu_.apic().is_idle()) return false;
  if (is_shadowed_) {
    is_shadowed_ = false;
    return false;
  }
  const auto interrupt = pmu_.take_pmi(interrupts_enabled());
  if (!interrupt) return false;
  if (interrupt->delivery == pmu::emulated::Delivery::smi) {
    end(End::Reason::fault, address, "an SMI was delivered, but the lab has no system management mode",
        "choose Fixed or NMI in LVT_PERFMON");
    return true;
  }
  Arrival arrival{interrupt->vector, std::nullopt, address,
                  interrupt->delivery == pmu::emulated::Delivery::nmi ? "an NMI"
                  : interrupt->is_perfmon                             ? "an interrupt of the performance counters"
                                                                      : "an interrupt of the APIC's timer"};
  arrival.is_perfmon = interrupt->is_perfmon;
  arrive(arrival);
  return true;
}

}  // namespace tally::lab
