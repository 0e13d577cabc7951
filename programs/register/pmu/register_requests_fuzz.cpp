// The libFuzzer target for register requests; run it with ./dev fuzz.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "programs/register/pmu/any_request_testing.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // Longer texts test nothing more.
  if (size <= 400) (void)tally::pmu::check_any_text({reinterpret_cast<const char*>(data), size});
  return 0;
}
