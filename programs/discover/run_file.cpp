#include "programs/discover/run_file.hpp"

#include "programs/discovery/discovery_log.hpp"

namespace tally::discover {

Result<std::optional<RunFile>> RunFile::open(const std::string& path, const Record& record, bool resumed) {
  if (path.empty()) return std::optional<RunFile>();
  if (!resumed) {
    auto output = linux::Output::open_file(path);
    if (!output) return fail(output.error());
    RunFile file(path, *std::move(output));
    if (auto begun = file.add(header_line(record)); !begun) return fail(begun.error());
    return std::optional<RunFile>(std::move(file));
  }
  auto output = linux::Output::open_to_append(path);
  if (!output) return fail(output.error());
  const auto text = output->existing();
  if (!text) return fail(text.error());
  if (auto cut = output->cut(text->rfind('\n') + 1); !cut) return fail(cut.error());
  return std::optional<RunFile>(RunFile(path, *std::move(output)));
}

Result<void> RunFile::add(const Run& run) { return add(run_line(run)); }

Result<void> RunFile::add(const std::string& line) {
  auto added = output_.add(line);
  if (added) added = output_.publish();
  if (added) return added;
  Error error = added.error();
  error.message += "; the counts written so far are kept";
  error.hint = "free some disk space, then --resume " + path_;
  return fail(std::move(error));
}

}  // namespace tally::discover
