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

}  // namespace tally::result
