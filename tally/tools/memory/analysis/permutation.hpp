// In which order a chase visits the blocks of a region.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/core/stats/random.hpp"

namespace tally::memory {

/// Blocks in the order of their visits: block order[k] names order[k + 1], the last one order[0], which is 0.
using Order = std::vector<std::uint32_t>;

/// The kinds of order that a chase can have.
enum class OrderKind {
  random,          ///< one uniformly random cycle
  page_local,      ///< groups of pages in random order; a group is finished before the next one begins
  forward,         ///< ascending
  backward,        ///< descending
  fresh_per_lap,   ///< a new random cycle for each lap, planted while nothing is timed
  back_and_forth,  ///< one random cycle, then the same backwards: what was used last comes first again
  interleaved,     ///< eight random cycles in turn, one in each eight-byte word of the blocks' lines
};

/// All of them, as --order takes them.
std::span<const OrderKind> order_kinds();

/// The kind of that name; nothing for any other word.
std::optional<OrderKind> order_of(std::string_view word);

/// Its name on the command line and in every row.
std::string_view name(OrderKind kind);

/// The most blocks that a region may have: indices are 32 bits wide.
constexpr std::uint64_t most_blocks = 0xFFFF'FFFF;

/// A uniformly random single cycle through `n` ≥ 1 blocks: each of the (n − 1)! cycles is equally likely. O(n).
Order random_ring(std::uint64_t n, Random& random);

/// A uniformly random cycle through `n` of `pool` ≥ `n` blocks, each choice of them equally likely. Block 0 is one of
/// them. O(pool).
Order scattered_ring(std::uint64_t n, std::uint64_t pool, Random& random);

/// `n` ≥ 1 regions, each once, in random order: the region after one that is read would be fetched ahead. Any of them
/// may be the first. O(n).
Order random_visits(std::uint64_t n, Random& random);

/// Groups of `group_blocks` neighbours: the groups in random order from the first one on, the blocks of a group in
/// random order (block 0 first in its own). O(n).
Order page_local_ring(std::uint64_t n, std::uint64_t group_blocks, Random& random);

/// 0, 1 … n − 1, or 0, n − 1 … 1.
Order forward_ring(std::uint64_t n);
Order backward_ring(std::uint64_t n);

/// A ring of these blocks in the order of a kind; of fresh_per_lap, back_and_forth and interleaved that of one lap.
/// Groups of page_local have `group_blocks`.
Order ring_of(OrderKind kind, std::uint64_t n, std::uint64_t group_blocks, Random& random);

/// Whether a lap of this kind is more than one ring of blocks: then it is a chain of words.
bool has_words(OrderKind kind);

/// The offsets of the words, each in the order of its visit, that a chain of back_and_forth or interleaved over blocks
/// `stride_bytes` apart has; it begins at 0. Each block is visited twice, or eight times.
std::vector<std::uint64_t> word_chain(OrderKind kind, std::uint64_t n, std::uint64_t stride_bytes, Random& random);

/// Which block follows which.
std::vector<std::uint32_t> successors(const Order& order);

/// Whether n steps from block 0 see every block exactly once and end on 0. Errors: cannot_measure, saying where the
/// cycle breaks: a chase over less than the region would measure a smaller one.
Result<void> check_ring(const std::vector<std::uint32_t>& next);

}  // namespace tally::memory
