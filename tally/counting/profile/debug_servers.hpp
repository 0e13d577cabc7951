// Gets debug files from servers (debuginfod), if the user asks for that.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "tally/core/base/result.hpp"

namespace tally::profile {

/// Enables requests to the servers in DEBUGINFOD_URLS for debug files that are not on this machine. Without this call
/// tally contacts no server, whatever the environment contains. `report`: gets a line about each download, and about
/// the reason to stop. Not thread-safe: call it before names are read. Errors: bad_usage if the variable names no
/// server; not_found if the program debuginfod-find is not installed.
Result<void> ask_debug_servers(std::function<void(const std::string& line)> report);

/// Whether requests are enabled.
bool are_debug_servers_asked();

/// Returns the path of the debug file for a build ID (in hexadecimal) in the user's cache of such files; nothing if
/// requests are disabled, or no server has it or answers in time. Cost: up to half a minute; after a time-out there are
/// no further requests.
std::optional<std::string> debug_file_from_servers(const std::string& build_id, const std::string& of_file);

}  // namespace tally::profile
