#include "tally/engine/translate/uncounted.hpp"

namespace tally::engine::translate {

channel::Totals uncounted_at(const CacheLocation& s) {
  const Trace& trace = *s.trace;
  const Segment& seg = trace.segments[s.place->segment];
  channel::Totals delta;
  if (seg.first == Segment::is_exit) return delta;
  channel::SegmentVector kinds{};
  for (u32 i = seg.first; i < s.index; i++) {
    const Place& p = trace.places[i];
    delta.field[channel::instructions]++;
    delta.field[channel::loads] += p.loads;
    delta.field[channel::stores] += p.stores;
    delta.field[channel::prefetches] += p.is_prefetch();
    add_kind(kinds, p.kind);
    if ((p.kind == Kind::jcc || p.kind == Kind::loop) && p.falls_through) kinds.branches[channel::taken - 3]--;
  }
  channel::add(delta, kinds, 1);
  if (s.place->segment > 0) delta.field[channel::taken]--;
  if (s.offset >= seg.counted) channel::add(delta, segment(trace.number + s.place->segment), -1);
  return delta;
}

}  // namespace tally::engine::translate
