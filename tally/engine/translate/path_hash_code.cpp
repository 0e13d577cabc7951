#include "tally/engine/translate/path_hash_code.hpp"

#include "tally/engine/translate/execution_counts.hpp"

namespace tally::engine::translate {
namespace {

/// Emits lea reg, [reg + reg * 8 + step].
void emit_step(Emitter& e, u8 reg, s32 step) {
  constexpr u8 by_sib_and_dword = 0x84, times_eight = 0xc0;
  e.byte(static_cast<u8>(0x48 | (reg >> 3) << 2 | (reg >> 3) << 1 | reg >> 3));
  e.byte(0x8d);
  e.byte(static_cast<u8>(by_sib_and_dword | (reg & 7) << 3));
  e.byte(static_cast<u8>(times_eight | (reg & 7) << 3 | (reg & 7)));
  e.dword(static_cast<u32>(step));
}

void emit_update(Builder& b, s32 step, bool keeps_previous) {
  Emitter& e = b.e;
  e.store(rcx, o_spill1);
  e.load(rcx, o_path);
  if (keeps_previous) e.store(rcx, o_path_before);
  emit_step(e, rcx, step);
  e.store(rcx, o_path);
  e.load(rcx, o_spill1);
}

}  // namespace

bool is_on_path(Kind kind) {
  return is_branch(kind) || kind == Kind::ret || kind == Kind::jump_indirect || kind == Kind::call_indirect;
}

void emit_path_branch(Builder& b, const Instruction& branch) {
  emit_update(b, channel::path_step(branch.pc, branch.bytes, branch.length, false), true);
}

void emit_path_not_taken(Builder& b, s32 step) { emit_update(b, step, false); }

s32 path_step_not_taken(const Instruction& branch) {
  return channel::path_step(branch.pc, branch.bytes, branch.length, true);
}

void remove_path_branch(Thread* t, const InstructionMapping& place) {
  if (hashes_paths() && is_on_path(place.kind)) t->path.now = t->path.before;
}

}  // namespace tally::engine::translate
