#include "tally/engine/guest/pmu_branches.hpp"

#include "tally/engine/instrument/countdowns.hpp"
#include "tally/engine/translate/decode.hpp"
#include "tally/engine/translate/exec_regions.hpp"

namespace tally::engine::guest {
namespace {

using translate::Kind;

/// What a kind of branch is: the filters that name it, and its type.
struct BranchKind {
  u64 filters;
  u32 type;
};
constexpr BranchKind no_branch{0, 0};

BranchKind kind_of(Kind kind) {
  constexpr u64 any = PERF_SAMPLE_BRANCH_ANY, any_call = PERF_SAMPLE_BRANCH_ANY_CALL;
  switch (kind) {
    case Kind::jcc:
    case Kind::loop: return {any | PERF_SAMPLE_BRANCH_COND, PERF_BR_COND};
    case Kind::jump: return {any, PERF_BR_UNCOND};
    case Kind::jump_indirect: return {any | PERF_SAMPLE_BRANCH_IND_JUMP, PERF_BR_IND};
    case Kind::call: return {any | any_call | PERF_SAMPLE_BRANCH_CALL, PERF_BR_CALL};
    case Kind::call_indirect: return {any | any_call | PERF_SAMPLE_BRANCH_IND_CALL, PERF_BR_IND_CALL};
    case Kind::ret: return {any | PERF_SAMPLE_BRANCH_ANY_RETURN, PERF_BR_RET};
    case Kind::far_return: return {any | PERF_SAMPLE_BRANCH_ANY_RETURN, PERF_BR_ERET};
    case Kind::step: return {any, PERF_BR_UNKNOWN};
    default: return no_branch;
  }
}

/// Whether the instruction went to `next` by a branch. A conditional one may lead to the next instruction.
bool is_taken(const translate::Instruction& in, u64 next) {
  return next != in.next() || (in.kind != Kind::jcc && in.kind != Kind::loop && in.kind != Kind::step);
}

}  // namespace

bool can_record_branches(u64 filter) {
  constexpr u64 of_kernel = PERF_SAMPLE_BRANCH_KERNEL | PERF_SAMPLE_BRANCH_HV;
  constexpr u64 unknown = PERF_SAMPLE_BRANCH_ABORT_TX | PERF_SAMPLE_BRANCH_IN_TX | PERF_SAMPLE_BRANCH_NO_TX |
                          PERF_SAMPLE_BRANCH_CALL_STACK | ~u64{PERF_SAMPLE_BRANCH_MAX - 1};
  return (filter & (of_kernel | unknown)) == 0;
}

u32 last_branches(const Thread* t, u64 filter, perf_branch_entry (&to)[branch_limit]) {
  const instrument::CountdownState& state = instrument::countdown_state(t);
  if (state.path == nullptr) return 0;
  const u64 oldest = state.path_end > instrument::path_limit ? state.path_end - instrument::path_limit : 0;
  u32 n = 0;
  u64 next = t->pc;
  for (u64 i = state.path_end; i > oldest && n < branch_limit; i--) {
    const u64 pc = state.path[(i - 1) % instrument::path_limit];
    if (pc & instrument::path_interrupted) {
      next = pc & ~instrument::path_interrupted;
      continue;
    }
    u8 bytes[16];
    translate::Instruction in;
    const u32 available = translate::read_code(pc, bytes, 15);
    if (available == 0 || !translate::decode(pc, bytes, available, in)) return n;
    const BranchKind kind = kind_of(in.kind);
    if ((kind.filters & filter) != 0 && is_taken(in, next)) {
      to[n] = {};
      to[n].from = pc;
      to[n].to = next;
      to[n++].type = (filter & PERF_SAMPLE_BRANCH_TYPE_SAVE) != 0 ? kind.type : 0;
    }
    next = pc;
  }
  return n;
}

}  // namespace tally::engine::guest
