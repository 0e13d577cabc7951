// Counts of one copy of some code: what twice the copies take more.
#pragma once

#include <string>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/counting/backend/backend.hpp"
#include "tally/linux/process/signals.hpp"
#include "tally/output/result/snippet.hpp"

namespace tally::measure {

/// What `tally stat --asm` is asked to do.
struct SnippetOptions {
  std::string code, init;
  std::vector<event::Event> events;
  std::uint64_t unroll = 100;   ///< copies in a round
  std::uint64_t rounds = 1000;  ///< of the loop around them
  int repeats = 1;
  bool rdpmc = false;  ///< as Request::rdpmc
  std::optional<int> processor = {};
  std::optional<Nanoseconds> limit = {};  ///< longest run time of each program; nothing: assembly::usual_limit()
};

/// Four programs, of n and 2n copies and of m and 2m rounds: start, loop and cold caches are in the difference of two
/// and of the other two alike, and what is left is what n m copies do (the RDPMC article subtracts two reads; nanoBench
/// two numbers of copies). Where cycles are counted and the code is one instruction, its chains as well.
/// Errors: bad_usage for code that cannot be assembled or repeated; cannot_measure where the code does not end with 0,
/// or not within the limit; those of Backend::run().
Result<result::Snippet> snippet(backend::Backend& backend, const SnippetOptions& options, linux::Signals& signals);

}  // namespace tally::measure
