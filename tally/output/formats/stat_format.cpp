#include "tally/output/formats/stat_format.hpp"

#include <fmt/format.h>

namespace tally::report {

Result<void> fits_parts(const StatFormat& format, bool of_parts) {
  if (!of_parts || format.has_parts) return {};
  return fail(
      Code::bad_usage,
      fmt::format("the format {} cannot represent regions of a program (--function, --from, --trap)", format.name),
      "use `--format csv`, `json` or `table`");
}

Result<Style> append_anything(std::string_view, Style style) { return style; }

}  // namespace tally::report
