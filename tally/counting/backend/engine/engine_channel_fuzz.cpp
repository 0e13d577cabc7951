// The entry point for libFuzzer; ./dev fuzz runs it.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "tally/counting/backend/engine/scribble_testing.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 1000) return 0;
  tally::backend::engine::Scribbled run;
  run.scribble(data, size);
  if (const std::string complaint = run.complaint(); !complaint.empty()) {
    std::fprintf(stderr, "%s\n", complaint.c_str());
    std::abort();
  }
  return 0;
}
