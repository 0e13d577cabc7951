// The order in which a chase visits the blocks of a region.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "programs/memory/statistics/seeded_random.hpp"
#include "tally/core/base/result.hpp"

namespace tally::memory {

/// Blocks in the order of their visits: block order[k] points to order[k + 1], the last one to order[0], which is 0.
using Order = std::vector<std::uint32_t>;

/// Kinds of order.
enum class OrderKind {
  random,          ///< one uniformly random cycle
  page_local,      ///< groups of pages in random order; a group is finished before the next one begins
  forward,         ///< ascending
  backward,        ///< descending
  fresh_per_lap,   ///< a new random cycle for each lap, planted while nothing is timed
  back_and_forth,  ///< one random cycle, then the same reversed: the block used last comes first again
  interleaved,     ///< eight random cycles in turn, one in each eight-byte word of a line
};

/// All kinds, as --order accepts them.
std::span<const OrderKind> order_kinds();

/// The kind with this name; empty if there is none.
std::optional<OrderKind> order_of(std::string_view word);

/// Its name on the command line and in results.
std::string_view name(OrderKind kind);

/// Maximum number of blocks of a region: indices have 32 bits.
constexpr std::uint64_t most_blocks = 0xFFFF'FFFF;

/// A uniformly random single cycle through `n` ≥ 1 blocks: each of the (n − 1)! cycles is equally likely. O(n).
Order random_ring(std::uint64_t n, Random& random);

/// A uniformly random cycle through `n` of `pool` ≥ `n` blocks, block 0 among them; each choice is equally likely.
/// O(pool).
Order scattered_ring(std::uint64_t n, std::uint64_t pool, Random& random);

/// `n` ≥ 1 regions, each once, in random order, because prefetchers would fetch the next region ahead. Any region may
/// be first. O(n).
Order random_visits(std::uint64_t n, Random& random);

/// Groups of `group_blocks` neighbours: the groups in random order, starting with the first one, and the blocks of each
/// group in random order (block 0 first in its own). O(n).
Order page_local_ring(std::uint64_t n, std::uint64_t group_blocks, Random& random);

/// 0, 1 … n − 1, or 0, n − 1 … 1.
Order forward_ring(std::uint64_t n);
Order backward_ring(std::uint64_t n);

/// A ring in this kind of order. For fresh_per_lap, back_and_forth and interleaved: the order of one lap. Groups of
/// page_local have `group_blocks`.
Order ring_of(OrderKind kind, std::uint64_t n, std::uint64_t group_blocks, Random& random);

/// Whether a lap of this kind visits several words of a block, and so needs a chain of words.
bool has_words(OrderKind kind);

/// Offsets of the words that a back_and_forth or interleaved chain visits, in order, starting with 0. Blocks are
/// `stride_bytes` apart; each is visited twice, or eight times.
std::vector<std::uint64_t> word_chain(OrderKind kind, std::uint64_t n, std::uint64_t stride_bytes, Random& random);

/// The successor of each block.
std::vector<std::uint32_t> successors(const Order& order);

/// Checks that n steps from block 0 visit every block once and end at 0; otherwise a chase would measure a smaller
/// region. Errors: cannot_measure, with the step at which the cycle breaks.
Result<void> check_ring(const std::vector<std::uint32_t>& next);

}  // namespace tally::memory
