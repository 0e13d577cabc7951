/// A question that many tests ask about a text.
#pragma once
#include <string>

namespace tally {

/// Whether `part` occurs in `text`.
inline bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace tally
