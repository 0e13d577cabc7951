#include "tally/engine/instrument/chased_loads.hpp"

#include "tally/engine/instrument/core_code.hpp"
#include "tally/engine/translate/code_reading.hpp"

namespace tally::engine::instrument {
namespace {

using models::CoreInstruction;

constexpr u32 path_limit = 8, instruction_limit = 96;

/// A bit for each general register in a list. Flags end in branches, which are predicted.
template <u32 n>
u32 general_in(const models::Register (&list)[n]) {
  u32 bits = 0;
  for (const models::Register r : list)
    if (r >= models::first_general && r < models::flags_register) bits |= 1u << r;
  return bits;
}

struct Path {
  u64 pc;
  u32 results;  // registers that follow from the load
};

}  // namespace

bool is_chased(const Instruction& in) {
  const CoreInstruction load = core_code(in);
  const u32 address = general_in(load.address);
  if (address == 0) return false;
  Path paths[path_limit] = {{in.next(), general_in(load.results)}};
  u32 left = instruction_limit;
  translate::Code bytes;
  for (u32 count = 1; count > 0;) {
    Path path = paths[--count];
    while (path.results != 0) {
      if (path.pc == in.pc) {
        if ((path.results & address) != 0) return true;
        break;
      }
      Instruction next;
      bool readable = false;
      if (left-- == 0 || !translate::read_instruction(bytes, path.pc, next, readable)) return false;
      const CoreInstruction code = core_code(next);
      const bool follows = ((general_in(code.sources) | general_in(code.address)) & path.results) != 0;
      path.results &= ~general_in(code.results);
      if (follows) path.results |= general_in(code.results);
      const bool forks = next.kind == Kind::jcc || next.kind == Kind::loop;
      if (forks && count < path_limit) paths[count++] = {next.target(), path.results};
      if (!forks && next.kind != Kind::plain && next.kind != Kind::jump) break;
      path.pc = next.kind == Kind::jump ? next.target() : next.next();
    }
  }
  return false;
}

}  // namespace tally::engine::instrument
