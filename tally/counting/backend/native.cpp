#include "tally/counting/backend/native.hpp"

#include <utility>

namespace tally::backend {

Count native_count(const event::Event& event, const RunStatistics& statistics, const WaitResult& left) {
  Count count = software_count(event, statistics);
  if (event.id == event::Id::duration_time || event.id == event::Id::tsc) {
    return left.ended ? count : downgraded(count, Trust::partial, "the program was still running");
  }
  if (count.source == Source::kernel) return downgrade_if_running(std::move(count), left);
  if (!left.ended) return downgraded(count, Trust::partial, "the program was still running");
  if (!left.some_alive) return count;
  return downgraded(count, Trust::partial, "without processes that were still running");
}

Count downgrade_if_running(Count count, const WaitResult& left) {
  if (!left.ended) return downgraded(std::move(count), Trust::partial, "the program was still running");
  if (!left.some_alive) return count;
  return downgraded(std::move(count), Trust::partial, "processes that were still running are counted up to that time");
}

}  // namespace tally::backend
