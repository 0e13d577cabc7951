// The ceilings that `tally memory ceilings` measured on this host.
#pragma once

#include <filesystem>
#include <optional>

#include "tally/output/result/ceilings.hpp"

namespace tally::roofline {

/// Stores them for this host, and replaces the previous ones. False if the directory of tally's own files cannot be
/// written.
bool store_ceilings(const result::Ceilings& ceilings, const std::filesystem::path& root);

/// Returns what was stored on this host, if anything.
std::optional<result::Ceilings> stored_ceilings(const std::filesystem::path& root);

}  // namespace tally::roofline
