// Helpers to parse lines and numbers of other tools' output.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/output/result/memory.hpp"

namespace tally::memory {

/// The lines of a text without their line ends.
std::vector<std::string> lines_of(std::string_view text);

/// The finite number that a whole word spells; empty for other words.
std::optional<double> number_of(std::string_view word);

/// The error for a line, counted from 1.
Error wrong_line(std::size_t line, std::string_view text, std::string_view wanted);

/// A point for a load of a chase over `bytes`.
result::MemoryPoint foreign_point(std::string task, std::string quantity, double bytes, std::optional<double> ns);

}  // namespace tally::memory
