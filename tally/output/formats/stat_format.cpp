#include "tally/output/formats/stat_format.hpp"

#include <fmt/format.h>

namespace tally::report {

Result<void> fits_parts(const StatFormat& format, bool of_parts) {
  if (!of_parts || format.has_parts) return {};
  // `-x` selects the format `fields`; it has no other name for users.
  const std::string asked = format.name == "fields" ? "-x" : fmt::format("the format {}", format.name);
  return fail(Code::bad_usage,
              fmt::format("{} cannot represent regions of a program (--function, --from, --trap)", asked),
              "use `--format csv`, `json` or `table`");
}

Result<Style> append_anything(std::string_view, Style style) { return style; }

}  // namespace tally::report
