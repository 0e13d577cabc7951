// Answers to a program that asks what it has executed (tally/channel/asking.hpp).
#include "tally/engine/asking.hpp"

#include "tally/channel/asking.hpp"
#include "tally/engine/signals.hpp"

namespace tally::engine {

s64 answer(Thread* t, u64 asked, u64 to, u64 bytes) {
  constexpr s64 bad_address = -14, invalid = -22;
  if (asked == channel::ask_version) return channel::asking_version;
  if (asked != channel::ask_totals || bytes != sizeof(channel::Totals)) return invalid;
  // This thread is inside: nobody gives segments other numbers meanwhile.
  channel::Totals totals = channel::sum(counters(t), &segment(0), segment_limit_so_far());
  totals.add(records().thread(t->index).base);
  return put(to, &totals, sizeof totals) == 0 ? 0 : bad_address;
}

}  // namespace tally::engine
