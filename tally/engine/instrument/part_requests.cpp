// Marks in the program's own code, as other tools define them, and what they do to parts.
#include "tally/engine/decimal.hpp"
#include "tally/engine/instrument/mark_probes.hpp"
#include "tally/engine/instrument/part_probes.hpp"
#include "tally/engine/instrument/window_probes.hpp"
#include "tally/engine/translate/entry.hpp"
#include "tally/engine/translate/exec_regions.hpp"
#include "tally/engine/translate/program_marks.hpp"
#include "tally/engine/translate/protection_keys.hpp"

namespace tally::engine::instrument {
namespace {

using translate::ProgramMark;

constexpr u64 tool_base(char first, char second) { return u64(first) << 24 | u64(second) << 16; }

/// Client requests of callgrind.h and cachegrind.h.
enum Request : u64 {
  callgrind_dump = tool_base('C', 'T'),
  callgrind_zero,
  callgrind_toggle,
  callgrind_dump_at,
  callgrind_start,
  callgrind_stop,
  cachegrind_start = tool_base('C', 'G'),
  cachegrind_stop,
};

/// A string of the program, cut at the length of a name.
struct ProgramText {
  char text[sizeof channel::PartCounts::name] = {};
  explicit ProgramText(u64 from) { safe_copy(text, reinterpret_cast<const void*>(from), sizeof text - 1); }
};

void handle_request(Thread* t) {
  u64 words[6] = {};
  if (safe_copy(words, reinterpret_cast<const void*>(t->gpr[rax]), sizeof words) != 0) return;
  const u32 n = translate::instructions_of(ProgramMark::valgrind);
  switch (words[0]) {
    case callgrind_start:
    case cachegrind_start: return change_parts(t, PartAction::start, collected, n);
    case callgrind_stop:
    case cachegrind_stop: return change_parts(t, PartAction::stop, nullptr, n);
    case callgrind_toggle: return change_parts(t, PartAction::toggle, collected, n);
    case callgrind_zero: return change_parts(t, PartAction::zero, nullptr, n);
    case callgrind_dump: return change_parts(t, PartAction::dump, nullptr, n);
    case callgrind_dump_at: return change_parts(t, PartAction::dump, ProgramText(words[1]).text, n);
    default:
      if (settings().parts.as_valgrind != 0) answer_as_valgrind(t, words);
  }
}

/// The numbers with which Intel's tools begin and end a region unless others are requested.
void handle_ssc(Thread* t) {
  constexpr u32 begins = 0x111, ends = 0x222;
  const u32 number = static_cast<u32>(t->gpr[rbx]);
  if (number == begins) change_parts(t, PartAction::start, "ssc", 1);
  if (number == ends) change_parts(t, PartAction::stop, nullptr, 1);
}

/// The name of the part that Sniper's marker with two numbers ends.
struct MarkerName {
  char text[64] = "marker ";
  MarkerName(u64 a, u64 b) {
    char* end = write_decimal(text + 7, a);
    *end++ = ':';
    *write_decimal(end, b) = 0;
  }
};

/// Commands of Sniper's sim_api.h.
void handle_sniper(Thread* t) {
  constexpr u64 roi_begins = 1, roi_ends = 2, marker = 4, named_marker = 13;
  switch (t->gpr[rax]) {
    case roi_begins: return change_parts(t, PartAction::start, "roi", 1);
    case roi_ends: return change_parts(t, PartAction::stop, nullptr, 1);
    case marker: return change_parts(t, PartAction::dump, MarkerName(t->gpr[rbx], t->gpr[rcx]).text, 1);
    case named_marker: return change_parts(t, PartAction::dump, ProgramText(t->gpr[rcx]).text, 1);
    default: return;
  }
}

/// Numbers of gem5's operations (asm/generic/m5ops.h) that are marks, or do nothing here.
enum Gem5Operation : u32 {
  gem5_exit = 0x21,
  gem5_reset_stats = 0x40,
  gem5_dump_stats,
  gem5_dump_reset_stats,
  gem5_work_begin = 0x5a,
  gem5_work_end,
  gem5_none = 1u << 16,
};

/// Bytes of an operation of gem5: an opcode that no processor knows, and a number of 16 bits.
constexpr u32 gem5_bytes = 4;

/// Returns the number of the operation at `pc`; gem5_none: there is none.
u32 gem5_operation_at(u64 pc) {
  u8 bytes[gem5_bytes] = {};
  if (read_code(pc, bytes, gem5_bytes) != gem5_bytes || bytes[0] != 0x0f || bytes[1] != 0x04) return gem5_none;
  return bytes[2] | u32{bytes[3]} << 8;
}

/// Arguments are in the registers of function arguments.
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

bool is_gem5_mark(u64 pc) {
  if (settings().parts.gem5 == 0) return false;
  switch (gem5_operation_at(pc)) {
    case gem5_exit:
    case gem5_reset_stats:
    case gem5_dump_stats:
    case gem5_dump_reset_stats:
    case gem5_work_begin:
    case gem5_work_end: return true;
    default: return false;
  }
}

void pass_gem5_mark(Thread* t) {
  pass_marks(t);
  windows_step(t);
  handle_gem5(t);
  channel::Totals delta;
  delta.field[channel::instructions] = 1;
  correct(t, t->pc, delta);
  t->pc += gem5_bytes;
}

bool handle_program_mark(Thread* t) {
  const u64 pc = t->pc;
  if (settings().parts.as_valgrind != 0 && end_call_of_request(t)) return true;
  switch (translate::mark_at(pc)) {
    case ProgramMark::valgrind: handle_request(t); break;
    case ProgramMark::ssc: handle_ssc(t); break;
    case ProgramMark::sniper: handle_sniper(t); break;
    case ProgramMark::none: break;  // the code has changed
  }
  return t->pc == pc;
}

}  // namespace tally::engine::instrument

namespace tally::engine::translate {

extern "C" void program_mark_reached(Thread* t) {
  // A pending signal comes first: its handler returns to the gate.
  if (t->pad == 0) {
    t->past_gate = instrument::handle_program_mark(t);
  }
  dispatch(t);
}

}  // namespace tally::engine::translate
