#include "tally/counting/backend/engine/count/own_faults.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "tally/core/base/text.hpp"
#include "tally/counting/backend/software.hpp"
#include "tally/engine/channel/image_layout.hpp"

namespace tally::backend::engine {
namespace {

constexpr int mebibyte = 20;  // log2 of the bytes in a mebibyte

/// Returns the mebibytes of all code caches near their code, in any process. Their addresses repeat from process to
/// process, and other processes are unlikely to have memory there.
std::set<std::uint64_t> near_caches(const channel::Records& records) {
  std::set<std::uint64_t> all;
  const std::uint32_t last = std::min(records.header().next_process, channel::process_limit - 1);
  for (std::uint32_t i = 1; i <= last; ++i) {
    for (const std::uint32_t first : records.process(i).near_caches) {
      if (first == 0) break;
      for (std::uint64_t at = first; at < first + (channel::cache_bytes >> mebibyte); ++at) all.insert(at);
    }
  }
  return all;
}

/// Returns the end of the engine's own memory, the largest of all processes, in mebibytes.
std::uint64_t own_end(const channel::Records& records) {
  std::uint64_t end = channel::own_addresses;
  const std::uint32_t last = std::min(records.header().next_process, channel::process_limit - 1);
  for (std::uint32_t i = 1; i <= last; ++i) end = std::max(end, records.process(i).own_end);
  return (end >> mebibyte) + 1;
}

}  // namespace

FaultLogs::FaultLogs(const Order& order) {
  if (order.usual_events) return;
  for (const event::Event& event : order.events) {
    using event::Id;
    const bool faults = event.id == Id::page_faults || event.id == Id::user_page_faults ||
                        event.id == Id::minor_faults || event.id == Id::major_faults;
    if (!faults || logs_.contains(event.id)) continue;
    if (auto log = linux::FaultLog::open(*kernel_event(event.id), event.id == Id::user_page_faults))
      logs_.emplace(event.id, std::move(*log));
  }
}

FaultPlaces FaultLogs::finish() {
  FaultPlaces faults_by_event;
  for (auto& [id, log] : logs_) faults_by_event[id] = log.finish();
  return faults_by_event;
}

std::string share_of_engine(const linux::FaultPlaces& places, std::int64_t counted, const channel::Records& records) {
  const std::set<std::uint64_t> caches = near_caches(records);
  const std::uint64_t first = channel::own_addresses >> mebibyte, end = own_end(records);
  std::int64_t own = 0, seen = 0;
  for (const auto& [at, faults] : places.in_mebibyte) {
    seen += faults;
    if ((at >= first && at < end) || caches.contains(at)) own += faults;
  }
  return fmt::format("includes {}{} in the engine's memory", seen == counted ? "" : "at least ", thousands(own));
}

}  // namespace tally::backend::engine
