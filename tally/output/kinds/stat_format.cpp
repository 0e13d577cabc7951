#include "tally/output/kinds/stat_format.hpp"

#include <fmt/format.h>

#include <utility>

namespace tally::output {

Error parts_error(const StatFormat& format) {
  // `-x` selects the format `fields`; it has no other name for users.
  const std::string asked = format.name == "fields" ? "-x" : fmt::format("the format {}", format.name);
  return {Code::bad_usage, fmt::format("{} cannot represent regions of a program (--function, --from, --trap)", asked),
          "use `--format csv`, `json` or `table`", 0};
}

result::Stat shown_parts(result::Stat stat, const Style& style) {
  for (result::Run& run : stat.runs) {
    if (!style.per_process && !style.per_thread) run.processes.clear();
    for (result::Process& process : run.processes) {
      if (!style.per_thread) process.threads.clear();
      if (style.per_process) continue;
      result::Process only_threads;
      only_threads.pid = process.pid;
      only_threads.image = process.image;
      only_threads.threads = std::move(process.threads);
      process = std::move(only_threads);
    }
  }
  return stat;
}

Result<Style> append_no_page(std::string_view, Style) {
  return fail(Code::bad_usage, "cannot append: a page is a whole file",
              "append to a .csv or .jsonl file; `tally report` makes a page of it");
}

Result<Style> append_anything(std::string_view, Style style) { return style; }

}  // namespace tally::output
