// Files with what was measured on this host, in the directory of tally's own files.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace tally::machines {

/// Stores a text under this file name, and replaces the previous one. False if the directory cannot be written, or if
/// other users can change it.
bool store_for_host(const std::string& name, const std::string& text, const std::filesystem::path& root);

/// Returns what was stored on this host: with the name and the processor that `root`/proc lists. Nothing if other users
/// could have written it.
std::optional<std::string> stored_for_host(const std::string& name, const std::filesystem::path& root);

}  // namespace tally::machines
