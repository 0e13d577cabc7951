// Reads results that were stored as JSON.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/output/result/memory_result.hpp"
#include "tally/output/result/stat_result.hpp"
#include "tally/output/result/verify_result.hpp"

namespace tally::result {

/// Whether a text looks like results of `tally stat`.
bool is_stat(std::string_view text);

/// Reads results of `tally stat` from a JSON text: one object, or one per line. Ignores unknown keys. Errors: bad_usage
/// with the location if the text is something else; `name` is the file's name, for messages.
Result<std::vector<Stat>> read_stats(std::string_view text, const std::string& name);

/// Whether a text looks like results of `tally memory`.
bool is_memory(std::string_view text);

/// Reads results of `tally memory` from a JSON text: one object, or one per line. Errors: bad_usage with the location
/// if the text is something else.
Result<std::vector<Memory>> read_memories(std::string_view text, const std::string& name);

/// Whether a text looks like a result of `tally verify`.
bool is_verify(std::string_view text);

/// Reads a result of `tally verify` from a JSON text. Errors: bad_usage with the location if it is something else.
Result<Verify> read_verify(std::string_view text, const std::string& name);

}  // namespace tally::result
