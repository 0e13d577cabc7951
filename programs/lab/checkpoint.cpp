#include "programs/lab/checkpoint.hpp"

#include <cstring>

namespace tally::lab {

void Checkpoint::cover(std::uint8_t* memory, std::uint64_t bytes) {
  memory_ = memory;
  kept_at_.assign(bytes / page, 0);
}

void Checkpoint::begin() {
  ++moment_;
  pages_.clear();
}

void Checkpoint::before_write(std::uint64_t at, std::uint64_t size) {
  for (std::uint64_t number = at / page; number <= (at + size - 1) / page && number < kept_at_.size(); ++number) {
    if (kept_at_[number] != moment_) keep(number);
  }
}

void Checkpoint::keep(std::uint64_t number) {
  kept_at_[number] = moment_;
  const std::size_t at = pages_.size() * page;
  pages_.push_back(number * page);
  if (copies_.size() < at + page) copies_.resize(at + page);
  std::memcpy(copies_.data() + at, memory_ + number * page, page);
}

void Checkpoint::roll_back(const std::function<void(std::uint64_t at, std::uint64_t size)>& changes) {
  constexpr std::uint64_t word = 8;
  for (std::size_t i = 0; i < pages_.size(); ++i) {
    std::uint8_t* const now = memory_ + pages_[i];
    const std::uint8_t* const then = copies_.data() + i * page;
    for (std::uint64_t at = 0; at < page; at += word) {
      if (std::memcmp(now + at, then + at, word) != 0) changes(pages_[i] + at, word);
    }
    std::memcpy(now, then, page);
  }
  begin();
}

}  // namespace tally::lab
