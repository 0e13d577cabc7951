// The formats of regions are separate from the others (formats.cpp), because libtally.so, which measured programs load,
// only needs these.
#include <fmt/format.h>

#include <utility>

#include "tally/output/kinds/regions_format.hpp"
#include "tally/output/registry/readers.hpp"

namespace tally::output {

bool is_regions_json(const StoredFile& file) { return result::is_regions(file.text); }

AnyResults read_regions_json(const StoredFile& file) {
  auto program = result::read_regions(file.text);
  if (!program) {
    return fail(program.error().code, fmt::format("'{}' holds no regions: {}", file.name, program.error().message),
                "run a program with regions with TALLY_OUTPUT=FILE.json set");
  }
  std::vector<result::AnyResult> all;
  all.emplace_back(*std::move(program));
  return all;
}

std::span<const RegionsFormat> regions_formats() {
  static constexpr RegionsFormat rows[] = {
      {table_of(Kind::regions), [](const result::ProgramRegions& program) { return regions_table(program); }},
      {{Kind::regions, "json", ".json", "one JSON object", read_regions_json, is_regions_json}, regions_json},
      {{Kind::regions, "csv", ".csv", "RFC 4180, the columns of `tally stat`"}, regions_csv},
  };
  return rows;
}

}  // namespace tally::output
