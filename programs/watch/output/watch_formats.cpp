#include "programs/watch/output/watch_format.hpp"

namespace tally::output {
namespace {

std::string watch_rows_text(const result::WatchTable& table, const WatchStyle& style) {
  return (style.is_first ? watch_csv_header(table.columns) : "") + watch_csv(table);
}
std::string watch_head(const result::WatchHeader& header, std::size_t) { return watch_header_json(header); }
std::string watch_line(const result::WatchTable& table, const WatchStyle&) { return watch_json(table); }

constexpr WatchFormat watch_rows[] = {
    {table_of(Kind::watch), watch_paragraph, watch_page},
    {{Kind::watch, "csv", ".csv", "RFC 4180, one line per row of a table"}, nullptr, watch_rows_text},
    {{Kind::watch, "json", ".json .jsonl", "one JSON object per table and line"}, watch_head, watch_line},
};

}  // namespace

std::span<const WatchFormat> watch_formats() { return watch_rows; }

}  // namespace tally::output
