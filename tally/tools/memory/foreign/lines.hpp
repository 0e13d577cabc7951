// Lines and numbers of other tools' texts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/output/result/memory.hpp"

namespace tally::memory {

/// The lines of a text without their ends.
std::vector<std::string> lines_of(std::string_view text);

/// The number that a word is, all of it; nothing for other words, and for what is not finite.
std::optional<double> number_of(std::string_view word);

/// The error of a line, counted from 1.
Error wrong_line(std::size_t line, std::string_view text, std::string_view wanted);

/// A load of a chase over `bytes`.
result::MemoryPoint foreign_point(std::string task, std::string quantity, double bytes, std::optional<double> ns);

}  // namespace tally::memory
