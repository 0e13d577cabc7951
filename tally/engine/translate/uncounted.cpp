#include "tally/engine/translate/uncounted.hpp"

#include "tally/engine/code_log_writer.hpp"
#include "tally/engine/translate/execution_counts.hpp"
#include "tally/engine/translate/mix_rows.hpp"

namespace tally::engine::translate {
namespace {

u64 pc_of(const Trace& trace, const InstructionMapping& p) {
  return trace.pc + static_cast<u64>(static_cast<s64>(p.pc));
}

/// Returns the counts of one execution of a place on a trace's path.
channel::Totals counts_of(const Trace& trace, const InstructionMapping& p) {
  channel::Totals one;
  one.field[channel::instructions] = 1;
  one.field[channel::loads] = p.loads;
  one.field[channel::stores] = p.stores;
  if (p.plain_field() != 0) one.field[p.plain_field()] = 1;
  channel::SegmentVector kinds{};
  add_kind(kinds, p.kind);
  if (is_branch(p.kind) && p.falls_through) kinds.branches[channel::taken - 3]--;
  one.add(kinds);
  if (p.kind != Kind::end) add_mix_at(one, pc_of(trace, p));
  return one;
}

bool assigns_counts() { return logs_code() || on_correction != nullptr; }

/// Corrects the counts for places [from, to) of a segment: executed `times` (1 or -1) times more than counted.
void correct_places(Thread* t, const Trace& trace, u8 segment, u32 from, u32 to, s64 times) {
  for (u32 i = from; i < to && i < trace.place_count && trace.places[i].segment == segment; i++) {
    if (trace.places[i].kind == Kind::end) continue;
    channel::Totals delta;
    delta.add(counts_of(trace, trace.places[i]), times);
    correct(t, pc_of(trace, trace.places[i]), delta);
  }
}

void correct_taken(Thread* t, const Trace& trace, const InstructionMapping& branch, s64 times) {
  channel::Totals delta;
  delta.field[channel::taken] = times;
  correct(t, pc_of(trace, branch), delta);
}

}  // namespace

channel::Totals uncounted_at(const CacheLocation& s) {
  const Trace& trace = *s.trace;
  const Segment& seg = trace.segments[s.place->segment];
  channel::Totals delta;
  if (seg.first == Segment::is_exit) return delta;
  for (u32 i = seg.first; i < s.index; i++) delta.add(counts_of(trace, trace.places[i]));
  if (s.place->segment > 0) delta.field[channel::taken]--;
  if (s.offset >= seg.counted) add_segment(delta, trace.number + s.place->segment, -1);
  return delta;
}

void correct_at(Thread* t, const CacheLocation& s) {
  const Trace& trace = *s.trace;
  const u8 number = s.place->segment;
  const Segment& seg = trace.segments[number];
  if (seg.first == Segment::is_exit) return;
  if (!assigns_counts()) return correct(t, pc_of(trace, *s.place), uncounted_at(s));
  if (s.offset >= seg.counted) return correct_places(t, trace, number, s.index, trace.place_count, -1);
  correct_places(t, trace, number, seg.first, s.index, 1);
  // This segment is not counted yet, so the branch before it would appear to be taken.
  if (number > 0 && seg.first > 0) correct_taken(t, trace, trace.places[seg.first - 1], -1);
}

void correct_exit(Thread* t, const CacheLocation& s) {
  const Trace& trace = *s.trace;
  const u8 number = s.place->segment;
  if (!assigns_counts()) {
    channel::Totals all;
    add_segment(all, trace.number + number);
    return correct(t, pc_of(trace, *s.place), all);
  }
  // The branch that leads to it: the one with this number.
  u32 branch = 0;
  for (u32 left = number; branch < trace.place_count; branch++)
    if (is_branch(trace.places[branch].kind) && --left == 0) break;
  if (branch == trace.place_count) return;
  const bool is_early = trace.segments[number].counted < trace.segments[0].counted;
  if (is_early)
    correct_places(t, trace, 0, 0, branch + 1, 1);
  else
    correct_places(t, trace, 0, branch + 1, trace.place_count, -1);
  correct_taken(t, trace, trace.places[branch], trace.places[branch].falls_through ? 1 : -1);
}

}  // namespace tally::engine::translate
