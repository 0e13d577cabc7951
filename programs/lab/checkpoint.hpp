// A checkpoint of the emulated memory: pages are copied before their first write, so that the memory can be restored.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace tally::lab {

class Checkpoint {
 public:
  /// `memory` must outlive this object.
  void cover(std::uint8_t* memory, std::uint64_t bytes);

  /// Sets the state to which roll_back() returns.
  void begin();
  /// Must be called before memory is written. Cheap if the page was written before.
  void before_write(std::uint64_t at, std::uint64_t size);
  /// Restores all pages that were written since begin(), and reports the ranges that it changes.
  void roll_back(const std::function<void(std::uint64_t at, std::uint64_t size)>& changes);
  /// Whether so much is stored that a new checkpoint should begin.
  bool is_full() const { return pages_.size() >= most_pages; }

 private:
  static constexpr std::uint64_t page = 4096;
  static constexpr std::size_t most_pages = 1024;
  void keep(std::uint64_t number);

  std::uint8_t* memory_ = nullptr;
  std::uint32_t moment_ = 0;
  std::vector<std::uint32_t> kept_at_;  // by page: the number of the checkpoint that has a copy of it
  std::vector<std::uint64_t> pages_;
  std::vector<std::uint8_t> copies_;  // of pages_, in the same order
};

}  // namespace tally::lab
