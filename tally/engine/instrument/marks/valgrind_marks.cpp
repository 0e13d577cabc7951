// Client requests of valgrind.h: rax = the address of six words, the request and its arguments.
#include "tally/engine/instrument/marks/valgrind_marks.hpp"

#include "tally/engine/instrument/marks/program_text.hpp"
#include "tally/engine/instrument/part_probes.hpp"
#include "tally/engine/translate/program_marks.hpp"

namespace tally::engine::instrument {
namespace {

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

void handle_request(Thread* t) {
  const bool answers = settings().parts.as_valgrind != 0;
  if (answers && end_call_of_request(t)) return;
  u64 words[6] = {};
  if (safe_copy(words, reinterpret_cast<const void*>(t->gpr[rax]), sizeof words) != 0) return;
  const u32 n = valgrind_marks.instructions;
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
      if (answers) answer_as_valgrind(t, words);
  }
}

}  // namespace

/// Four rotations of rdi, together by 128 bits, and xchg rbx, rbx.
constinit const MarkDialect valgrind_marks = {.code = {0x48, 0xc1, 0xc7, 0x03, 0x48, 0xc1, 0xc7, 0x0d, 0x48, 0xc1, 0xc7,
                                                       0x3d, 0x48, 0xc1, 0xc7, 0x33, 0x48, 0x87, 0xdb},
                                              .bytes = 19,
                                              .first_bytes = 4,
                                              .instructions = 5,
                                              .reached = handle_request};

}  // namespace tally::engine::instrument
