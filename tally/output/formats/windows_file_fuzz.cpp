// libFuzzer's entry point for the compact file of windows; run by ./dev fuzz. Corrects checksums first, because wrong
// ones would hide the code after them.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "tally/core/base/fnv_hash.hpp"
#include "tally/output/formats/windows_file.hpp"

namespace {

std::string with_checksums(std::string bytes) {
  for (std::size_t at = 12; at + 9 <= bytes.size();) {
    std::uint32_t size = 0;
    std::memcpy(&size, &bytes[at + 1], sizeof size);
    if (size > bytes.size() - at - 9) break;
    const std::uint32_t sum = tally::fnv_hash32(std::string_view(bytes).substr(at + 9, size));
    std::memcpy(&bytes[at + 5], &sum, sizeof sum);
    at += 9 + size;
  }
  return bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes = with_checksums({reinterpret_cast<const char*>(data), size});
  std::size_t at = 0;
  auto decoder = tally::result::WindowsDecoder::open(
      [&](std::span<char> to) -> tally::Result<std::size_t> {
        const std::size_t count = std::min(to.size(), bytes.size() - at);
        std::memcpy(to.data(), bytes.data() + at, count);
        at += count;
        return count;
      },
      "file");
  std::int64_t sum = 0;
  if (decoder) {
    (void)decoder->read([&](const tally::result::Window& window) {
      for (const std::int64_t count : window.counts) sum ^= count;
    });
  } else if (decoder.error().message.empty()) {
    std::fputs("an error without a message\n", stderr);
    std::abort();
  }
  return sum == 1 ? -1 : 0;
}
