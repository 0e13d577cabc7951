#include "programs/memory_output/memory_format.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tally/core/base/text.hpp"

namespace tally::output {
namespace {

// Formats for programs do not depend on the terminal.
template <auto write>
std::string write_for_any_terminal(const result::Memory& memory, std::size_t /*terminal*/) {
  return write(memory);
}

constexpr std::string_view lens_tasks[] = {"chase-write", "chase-read", "chase-raw"};

constexpr MemoryFormat rows[] = {
    {table_of(Kind::memory), memory_table},
    {{Kind::memory, "csv", ".csv", "RFC 4180, one row per measured point"}, write_for_any_terminal<memory_csv>},
    {{Kind::memory, "json", ".json", "one object with all data"}, write_for_any_terminal<memory_json>},
    {page_of(Kind::memory, ".html", "a page with curves"), write_for_any_terminal<memory_html>},
    {{Kind::memory, "lens-csv", ".lens-csv", "the columns of LENS, for chase-write, chase-read and chase-raw"},
     write_for_any_terminal<memory_lens_csv>,
     lens_tasks},
};

}  // namespace

std::span<const MemoryFormat> memory_formats() { return rows; }

Result<void> check_task(const MemoryFormat& format, std::string_view task) {
  const auto& only = format.only_tasks;
  if (only.empty() || std::find(only.begin(), only.end(), task) != only.end()) return {};
  return fail(Code::bad_usage,
              fmt::format("--format {} needs one of the tasks {}", format.name, join({only.begin(), only.end()}, ", ")),
              "tally memory chase-read --preset lens-small --format lens-csv");
}

}  // namespace tally::output
