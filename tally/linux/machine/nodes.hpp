// The parts that a machine's memory falls into, and memory of one of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tally/core/base/result.hpp"

namespace tally::linux {

/// A NUMA node with memory: a socket, a part of one, or memory after CXL, which has no processors.
struct Node {
  int id = 0;
  std::vector<int> processors;  ///< empty: memory alone
  std::uint64_t bytes = 0;
  bool operator==(const Node&) const = default;
};

/// Those that have memory, in ascending order; empty where the kernel lists none. `root` is where sys/ lies. Cost: two
/// small files a node.
std::vector<Node> memory_nodes(const std::string& root = "/");

/// Errors: bad_usage where there is no such node with memory here, with those that there are.
Result<void> check_node(int node, const std::vector<Node>& all);

/// Lets the pages of a range, none of which was touched, come from this node alone. Errors: cannot_measure, with what
/// the kernel answered.
Result<void> bind_to_node(void* at, std::size_t bytes, int node);

/// The node that the page at an address, which was touched, lies on; −1 where the kernel does not say.
int node_of(const void* at);

}  // namespace tally::linux
