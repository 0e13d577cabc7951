#include "programs/memory/analysis/permutation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <span>
#include <utility>

#include "tally/core/base/text.hpp"

namespace tally::memory {
namespace {

// Shuffles all elements but the first; all orders are equally likely (Fisher and Yates).
void shuffle_after_first(std::span<std::uint32_t> indices, Random& random) {
  for (std::size_t i = indices.size(); i-- > 2;) std::swap(indices[i], indices[random.uniform(1, i)]);
}

}  // namespace

std::string_view name(OrderKind kind) {
  switch (kind) {
    case OrderKind::random: return "random";
    case OrderKind::page_local: return "page-local";
    case OrderKind::forward: return "forward";
    case OrderKind::backward: return "backward";
    case OrderKind::fresh_per_lap: return "fresh-per-lap";
    case OrderKind::back_and_forth: return "back-and-forth";
    case OrderKind::interleaved: return "interleaved";
  }
  return "random";
}

std::span<const OrderKind> order_kinds() {
  static constexpr std::array all{OrderKind::random,     OrderKind::page_local,    OrderKind::forward,
                                  OrderKind::backward,   OrderKind::fresh_per_lap, OrderKind::back_and_forth,
                                  OrderKind::interleaved};
  return all;
}

std::optional<OrderKind> order_of(std::string_view word) {
  for (const OrderKind kind : order_kinds()) {
    if (same_word(word, name(kind))) return kind;
  }
  return std::nullopt;
}

Order ring_of(OrderKind kind, std::uint64_t n, std::uint64_t group_blocks, Random& random) {
  switch (kind) {
    case OrderKind::page_local: return page_local_ring(n, group_blocks, random);
    case OrderKind::forward: return forward_ring(n);
    case OrderKind::backward: return backward_ring(n);
    case OrderKind::random:
    case OrderKind::fresh_per_lap:
    case OrderKind::back_and_forth:
    case OrderKind::interleaved: break;
  }
  return random_ring(n, random);
}

bool has_words(OrderKind kind) { return kind == OrderKind::back_and_forth || kind == OrderKind::interleaved; }

std::vector<std::uint64_t> word_chain(OrderKind kind, std::uint64_t n, std::uint64_t stride_bytes, Random& random) {
  constexpr std::uint64_t word_bytes = 8;
  constexpr std::uint64_t words = 8;
  std::vector<std::uint64_t> chain;
  if (kind == OrderKind::back_and_forth) {
    const Order order = random_ring(n, random);
    for (const std::uint64_t block : order) chain.push_back(block * stride_bytes);
    for (std::size_t k = order.size(); k-- > 0;) chain.push_back(order[k] * stride_bytes + word_bytes);
    return chain;
  }
  for (std::uint64_t word = 0; word < words; ++word) {
    for (const std::uint64_t block : random_ring(n, random)) chain.push_back(block * stride_bytes + word * word_bytes);
  }
  return chain;
}

Order forward_ring(std::uint64_t n) {
  Order order(n);
  std::iota(order.begin(), order.end(), 0U);
  return order;
}

Order backward_ring(std::uint64_t n) {
  Order order = forward_ring(n);
  std::reverse(order.begin() + 1, order.end());
  return order;
}

Order random_ring(std::uint64_t n, Random& random) {
  Order order = forward_ring(n);
  shuffle_after_first(order, random);
  return order;
}

Order scattered_ring(std::uint64_t n, std::uint64_t pool, Random& random) {
  Order blocks(pool);
  std::iota(blocks.begin(), blocks.end(), 0U);
  for (std::uint64_t k = 1; k < n; ++k) std::swap(blocks[k], blocks[random.uniform(k, pool - 1)]);
  blocks.resize(n);
  return blocks;
}

Order random_visits(std::uint64_t n, Random& random) {
  Order visits = random_ring(n, random);
  std::swap(visits.front(), visits[random.uniform(0, n - 1)]);
  return visits;
}

Order page_local_ring(std::uint64_t n, std::uint64_t group_blocks, Random& random) {
  const std::uint64_t groups = (n + group_blocks - 1) / group_blocks;
  Order order;
  order.reserve(n);
  for (const std::uint32_t group : random_ring(groups, random)) {
    const std::uint64_t first = group * group_blocks;
    Order inside = random_ring(std::min(group_blocks, n - first), random);
    // Groups must not all begin at the same offset: those lines would share a few sets of the cache.
    if (group != 0) std::swap(inside.front(), inside[random.uniform(0, inside.size() - 1)]);
    for (const std::uint32_t block : inside) order.push_back(static_cast<std::uint32_t>(first + block));
  }
  return order;
}

std::vector<std::uint32_t> successors(const Order& order) {
  std::vector<std::uint32_t> next(order.size());
  for (std::size_t k = 0; k < order.size(); ++k) next[order[k]] = order[k + 1 == order.size() ? 0 : k + 1];
  return next;
}

Result<void> check_ring(const std::vector<std::uint32_t>& next) {
  const auto broken = [&](std::string_view why, std::uint64_t step) {
    return fail(Code::cannot_measure,
                fmt::format("the order of {} blocks is not a single cycle: {} at step {}", next.size(), why, step),
                "this is a bug in tally: please report it");
  };
  if (next.empty()) return broken("it has no block", 0);
  std::vector<bool> seen(next.size());
  std::uint32_t at = 0;
  for (std::size_t step = 0; step < next.size(); ++step) {
    if (at >= next.size()) return broken("it leaves the region", step);
    if (seen[at]) return broken("a block comes twice", step);
    seen[at] = true;
    at = next[at];
  }
  if (at != 0) return broken("it does not end where it began", next.size());
  return {};
}

}  // namespace tally::memory
