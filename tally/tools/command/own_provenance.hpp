// What this invocation of tally writes in its results about itself (result/provenance.hpp).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/output/kinds/format.hpp"
#include "tally/output/result/stat_result.hpp"

namespace tally::command {

class Page;

/// Records the command line and the time. Call it first.
void record_invocation(std::vector<std::string> command_line);

/// The name by which the command was started: the first word of its command line.
std::string own_name();

/// Adds --label, for commands that store results.
void add_label_option(Page& page);

/// Adds --host, for commands that write pages or Markdown.
void add_host_option(Page& page);

/// The provenance of the results of this invocation. SOURCE_DATE_EPOCH in the environment replaces the time.
result::Provenance provenance();

/// Removes the name of the host, which a page or a comment does not show unless --host was given.
void hide_host(result::Provenance& provenance);
void hide_host(result::Environment& environment);

/// The same if `format` is a page or a comment.
void hide_host(result::Environment& environment, const output::Format& format);

/// Writes the JSON description of a CSV file next to it, `output`.meta.json; does nothing if the format or the output
/// is another. Errors: cannot_write.
Result<void> describe_csv(const output::Format& format, const std::string& output, std::string_view json);

}  // namespace tally::command
