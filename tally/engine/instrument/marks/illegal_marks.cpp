#include "tally/engine/instrument/marks/illegal_marks.hpp"

#include "tally/engine/instrument/mark_probes.hpp"
#include "tally/engine/instrument/window_probes.hpp"

namespace tally::engine::instrument {
namespace {

/// Returns the dialect of this run, or null.
const IllegalMarkDialect* illegal_dialect() {
  switch (settings().parts.illegal) {
#define TALLY_ILLEGAL_MARKS(name, examples) \
  case channel::IllegalMarks::name: return &name##_marks;
#include "tally/engine/channel/mark_dialects.inc"
    default: return nullptr;
  }
}

}  // namespace

bool is_illegal_mark(u64 pc) {
  const IllegalMarkDialect* const dialect = illegal_dialect();
  return dialect != nullptr && dialect->length_at(pc) != 0;
}

void pass_illegal_mark(Thread* t) {
  const IllegalMarkDialect& dialect = *illegal_dialect();
  const u32 length = dialect.length_at(t->pc);
  if (length == 0) return;  // the code has changed
  pass_marks(t);
  countdowns_step(t);
  dialect.reached(t);
  channel::Totals delta;
  delta.field[channel::instructions] = 1;
  correct(t, t->pc, delta);
  t->pc += length;
}

}  // namespace tally::engine::instrument
