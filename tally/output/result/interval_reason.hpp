// Why an interval has no count of an event.
#pragma once

namespace tally::result {

inline constexpr const char* only_at_end = "available only at the end";

}  // namespace tally::result
