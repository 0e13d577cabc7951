#include "tally/linux/machine/sparse_memory.hpp"

#include <sys/mman.h>

#include <cstring>
#include <vector>

namespace tally::linux {
namespace {

constexpr std::size_t sparse_page = 4096;

}  // namespace

std::optional<SparseMemory> SparseMemory::make(std::size_t bytes) {
  if (bytes == 0) return SparseMemory();
  void* const at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) return std::nullopt;
  return SparseMemory(static_cast<std::uint8_t*>(at), bytes);
}

std::optional<SparseMemory> SparseMemory::copy() const {
  auto made = make(bytes_);
  if (!made || bytes_ == 0) return made;
  std::vector<unsigned char> resident((bytes_ + sparse_page - 1) / sparse_page);
  const bool known = mincore(mapping_.data(), bytes_, resident.data()) == 0;
  for (std::size_t page = 0; page < resident.size(); ++page) {
    if (known && (resident[page] & 1) == 0) continue;
    const std::size_t at = page * sparse_page;
    std::memcpy(made->mapping_.data() + at, mapping_.data() + at, std::min(sparse_page, bytes_ - at));
  }
  return made;
}

}  // namespace tally::linux
