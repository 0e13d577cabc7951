#include <fmt/format.h>

#include <optional>
#include <string>
#include <vector>

#include "tally/base/text.hpp"
#include "tally/report/csv.hpp"
#include "tally/report/memory.hpp"

namespace tally::report {
namespace {

// The contract: docs/reference/memory-csv.md. A change of it is a change of its version there.
const std::vector<std::string> header{
    "task",     "quantity",    "mode",      "order",     "region",  "block", "stride", "n",      "regions",
    "laps",     "pages_asked", "pages_got", "node",      "threads", "store", "load",   "fence",  "seed",
    "mappings", "batches",     "rejected",  "ns_median", "ns_min",  "ns_lo", "ns_hi",  "cycles", "flags"};

template <class T>
std::string text_of(const std::optional<T>& value) {
  return value ? fmt::format("{}", *value) : "";
}

}  // namespace

std::string memory_csv(const result::Memory& memory) {
  std::string text = csv_row(header, ",") + "\r\n";
  for (const result::MemoryPoint& point : memory.points) {
    text += csv_row({point.task,
                     point.quantity,
                     point.mode,
                     point.order,
                     std::to_string(point.region_bytes),
                     std::to_string(point.block_bytes),
                     std::to_string(point.stride_bytes),
                     std::to_string(point.count),
                     std::to_string(point.regions),
                     point.laps > 0 ? std::to_string(point.laps) : "",
                     point.pages_asked,
                     point.pages_got,
                     text_of(point.node),
                     std::to_string(point.threads),
                     point.store,
                     point.load,
                     point.fence,
                     std::to_string(point.seed),
                     std::to_string(point.mappings),
                     std::to_string(point.batches),
                     std::to_string(point.rejected),
                     text_of(point.ns),
                     text_of(point.ns_min),
                     text_of(point.ns_low),
                     text_of(point.ns_high),
                     text_of(point.cycles),
                     join(point.flags, "; ")},
                    ",") +
            "\r\n";
  }
  return text;
}

}  // namespace tally::report
