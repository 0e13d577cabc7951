// libFuzzer's entry point for windows stored as text; run by ./dev fuzz.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "tally/output/result/stored_hpctool.hpp"
#include "tally/output/result/stored_windows.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // Data before the first zero is the description.
  std::string_view text(reinterpret_cast<const char*>(data), size), description;
  if (const std::size_t zero = text.find('\0'); zero != std::string_view::npos) {
    description = text.substr(0, zero);
    text.remove_prefix(zero + 1);
  }
  (void)tally::result::are_hpctool_windows(text);
  const auto read = tally::result::read_windows_text(text, "file", description);
  if (!read && read.error().message.empty()) {
    std::fputs("an error without a message\n", stderr);
    std::abort();
  }
  std::int64_t sum = 0;
  if (read)
    tally::result::visit_by_time(*read, [&](const tally::result::Window& window) {
      for (const std::int64_t count : window.counts) sum ^= count;
    });
  return sum == 1 ? -1 : 0;
}
