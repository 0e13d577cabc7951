#include "programs/linux/nodes.hpp"

#include <fmt/format.h>
#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstdlib>
#include <filesystem>

#include "tally/core/base/text.hpp"
#include "tally/linux/files/files.hpp"
#include "tally/linux/system_call.hpp"

namespace tally::linux {
namespace {

constexpr std::size_t word_bits = sizeof(unsigned long) * CHAR_BIT;
// The maximum of kernels (CONFIG_NODES_SHIFT is at most 10).
constexpr std::size_t most_nodes = 1024;

// "0-3,8" → 0 1 2 3 8.
std::vector<int> numbers_of(const std::string& list) {
  std::vector<int> numbers;
  for (const std::string& range : split(list, ',')) {
    char* end = nullptr;
    const long first = std::strtol(range.c_str(), &end, 10);
    if (end == range.c_str()) continue;
    const long last = *end == '-' ? std::strtol(end + 1, nullptr, 10) : first;
    for (long number = first; number <= last; ++number) numbers.push_back(static_cast<int>(number));
  }
  return numbers;
}

// "Node 0 MemTotal:       24689276 kB" → bytes.
std::uint64_t total_bytes(const std::string& meminfo) {
  constexpr std::string_view key = "MemTotal:";
  const auto at = meminfo.find(key);
  return at == std::string::npos ? 0 : std::strtoull(meminfo.c_str() + at + key.size(), nullptr, 10) * 1024;
}

}  // namespace

std::vector<Node> memory_nodes(const std::string& root) {
  std::vector<Node> nodes;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(root + "/sys/devices/system/node", ignored)) {
    const std::string folder = entry.path().string();
    const std::string name = entry.path().filename().string();
    const auto number = name.starts_with("node") ? numbers_of(name.substr(4)) : std::vector<int>();
    if (number.size() != 1) continue;
    Node node{number.front(), numbers_of(content(folder + "/cpulist")), total_bytes(content(folder + "/meminfo"))};
    if (node.bytes > 0) nodes.push_back(std::move(node));
  }
  std::sort(nodes.begin(), nodes.end(), [](const Node& node, const Node& other) { return node.id < other.id; });
  return nodes;
}

Result<void> check_node(int node, const std::vector<Node>& all) {
  std::vector<std::string> ids;
  for (const Node& present : all) {
    if (present.id == node) return {};
    ids.push_back(std::to_string(present.id));
  }
  return fail(Code::bad_usage, fmt::format("there is no memory node {} here", node),
              ids.empty() ? "this kernel lists none: omit the node"
                          : fmt::format("{}: {}", ids.size() == 1 ? "there is one" : "there are", join(ids, ", ")));
}

Result<void> bind_to_node(void* at, std::size_t bytes, int node) {
  std::array<unsigned long, most_nodes / word_bits> mask{};
  const auto bit = static_cast<std::size_t>(node);
  if (node < 0 || bit >= most_nodes) return fail(Code::bad_usage, fmt::format("{} is not a memory node", node));
  mask[bit / word_bits] = 1UL << (bit % word_bits);
  // The C library has no function for it, and this is the only call of libnuma that tally needs. The kernel reads one
  // bit fewer than the given number (mbind(2)).
  if (syscall(SYS_mbind, at, bytes, MPOL_BIND, mask.data(), most_nodes + 1, MPOL_MF_STRICT) == 0) return {};
  return system_failure(Code::cannot_measure, fmt::format("cannot bind memory to node {}", node),
                        "perhaps this control group may not use the node (cpuset.mems)");
}

int node_of(const void* at) {
  int node = -1;
  const long answer = syscall(SYS_get_mempolicy, &node, nullptr, 0, at, MPOL_F_NODE | MPOL_F_ADDR);
  return answer == 0 ? node : -1;
}

}  // namespace tally::linux
