#include "programs/linux/nodes.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace tally::linux {
namespace {

namespace fs = std::filesystem;

// Two sockets and CXL memory without CPUs; a node without memory cannot be measured.
TEST(Nodes, are_those_with_memory) {
  std::string pattern = (fs::temp_directory_path() / "tally-nodes-XXXXXX").string();
  ASSERT_NE(mkdtemp(pattern.data()), nullptr);
  const fs::path root = pattern;
  const auto add = [&](const std::string& path, const std::string& content) {
    fs::create_directories((root / path).parent_path());
    std::ofstream(root / path) << content;
  };
  add("sys/devices/system/node/node0/cpulist", "0-2,8\n");
  add("sys/devices/system/node/node0/meminfo", "\nNode 0 MemTotal:       1024 kB\nNode 0 MemFree: 10 kB\n");
  add("sys/devices/system/node/node1/cpulist", "3\n");
  add("sys/devices/system/node/node1/meminfo", "Node 1 MemTotal:       0 kB\n");
  add("sys/devices/system/node/node10/cpulist", "\n");
  add("sys/devices/system/node/node10/meminfo", "Node 10 MemTotal:       2048 kB\n");
  add("sys/devices/system/node/possible", "0-10\n");
  const auto nodes = memory_nodes(pattern);
  EXPECT_EQ(nodes, (std::vector<Node>{{0, {0, 1, 2, 8}, 1 << 20}, {10, {}, 2 << 20}}));
  EXPECT_TRUE(check_node(10, nodes));
  const auto wrong = check_node(1, nodes);
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().message, "there is no memory node 1 here");
  EXPECT_EQ(wrong.error().hint, "there are: 0, 10");
  EXPECT_TRUE(memory_nodes("/nowhere").empty());
  fs::remove_all(root);
}

}  // namespace
}  // namespace tally::linux
