// Options for counting running processes, threads, CPUs or control groups instead of a command.
#pragma once

#include <string>

#include "tally/cli/commands.hpp"
#include "tally/core/base/result.hpp"
#include "tally/counting/backend/order.hpp"

namespace tally::cli {

/// The options of `tally stat` as given.
struct AttachOptions {
  std::string processes, threads, processors, cgroup;
  bool all_processors = false, per_core = false, per_socket = false;

  /// Parses the lists, and checks that the options can be combined. Errors: bad_usage.
  Result<backend::Attachment> choose() const;
};

void add_attach_options(Page& page, AttachOptions& options);

/// Adds `-p` and `-a` alone.
void add_process_options(Page& page, std::string& processes, bool& all_processors);

}  // namespace tally::cli
