// Debug files from servers (debuginfod), where the user asked for them.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "tally/core/base/result.hpp"

namespace tally::profile {

/// From now on debug files that are not on this machine are asked of the servers that DEBUGINFOD_URLS names. Without it
/// names are never looked for outside of this machine, whatever the environment says. `told`: what is being fetched, or
/// why nothing more will be; one line. Not thread-safe: call it before names are read. Errors: bad_usage where the
/// variable names no server; not_found where the program debuginfod-find is not installed.
Result<void> ask_debug_servers(std::function<void(const std::string& line)> told);

/// The path of the debug file of a build id (in hexadecimal) in the user's cache of such files; nothing where servers
/// are not to be asked, have none, or do not answer in time. Cost: up to half a minute; a server that does not answer
/// is not asked again.
std::optional<std::string> debug_file_from_servers(const std::string& build_id, const std::string& of_file);

}  // namespace tally::profile
