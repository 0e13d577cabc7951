// Does the work of a boot loader: tables, segments, and a jump to the program in its mode.
#include <fmt/format.h>

#include <cstdlib>
#include <cstring>

#include "programs/lab/layout.hpp"
#include "programs/lab/x86_machine.hpp"
#include "programs/linux/memory_ranges.hpp"

namespace tally::lab {
namespace {

// Intel SDM vol. 3A, "Segment Descriptors", flat segments for both levels, and a TSS.
constexpr std::uint64_t code_64 = 0x00AF'9B00'0000'FFFF;
constexpr std::uint64_t code_32 = 0x00CF'9B00'0000'FFFF;
constexpr std::uint64_t data = 0x00CF'9300'0000'FFFF;
constexpr std::uint64_t for_users = 3ULL << 45;

std::uint64_t tss_descriptor() {
  return 0x0000'8900'0000'0067 | (layout::tss & 0xFF'FFFF) << 16 | (layout::tss >> 24) << 56;
}

}  // namespace

void LabX86::lay_out_tables() {
  if (image_.bits == 16) return;
  const std::uint64_t code = image_.bits == 64 ? code_64 : code_32;
  const std::uint64_t descriptors[] = {0, code, data, code | for_users, data | for_users, tss_descriptor(), 0, code_32};
  for (std::size_t i = 0; i < std::size(descriptors); ++i) poke(layout::gdt + 8 * i, descriptors[i], 8);
  uc_x86_mmr gdtr{0, layout::gdt, sizeof descriptors - 1, 0};
  uc_reg_write(uc_, UC_X86_REG_GDTR, &gdtr);
  const unsigned gate_size = image_.bits == 64 ? 16 : 8;
  uc_x86_mmr idtr{0, layout::idt, 256 * gate_size - 1, 0};
  uc_reg_write(uc_, UC_X86_REG_IDTR, &idtr);
  uc_x86_mmr tr{layout::tss_selector, layout::tss, 0x67, 0x8900};
  uc_reg_write(uc_, UC_X86_REG_TR, &tr);
  if (image_.bits == 64) {
    poke(layout::tss + 4, layout::interrupt_stack, 8);
  } else {
    poke(layout::tss + 4, layout::interrupt_stack, 4);
    poke(layout::tss + 8, layout::kernel_data, 4);
  }
}

// Sets up what a multiboot loader provides: memory sizes and a command line, their address in EBX, and a magic number
// in EAX. Writes the two moves at `at` and returns the address after them. Source: Multiboot specification 0.6.96,
// "Machine state".
std::uint64_t LabX86::lay_out_boot_information(std::uint64_t at) {
  constexpr std::uint64_t has_memory = 1, has_command_line = 4;
  constexpr std::uint64_t lower = 640, first_mebibyte = 1 << 20;
  poke(layout::boot_information, has_memory | has_command_line, 4);
  poke(layout::boot_information + 4, lower, 4);
  poke(layout::boot_information + 8, (memory_size() - first_mebibyte) / 1024, 4);
  poke(layout::boot_information + 16, layout::command_line, 4);
  const std::string name = image_.name.substr(image_.name.rfind('/') + 1).substr(0, 200);
  std::memcpy(memory_ + layout::command_line, name.c_str(), name.size() + 1);
  constexpr std::uint64_t magic = 0x2BAD'B002;
  memory_[at++] = 0xB8;  // MOV EAX
  poke(at, magic, 4);
  at += 4;
  memory_[at++] = 0xBB;  // MOV EBX
  poke(at, layout::boot_information, 4);
  return at + 4;
}

// Lets the lab end a run. With an end address the emulator probes its page when a run starts, which faults and leaves
// its traces in CR2 and in the next exception.
void LabX86::run_without_end(uc_engine* uc) { uc_ctl_exits_enable(uc); }

Result<bool> LabX86::start() {
  const uc_mode mode = image_.bits == 64 ? UC_MODE_64 : image_.bits == 32 ? UC_MODE_32 : UC_MODE_16;
  if (const uc_err error = uc_open(UC_ARCH_X86, mode, &uc_); error != UC_ERR_OK) {
    return fail(Code::cannot_measure, fmt::format("cannot start the emulator: {}", uc_strerror(error)), "");
  }
  run_without_end(uc_);
  // The memory is a file, so that its pages can also be mapped at other addresses; unused pages cost nothing.
  auto file = linux::make_memory_file("tally-lab", memory_size());
  if (!file) return fail(file.error());
  auto mapping = linux::map_ranges(file->get(), {{0, memory_size()}});
  if (!mapping) return fail(mapping.error());
  memory_file_ = *std::move(file);
  memory_mapping_ = *std::move(mapping);
  memory_ = memory_mapping_.data();
  checkpoint_.cover(memory_, memory_size());
  uc_mem_map_ptr(uc_, 0, memory_size(), UC_PROT_ALL, memory_);
  uc_mmio_map(uc_, layout::apic, layout::apic_size, on_apic_read, this, on_apic_write, this);
  for (const MemoryBlock& part : image_.memory_blocks) {
    if (image_.bits != 16 && part.address < layout::rom_end && !part.bytes.empty()) {
      return fail(Code::bad_usage,
                  fmt::format("'{}' loads at {:X}H, where the lab keeps its tables: below {:X}H", image_.name,
                              part.address, layout::rom_end),
                  "link it at 100000H, as by ld -Ttext=0x100000; programs of an operating system do not run here");
    }
    if (part.address > memory_size() || part.bytes.size() > memory_size() - part.address) {
      return fail(Code::bad_usage,
                  fmt::format("'{}' does not fit: {} bytes at {:X}H, and the machine has {} MiB", image_.name,
                              part.bytes.size(), part.address, memory_size() >> 20),
                  "");
    }
    std::memcpy(memory_ + part.address, part.bytes.data(), part.bytes.size());
  }
  uc_context_alloc(uc_, &kernel_);
  uc_context_alloc(uc_, &system_);
  lay_out_tables();
  add_hooks();
  const std::uint64_t stack = image_.bits == 16 ? 0x7000 : layout::stack;
  set(UC_X86_REG_RSP, stack);
  set(UC_X86_REG_RFLAGS, 2);
  if (image_.bits == 16) {
    poke(stack - 2, layout::leave, 2);
    set(UC_X86_REG_RSP, stack - 2);
    set(UC_X86_REG_RIP, image_.entry);
    return true;
  }
  // Segments are loaded by instructions, so that the emulator registers all of them: MOV DS, ES, SS; then a far return.
  const std::uint8_t load[] = {0x8E, 0xD8, 0x8E, 0xC0, 0x8E, 0xD0};
  std::memcpy(memory_ + layout::boot, load, sizeof load);
  std::uint64_t at = layout::boot + sizeof load;
  if (image_.is_multiboot) at = lay_out_boot_information(at);
  if (image_.bits == 64) memory_[at++] = 0x48;
  memory_[at++] = 0xCB;
  memory_[layout::interrupt_return] = 0xCF;
  const int word = word_bytes();
  poke(stack - static_cast<std::uint64_t>(word), layout::leave, word);
  poke(stack - 3 * static_cast<std::uint64_t>(word), image_.entry, word);
  poke(stack - 2 * static_cast<std::uint64_t>(word), image_.is_multiboot ? layout::narrow_code : layout::kernel_code,
       word);
  if (image_.is_multiboot) {
    code_bits_ = 32;
    // The emulator's 64-bit mode has enabled long mode already.
    uc_x86_msr efer{0xC000'0080, 0};
    uc_reg_write(uc_, UC_X86_REG_MSR, &efer);
  }
  set(UC_X86_REG_RSP, stack - 3 * static_cast<std::uint64_t>(word));
  set(UC_X86_REG_RAX, layout::kernel_data);
  set(UC_X86_REG_RIP, layout::boot);
  return true;
}

void LabX86::add_hooks() {
  uc_hook hook;
  const auto add = [&](int type, auto* function) {
    uc_hook_add(uc_, &hook, type, reinterpret_cast<void*>(function), this, 1, 0);
  };
  add(UC_HOOK_BLOCK, on_slow_block);
  add(UC_HOOK_CODE, on_code);
  add(UC_HOOK_INTR, on_interrupt);
  add(UC_HOOK_INSN_INVALID, on_invalid);
  add(UC_HOOK_MEM_UNMAPPED, on_hole);
  add(UC_HOOK_MEM_READ | UC_HOOK_MEM_WRITE, on_access);
  uc_hook_add(uc_, &hook, UC_HOOK_INSN, reinterpret_cast<void*>(on_in), this, 1, 0, UC_X86_INS_IN);
  uc_hook_add(uc_, &hook, UC_HOOK_INSN, reinterpret_cast<void*>(on_out), this, 1, 0, UC_X86_INS_OUT);
}

}  // namespace tally::lab
