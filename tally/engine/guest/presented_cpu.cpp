#include "tally/engine/guest/presented_cpu.hpp"

#include <elf.h>

#include "tally/engine/context.hpp"
#include "tally/engine/guest/frame_state.hpp"
#include "tally/engine/guest/guest_signals.hpp"
#include "tally/engine/guest/pmu_counters.hpp"
#include "tally/engine/instrument/extended_state.hpp"
#include "tally/engine/translate/code_cache.hpp"
#include "tally/engine/translate/entry.hpp"

namespace tally::engine::guest {
namespace {

void set_pair(Thread* t, u64 value) {
  t->gpr[rax] = static_cast<u32>(value);
  t->gpr[rdx] = value >> 32;
}

/// Executes xgetbv as the presented processor does. Returns false if it faults there.
bool read_extended_control(Thread* t) {
  constexpr u32 enabled = 0, in_use = 1;
  const channel::PresentedCpu& cpu = settings().cpu;
  const u32 which = static_cast<u32>(t->gpr[rcx]);
  if (which == enabled)
    set_pair(t, cpu.components);
  else if (which == in_use && cpu.features.has(channel::Feature::xgetbv1))
    set_pair(t, instrument::extended_control(in_use) & cpu.components);
  else
    return false;
  return true;
}

void identify(Thread* t) {
  const channel::CpuidAnswer answer =
      channel::answer_cpuid(settings().cpu, static_cast<u32>(t->gpr[rax]), static_cast<u32>(t->gpr[rcx]));
  t->gpr[rax] = answer.eax;
  t->gpr[rbx] = answer.ebx;
  t->gpr[rcx] = answer.ecx;
  t->gpr[rdx] = answer.edx;
}

}  // namespace

u64 presented_signal_stack_bytes() {
  constexpr u64 rest = 940, alignment = 16;
  return presents_cpu ? (presented_frame_bytes() + rest + alignment - 1) & ~(alignment - 1) : 0;
}

void presented_cpu_init(u64* auxiliary) {
  const channel::PresentedCpu& cpu = settings().cpu;
  presents_cpu = cpu.any();
  if (!presents_cpu) return;
  presented_features = cpu.features.with(channel::Feature::none);
  constexpr u64 may_write_bases = 2;  // HWCAP2_FSGSBASE
  for (u64* p = auxiliary; *p != AT_NULL; p += 2) {
    if (p[0] == AT_HWCAP) p[1] = channel::answer_cpuid(cpu, 1, 0).edx;
    if (p[0] == AT_MINSIGSTKSZ) p[1] = presented_signal_stack_bytes();
    if (p[0] == AT_HWCAP2) p[1] &= cpu.features.has(channel::Feature::fsgsbase) ? may_write_bases : 0;
  }
}

extern "C" void emulate(Thread* t) {
  constexpr u8 escape = 0x0f, cpuid_opcode = 0xa2, rdpmc_opcode = 0x33;
  u8 bytes[16] = {}, opcode = rdpmc_opcode, length = 2;
  const u32 n = read_code(t->pc, bytes, 15);
  // rdpmc is executed often, and needs no decoder.
  if (n < length || bytes[0] != escape || bytes[1] != rdpmc_opcode) {
    Instruction in;
    if (!decode(t->pc, bytes, n, in)) return dispatch(t);
    opcode = in.opcode;
    length = in.length;
  }
  bool is_executed = true;
  u64 counter = 0;
  if (opcode == cpuid_opcode) {
    identify(t);
  } else if (opcode != rdpmc_opcode) {
    is_executed = read_extended_control(t);
  } else {
    is_executed = read_pmu_counter(t, static_cast<u32>(t->gpr[rcx]), counter);
    if (is_executed) set_pair(t, counter);
  }
  if (!is_executed) {
    // It is executed at its own address, where most fault. It has not retired yet.
    channel::Totals delta;
    delta.field[channel::instructions] = -1;
    correct(t, t->pc, delta);
    t->pad |= pad_step;
    return;
  }
  t->pc += length;
  t->link = no_link;  // the code that led here may have been discarded
  dispatch(t);
}

}  // namespace tally::engine::guest
