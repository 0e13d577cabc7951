// libFuzzer's entry point for stored results; run by ./dev fuzz.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "tally/output/result/lab_run.hpp"
#include "tally/output/result/stored.hpp"
#include "tally/output/result/stored_hpctool.hpp"
#include "tally/output/result/stored_profile.hpp"

namespace {

template <class T>
void must_be_whole(const tally::Result<T>& read) {
  if (read || (read.error().code == tally::Code::bad_usage && !read.error().message.empty())) return;
  std::fputs("errors must be bad_usage and have a message\n", stderr);
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  must_be_whole(tally::result::read_stats(text, "file"));
  must_be_whole(tally::result::read_profile(text, "file"));
  must_be_whole(tally::result::read_lab(text, "file"));
  // The first byte selects how much of the data is the description.
  const std::size_t middle = size == 0 ? 0 : data[0] * size / 256;
  must_be_whole(tally::result::read_hpctool(text.substr(middle), "file", text.substr(0, middle)));
  return 0;
}
