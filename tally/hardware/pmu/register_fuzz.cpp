// libFuzzer's way in; ./dev fuzz runs it.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tally/hardware/pmu/fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // Longer texts are no other texts.
  if (size <= 400) (void)tally::pmu::check_any_text({reinterpret_cast<const char*>(data), size});
  return 0;
}
