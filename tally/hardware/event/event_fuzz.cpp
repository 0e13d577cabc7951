// The libFuzzer target for event lists; run it with ./dev fuzz.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tally/hardware/event/any_text_testing.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // Longer texts test nothing more.
  if (size <= 400) tally::event::check_any_text({reinterpret_cast<const char*>(data), size});
  return 0;
}
