#include <fmt/format.h>

#include <array>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "tally/core/base/text.hpp"
#include "tally/output/formats/csv.hpp"
#include "tally/output/text/memory.hpp"

namespace tally::report {
namespace {

template <class T>
std::string text_of(const std::optional<T>& value) {
  return value ? fmt::format("{}", *value) : "";
}
std::string text_of(const std::string& value) { return value; }
template <class Number>
  requires std::is_arithmetic_v<Number>
std::string text_of(Number value) {
  return std::to_string(value);
}

struct Column {
  const char* name;
  std::string (*text)(const result::MemoryPoint& point);
};

template <auto member>
std::string field(const result::MemoryPoint& point) {
  return text_of(point.*member);
}

// The contract: docs/reference/memory-csv.md. Changing it requires a new version there.
using Point = result::MemoryPoint;
constexpr std::array columns{
    Column{"task", field<&Point::task>},
    Column{"quantity", field<&Point::quantity>},
    Column{"mode", field<&Point::mode>},
    Column{"order", field<&Point::order>},
    Column{"region", field<&Point::region_bytes>},
    Column{"block", field<&Point::block_bytes>},
    Column{"stride", field<&Point::stride_bytes>},
    Column{"n", field<&Point::count>},
    Column{"regions", field<&Point::regions>},
    Column{"laps", [](const Point& point) { return point.laps > 0 ? std::to_string(point.laps) : std::string(); }},
    Column{"pages_asked", field<&Point::pages_asked>},
    Column{"pages_got", field<&Point::pages_got>},
    Column{"node", field<&Point::node>},
    Column{"threads", field<&Point::threads>},
    Column{"store", field<&Point::store>},
    Column{"load", field<&Point::load>},
    Column{"fence", field<&Point::fence>},
    Column{"seed", field<&Point::seed>},
    Column{"mappings", field<&Point::mappings>},
    Column{"batches", field<&Point::batches>},
    Column{"rejected", field<&Point::rejected>},
    Column{"ns_median", field<&Point::ns>},
    Column{"ns_min", field<&Point::ns_min>},
    Column{"ns_lo", field<&Point::ns_low>},
    Column{"ns_hi", field<&Point::ns_high>},
    Column{"cycles", field<&Point::cycles>},
    Column{"mb_per_second", field<&Point::mb_per_second>},
    Column{"flags", [](const Point& point) { return join(point.flags, "; "); }},
    Column{"mappings_kept", field<&Point::mappings_kept>},
    Column{"from_memory", field<&Point::from_memory>},
};

}  // namespace

std::string memory_csv(const result::Memory& memory) {
  std::vector<std::string> cells;
  for (const Column& column : columns) cells.emplace_back(column.name);
  for (const auto& count : result::memory_counts) cells.emplace_back(count.name);
  std::string text = csv_row(cells, ",") + "\r\n";
  for (const Point& point : memory.points) {
    cells.clear();
    for (const Column& column : columns) cells.push_back(column.text(point));
    for (const auto& count : result::memory_counts) cells.push_back(text_of(memory.count_of(point.counts, count.name)));
    text += csv_row(cells, ",") + "\r\n";
  }
  return text;
}

}  // namespace tally::report
