#include <fmt/format.h>

#include <array>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "programs/memory_output/memory_format.hpp"
#include "tally/core/base/text.hpp"
#include "tally/output/kit/csv_rows.hpp"

namespace tally::output {
namespace {

template <class T>
std::string member_text(const std::optional<T>& value) {
  return csv_text(value);
}
std::string member_text(const std::string& value) { return value; }
template <class Number>
  requires std::is_arithmetic_v<Number>
std::string member_text(Number value) {
  return std::to_string(value);
}

struct PointColumn {
  const char* name;
  std::string (*text)(const result::MemoryPoint& point);
};

template <auto member>
std::string field(const result::MemoryPoint& point) {
  return member_text(point.*member);
}

// The contract: docs/reference/memory-csv.md. Changing it requires a new version there.
using Point = result::MemoryPoint;
constexpr std::array columns{
    PointColumn{"task", field<&Point::task>},
    PointColumn{"quantity", field<&Point::quantity>},
    PointColumn{"mode", field<&Point::mode>},
    PointColumn{"order", field<&Point::order>},
    PointColumn{"region", field<&Point::region_bytes>},
    PointColumn{"block", field<&Point::block_bytes>},
    PointColumn{"stride", field<&Point::stride_bytes>},
    PointColumn{"n", field<&Point::count>},
    PointColumn{"regions", field<&Point::regions>},
    PointColumn{"laps", [](const Point& point) { return point.laps > 0 ? std::to_string(point.laps) : std::string(); }},
    PointColumn{"pages_asked", field<&Point::pages_asked>},
    PointColumn{"pages_got", field<&Point::pages_got>},
    PointColumn{"node", field<&Point::node>},
    PointColumn{"threads", field<&Point::threads>},
    PointColumn{"store", field<&Point::store>},
    PointColumn{"load", field<&Point::load>},
    PointColumn{"fence", field<&Point::fence>},
    PointColumn{"seed", field<&Point::seed>},
    PointColumn{"mappings", field<&Point::mappings>},
    PointColumn{"batches", field<&Point::batches>},
    PointColumn{"rejected", field<&Point::rejected>},
    PointColumn{"ns_median", field<&Point::ns>},
    PointColumn{"ns_min", field<&Point::ns_min>},
    PointColumn{"ns_lo", field<&Point::ns_low>},
    PointColumn{"ns_hi", field<&Point::ns_high>},
    PointColumn{"cycles", field<&Point::cycles>},
    PointColumn{"mb_per_second", field<&Point::mb_per_second>},
    PointColumn{"flags", [](const Point& point) { return join(point.flags, "; "); }},
    PointColumn{"mappings_kept", field<&Point::mappings_kept>},
    PointColumn{"from_memory", field<&Point::from_memory>},
};

}  // namespace

std::string memory_csv(const result::Memory& memory) {
  std::vector<std::string> cells;
  for (const PointColumn& column : columns) cells.emplace_back(column.name);
  for (const auto& count : result::memory_counts) cells.emplace_back(count.name);
  std::string text = csv_row(cells, ",") + "\r\n";
  for (const Point& point : memory.points) {
    cells.clear();
    for (const PointColumn& column : columns) cells.push_back(column.text(point));
    for (const auto& count : result::memory_counts)
      cells.push_back(member_text(memory.count_of(point.counts, count.name)));
    text += csv_row(cells, ",") + "\r\n";
  }
  return text;
}

}  // namespace tally::output
