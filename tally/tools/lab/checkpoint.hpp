// A moment of the emulated memory to return to: pages are copied before they are first written.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace tally::lab {

class Checkpoint {
 public:
  /// `memory` must outlive this.
  void cover(std::uint8_t* memory, std::uint64_t bytes);

  /// From now on `roll_back` returns to this moment.
  void begin();
  /// Must be called before memory is written. Cheap where the page was written before.
  void before_write(std::uint64_t at, std::uint64_t size);
  /// Restores all pages that were written since begin(), and reports the bytes that it changes.
  void roll_back(const std::function<void(std::uint64_t at, std::uint64_t size)>& changes);
  /// So many pages are kept that a new moment should begin.
  bool is_full() const { return pages_.size() >= most_pages; }

 private:
  static constexpr std::uint64_t page = 4096;
  static constexpr std::size_t most_pages = 1024;
  void keep(std::uint64_t number);

  std::uint8_t* memory_ = nullptr;
  std::uint32_t moment_ = 0;
  std::vector<std::uint32_t> kept_at_;  // by page: the moment of which it has a copy
  std::vector<std::uint64_t> pages_;
  std::vector<std::uint8_t> copies_;  // of pages_, in their order
};

}  // namespace tally::lab
