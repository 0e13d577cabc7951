// Lists NUMA nodes, and binds memory to one of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tally/core/base/result.hpp"

namespace tally::linux {

/// A NUMA node with memory: a socket, part of one, or CXL memory without CPUs.
struct Node {
  int id = 0;
  std::vector<int> processors;  ///< empty: only memory
  std::uint64_t bytes = 0;
  bool operator==(const Node&) const = default;
};

/// Returns the nodes with memory, in ascending order; empty if the kernel lists none. `root`: the directory that
/// contains sys/. Cost: two small files for each node.
std::vector<Node> memory_nodes(const std::string& root = "/");

/// Checks that a node with memory exists. Errors: bad_usage, with the existing nodes.
Result<void> check_node(int node, const std::vector<Node>& all);

/// Makes the kernel take pages of an untouched range only from this node. Errors: cannot_measure, with the kernel's
/// error.
Result<void> bind_to_node(void* at, std::size_t bytes, int node);

/// Returns the node of the page at an address, which must have been touched; −1 if the kernel does not report it.
int node_of(const void* at);

}  // namespace tally::linux
