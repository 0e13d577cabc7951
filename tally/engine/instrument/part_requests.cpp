// Marks in the program's own code, as other tools define them, and what they do to parts.
#include "tally/engine/instrument/parts.hpp"
#include "tally/engine/translate/entry.hpp"
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

constexpr const char* collected = "collected";

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

/// Commands of Sniper's sim_api.h.
void handle_sniper(Thread* t) {
  constexpr u64 roi_begins = 1, roi_ends = 2, named_marker = 13;
  if (t->gpr[rax] == roi_begins) change_parts(t, PartAction::start, "roi", 1);
  if (t->gpr[rax] == roi_ends) change_parts(t, PartAction::stop, nullptr, 1);
  if (t->gpr[rax] == named_marker) change_parts(t, PartAction::dump, ProgramText(t->gpr[rcx]).text, 1);
}

}  // namespace

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
