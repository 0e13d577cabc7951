// Commands of Sniper's sim_api.h: rax = the command, rbx and rcx = its arguments.
#include "tally/engine/decimal.hpp"
#include "tally/engine/instrument/marks/program_text.hpp"
#include "tally/engine/instrument/part_probes.hpp"
#include "tally/engine/translate/program_marks.hpp"

namespace tally::engine::instrument {
namespace {

/// The name of the part that a marker with two numbers ends.
struct MarkerName {
  char text[64] = "marker ";
  MarkerName(u64 a, u64 b) {
    char* end = write_decimal(text + 7, a);
    *end++ = ':';
    *write_decimal(end, b) = 0;
  }
};

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

}  // namespace

/// xchg bx, bx
constinit const MarkDialect sniper_marks = {
    .code = {0x66, 0x87, 0xdb}, .bytes = 3, .first_bytes = 3, .instructions = 1, .reached = handle_sniper};

}  // namespace tally::engine::instrument
