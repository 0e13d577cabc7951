#include "tally/result/memory.hpp"

namespace tally::result {

std::string_view name(Grade grade) {
  switch (grade) {
    case Grade::high: return "high";
    case Grade::medium: return "medium";
    case Grade::low: return "low";
  }
  return "low";
}

Grade grade_of(std::string_view word) {
  if (word == name(Grade::high)) return Grade::high;
  return word == name(Grade::medium) ? Grade::medium : Grade::low;
}

}  // namespace tally::result
