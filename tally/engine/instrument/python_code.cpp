#include "tally/engine/instrument/python_code.hpp"

#include "tally/engine/instrument/python_frames.hpp"
#include "tally/engine/instrument/python_objects.hpp"
#include "tally/engine/translate/decode.hpp"
#include "tally/engine/translate/exec_regions.hpp"

namespace tally::engine::instrument {
namespace {

using translate::Instruction;
using translate::Kind;
using translate::Map;

bool read_instruction(u64 pc, Instruction& in) {
  u8 bytes[16] = {};
  const u32 n = translate::read_code(pc, bytes, 15);
  return n != 0 && translate::decode(pc, bytes, n, in);
}

/// Whether the instruction is `opcode` with a 64-bit register and an operand in memory.
bool is_access(const Instruction& in, u8 opcode) {
  return in.legacy && in.map == Map::one_byte && in.opcode == opcode && (in.rex & 8) != 0 && in.modrm_at != 0 &&
         in.mod() != 3;
}

constexpr u8 move_to_memory = 0x89, load_address = 0x8d;

/// Whether the operand is in the stack frame: at a constant distance from rsp or rbp.
bool is_in_frame(const Instruction& in) { return in.rm() == rbp ? in.mod() != 0 : in.rm() == rsp && in.sib == 0x24; }

s32 offset(u32 of) { return static_cast<s32>(of); }

/// The current frame in the variable of type _PyCFrame; base 0: in the thread state, which any register may have.
struct Variable {
  u8 base;
  s32 displacement;
};

/// Searches the beginning of the function for `lea r, [base + displacement]` and `mov [state + 56], r`.
bool find_variable(u64 begin, u64 bytes, Variable& found) {
  constexpr u64 longest = 256;
  Variable address[16] = {};
  for (u64 pc = begin; pc - begin < bytes && pc - begin < longest;) {
    Instruction in;
    if (!read_instruction(pc, in)) return false;
    if (is_access(in, load_address) && is_in_frame(in)) address[in.reg()] = {in.rm(), in.displacement};
    if (is_access(in, move_to_memory) && !is_in_frame(in) &&
        in.displacement == offset(python_layout().frame_in_state) && address[in.reg()].base != 0) {
      found = address[in.reg()];
      found.displacement += offset(python_layout().frame_in_cframe);
      return found.displacement == static_cast<s16>(found.displacement);
    }
    pc = in.next();
  }
  return false;
}

/// Addresses outside the function to which it jumps.
struct OtherBlocks {
  static constexpr u32 limit = 2048;
  u32 count;
  bool is_full;
  u64 pc[limit];

  void add(u64 target) {
    for (u32 i = 0; i < count; i++)
      if (pc[i] == target) return;
    if (count < limit)
      pc[count++] = target;
    else
      is_full = true;
  }
};

class Search {
 public:
  Search(u64 begin, u64 bytes, const Variable& variable, FrameChanges& changes, OtherBlocks& blocks)
      : begin_(begin), bytes_(bytes), variable_(variable), changes_(changes), blocks_(blocks) {}

  void run() {
    blocks_.count = 0;
    blocks_.is_full = false;
    sweep(begin_, bytes_, false);
    constexpr u64 longest_block = 4096;
    for (u32 i = 0; i < blocks_.count; i++) sweep(blocks_.pc[i], longest_block, true);
    // Counts of functions would be wrong if some changes were missing.
    if (blocks_.is_full || is_full_) changes_.count = 0;
  }

 private:
  bool is_inside(u64 pc) const { return pc - begin_ < bytes_; }

  void add(const Instruction& in, u32 store, bool is_return) {
    for (u32 i = 0; i < changes_.count; i++)
      if (changes_.change[i].pc == in.pc) return;
    if (changes_.count < FrameChanges::limit)
      changes_.change[changes_.count++] = {in.pc, store, is_return};
    else
      is_full_ = true;
  }

  bool is_store(const Instruction& in) const {
    if (!is_access(in, move_to_memory) || in.displacement != variable_.displacement) return false;
    if (variable_.base != 0) return is_in_frame(in) && in.rm() == variable_.base;
    const bool has_index = (in.rm() & 7) == rsp && (in.sib != 0x24 || (in.rex & 2) != 0);
    return in.mod() != 0 && in.rm() != rsp && !has_index;
  }

  /// `is_block`: ends where the code cannot continue.
  void sweep(u64 from, u64 bytes, bool is_block) {
    for (u64 pc = from; pc - from < bytes;) {
      Instruction in;
      if (!read_instruction(pc, in)) return;
      if (is_store(in)) add(in, word_of({in.rm(), in.reg(), static_cast<s16>(in.displacement)}), false);
      const bool jumps = in.kind == Kind::jcc || in.kind == Kind::jump;
      if (in.kind == Kind::ret) add(in, 0, true);
      if (jumps && !is_inside(in.target())) blocks_.add(in.target());
      if (is_block &&
          (in.kind == Kind::jump || in.kind == Kind::ret || in.kind == Kind::jump_indirect || in.kind == Kind::trap))
        return;
      pc = in.next();
    }
  }

  bool is_full_ = false;
  u64 begin_, bytes_;
  const Variable& variable_;
  FrameChanges& changes_;
  OtherBlocks& blocks_;
};

}  // namespace

u32 python_version;

void find_frame_changes(u64 begin, u64 bytes, FrameChanges& changes) {
  LARGE static OtherBlocks blocks;  // the caller holds a lock
  changes.count = 0;
  Variable variable{.base = 0, .displacement = offset(python_layout().frame_in_state)};
  if (python_layout().frame_in_cframe == channel::python::none || find_variable(begin, bytes, variable))
    Search(begin, bytes, variable, changes, blocks).run();
}

void add_python_marks(channel::MarkPoints& points) {
  constexpr u32 room = sizeof points.point / sizeof points.point[0];
  static FrameChanges changes;
  for (u32 i = 0, given = points.count; i < given; i++) {
    const channel::MarkPoint point = points.point[i];
    if (point.role != channel::mark_python) continue;
    python_version = point.mark >> channel::python_size_bits;
    find_frame_changes(point.address, point.mark & ((1u << channel::python_size_bits) - 1), changes);
    if (changes.count > room - points.count) continue;  // all or none
    for (u32 k = 0; k < changes.count; k++) {
      const FrameChanges::Change& change = changes.change[k];
      points.point[points.count++] = {change.pc, change.store,
                                      change.is_return ? channel::mark_python_return : channel::mark_python_frame};
    }
  }
}

}  // namespace tally::engine::instrument
