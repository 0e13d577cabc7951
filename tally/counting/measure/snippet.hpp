// Counts what one copy of some code does, by doubling the number of copies.
#pragma once

#include <string>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/counting/backend/backend.hpp"
#include "tally/linux/process/signals.hpp"
#include "tally/output/result/snippet.hpp"

namespace tally::measure {

/// The options of `tally stat --asm`.
struct SnippetOptions {
  std::string code, init;
  std::vector<event::Event> events;
  std::uint64_t unroll = 100;   ///< copies in a round
  std::uint64_t rounds = 1000;  ///< iterations of the loop around them
  int repeats = 1;
  bool rdpmc = false;  ///< as RegionOrder::rdpmc
  std::optional<int> processor = {};
  std::optional<Nanoseconds> limit = {};  ///< longest run time of each program; nothing: assembly::usual_limit()
};

/// Measures four programs with n and 2n copies and m and 2m rounds. Startup, loop and cold caches cancel in the double
/// difference, which is the work of n m copies (the RDPMC article subtracts two reads; nanoBench two numbers of
/// copies). If cycles are counted and the code is one instruction, also measures its latency and throughput chains.
/// Errors: bad_usage for code that cannot be assembled or repeated; cannot_measure if the code fails or exceeds the
/// limit; those of Backend::run().
Result<result::Snippet> snippet(backend::Backend& backend, const SnippetOptions& options, linux::Signals& signals);

}  // namespace tally::measure
