#include "tally/engine/translate/unasked.hpp"

#include "tally/engine/translate/exec_regions.hpp"
#include "tally/engine/translate/process_maps.hpp"

namespace tally::engine::translate {
namespace {

using channel::UnaskedSite;

u32 text_bytes(const char* text, u32 limit) {
  u32 n = 0;
  while (n < limit && text[n] != 0) n++;
  return n;
}

/// Describes the instruction in `site`. Returns false for code of the kernel (the vdso), which does not ask.
bool describe(const Instruction& in, UnaskedSite& site) {
  site.feature = in.unasked;
  site.offset = in.pc;
  const char* const name = ZydisMnemonicGetString(Details(in).raw.mnemonic);
  copy(site.instruction, name, text_bytes(name, sizeof site.instruction - 1));
  lock_code();
  LARGE static KernelMappings mappings;
  mappings.each([&](const ListedMapping& m) {
    if (in.pc < m.start || in.pc >= m.end) return;
    copy(site.file, m.path, m.path_bytes < sizeof site.file ? m.path_bytes : sizeof site.file - 1);
    if (m.inode != 0) site.offset = m.offset + (in.pc - m.start);
  });
  unlock_code();
  return !is_equal(site.file, "[vdso]");
}

/// Returns where executions are counted; null if the table is full.
u64* counter_of(const UnaskedSite& described) {
  for (UnaskedSite& site : records().header().unasked) {
    u32 state = 0;
    if (__atomic_compare_exchange_n(&site.state, &state, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE)) {
      copy(&site.feature, &described.feature, sizeof site - offsetof(UnaskedSite, feature));
      __atomic_store_n(&site.state, 2, __ATOMIC_RELEASE);
      return &site.count;
    }
    const bool is_same = state == 2 && site.feature == described.feature && site.offset == described.offset &&
                         is_equal(site.file, described.file);
    if (is_same) return &site.count;
  }
  return nullptr;
}

/// Whether it uses registers that frames of signals would not keep.
bool needs_more_state(const Instruction& in) {
  constexpr u8 bmi1 = static_cast<u8>(channel::Feature::bmi1), bmi2 = static_cast<u8>(channel::Feature::bmi2);
  const u64 all_vectors = channel::state_avx | channel::state_avx512;
  return !in.legacy && in.unasked != bmi1 && in.unasked != bmi2 &&
         (settings().cpu.components & all_vectors) != all_vectors;
}

}  // namespace

void emit_unasked_count(Builder& b, const Instruction& in) {
  recorder.give_up();  // another run must find it, too
  UnaskedSite described{};
  if (!describe(in, described)) return;
  if (needs_more_state(in)) exceeds_presented_cpu = true;
  u64* const counter = counter_of(described);
  if (counter == nullptr) return;
  static const u8 count[] = {0xf0, 0x48, 0xff, 0x01};  // lock inc qword ptr [rcx]
  Emitter& e = b.e;
  e.store(rax, o_spill1);
  e.store(rcx, o_spill2);
  e.save_flags();
  e.move_constant(rcx, reinterpret_cast<u64>(counter));
  e.bytes(count, sizeof count);
  e.restore_flags();
  e.load(rcx, o_spill2);
  e.load(rax, o_spill1);
}

}  // namespace tally::engine::translate
