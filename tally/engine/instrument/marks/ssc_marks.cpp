// SSC marks: ebx = a number. Those with which Intel's tools begin and end a region, unless others are requested, do so.
#include "tally/engine/instrument/part_probes.hpp"
#include "tally/engine/translate/program_marks.hpp"

namespace tally::engine::instrument {
namespace {

void handle_ssc(Thread* t) {
  constexpr u32 begins = 0x111, ends = 0x222;
  const u32 number = static_cast<u32>(t->gpr[rbx]);
  if (number == begins) change_parts(t, PartAction::start, "ssc", 1);
  if (number == ends) change_parts(t, PartAction::stop, nullptr, 1);
}

}  // namespace

/// nop with prefixes that it does not need.
constinit const MarkDialect ssc_marks = {
    .code = {0x64, 0x67, 0x90}, .bytes = 3, .first_bytes = 3, .instructions = 1, .reached = handle_ssc};

}  // namespace tally::engine::instrument
