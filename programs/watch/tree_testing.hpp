// Machines made of files, for tests.
#pragma once

#include <fmt/format.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace tally::watch {

/// A temporary directory that is laid out like the root of a machine. The destructor removes it.
class Tree {
 public:
  Tree() {
    std::string pattern = (std::filesystem::temp_directory_path() / "tally-tree-XXXXXX").string();
    root_ = mkdtemp(pattern.data());
    write("proc/sys/kernel/osrelease", "6.8.0");
    write("proc/sys/kernel/arch", "x86_64");
  }
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;
  ~Tree() { std::filesystem::remove_all(root_); }

  const std::string& root() const { return root_; }

  void write(const std::string& path, const std::string& text) const {
    const auto file = std::filesystem::path(root_) / path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text << '\n';
  }
  void remove(const std::string& path) const { std::filesystem::remove_all(std::filesystem::path(root_) / path); }

  /// Creates processors 0 to count − 1 in `sockets` sockets. The first half of each socket's processors comes before
  /// its second half, which are the other threads of the same cores.
  void processors(int count, int sockets, int threads) const {
    write("sys/devices/system/cpu/online", fmt::format("0-{}", count - 1));
    const int cores = count / threads / sockets;
    for (int processor = 0; processor < count; ++processor) {
      const std::string folder = fmt::format("sys/devices/system/cpu/cpu{}", processor);
      const int which = processor % (count / threads);
      write(folder + "/topology/physical_package_id", std::to_string(which / cores));
      write(folder + "/topology/core_id", std::to_string(which % cores));
      write(folder + "/cache/index3/level", "3");
      write(folder + "/cache/index3/id", std::to_string(which / cores));
    }
  }

  /// Writes /proc/stat with these ticks of each kind for every processor.
  void times(int count, int busy, int idle, int steal) const {
    std::string text = "cpu 0 0 0 0 0 0 0 0\n";
    for (int processor = 0; processor < count; ++processor) {
      text += fmt::format("cpu{} {} 0 0 {} 0 0 0 {} 0 0\n", processor, busy, idle, steal);
    }
    write("proc/stat", text + fmt::format("ctxt {}\nprocs_running 2", busy * 10));
  }

 private:
  std::string root_;
};

}  // namespace tally::watch
