// Operations of gem5 (asm/generic/m5ops.h). Arguments are in the registers of function arguments.
#include "tally/engine/instrument/marks/illegal_marks.hpp"
#include "tally/engine/instrument/part_probes.hpp"
#include "tally/engine/translate/exec_regions.hpp"

namespace tally::engine::instrument {
namespace {

/// Numbers of the operations that are marks, or do nothing here.
enum Gem5Operation : u32 {
  gem5_exit = 0x21,
  gem5_reset_stats = 0x40,
  gem5_dump_stats,
  gem5_dump_reset_stats,
  gem5_work_begin = 0x5a,
  gem5_work_end,
  gem5_none = 1u << 16,
};

/// Bytes of an operation: an opcode that no processor knows, and a number of 16 bits.
constexpr u32 gem5_bytes = 4;

/// Returns the number of the operation at `pc`; gem5_none: there is none.
u32 gem5_operation_at(u64 pc) {
  u8 bytes[gem5_bytes] = {};
  if (read_code(pc, bytes, gem5_bytes) != gem5_bytes || bytes[0] != 0x0f || bytes[1] != 0x04) return gem5_none;
  return bytes[2] | u32{bytes[3]} << 8;
}

u32 length_of_gem5(u64 pc) {
  switch (gem5_operation_at(pc)) {
    case gem5_exit:
    case gem5_reset_stats:
    case gem5_dump_stats:
    case gem5_dump_reset_stats:
    case gem5_work_begin:
    case gem5_work_end: return gem5_bytes;
    default: return 0;
  }
}

void handle_gem5(Thread* t) {
  const u64 id = t->gpr[rdi];
  switch (gem5_operation_at(t->pc)) {
    case gem5_reset_stats: return change_parts(t, PartAction::zero, nullptr, 1);
    case gem5_dump_stats:
    case gem5_dump_reset_stats: return change_parts(t, PartAction::dump, nullptr, 1);
    case gem5_work_begin: return begin_work_item(t, id, 1);
    case gem5_work_end: return end_work_item(t, id, 1);
    default: return;
  }
}

}  // namespace

constinit const IllegalMarkDialect gem5_marks = {length_of_gem5, handle_gem5};

}  // namespace tally::engine::instrument
