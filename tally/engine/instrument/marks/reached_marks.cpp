#include "tally/engine/instrument/marks/reached_marks.hpp"

#include "tally/engine/translate/entry.hpp"
#include "tally/engine/translate/program_marks.hpp"

namespace tally::engine::instrument {

bool handle_program_mark(Thread* t) {
  const u64 pc = t->pc;
  // Without a dialect, the code has changed.
  if (const MarkDialect* const dialect = mark_at(pc); dialect != nullptr) dialect->reached(t);
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
