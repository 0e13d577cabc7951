// Results that were written as JSON, read back.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/output/result/memory.hpp"
#include "tally/output/result/stat.hpp"
#include "tally/output/result/verify.hpp"

namespace tally::result {

/// Whether a text looks like results of `tally stat`.
bool is_stat(std::string_view text);

/// The results of `tally stat` in a JSON text: one object, or one in every line. Keys that this version does not know
/// are left alone. Errors: bad_usage where the text is something else, with the place; `name` is the file's, for the
/// message.
Result<std::vector<Stat>> read_stats(std::string_view text, const std::string& name);

/// Whether a text looks like results of `tally memory`.
bool is_memory(std::string_view text);

/// The results of `tally memory` in a JSON text: one object, or one in every line. Errors: bad_usage where the text is
/// something else, with the place.
Result<std::vector<Memory>> read_memories(std::string_view text, const std::string& name);

/// Whether a text looks like a result of `tally verify`.
bool is_verify(std::string_view text);

/// The result of `tally verify` in a JSON text. Errors: bad_usage where the text is something else, with the place.
Result<Verify> read_verify(std::string_view text, const std::string& name);

}  // namespace tally::result
