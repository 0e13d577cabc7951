// Invalidation of decoded and translated instructions when a program writes into its code. Both emulators have
// translations of the same memory; each notices only its own writes, and only at the address of the write.
#include <algorithm>

#include "programs/lab/x86_machine.hpp"

namespace tally::lab {
namespace {

constexpr std::uint64_t longest = 15;  // bytes of an instruction

}  // namespace

const Instruction& LabX86::decoded(std::uint64_t address) {
  const auto found = instructions_seen_.find(address);
  if (found != instructions_seen_.end()) return found->second;
  std::array<std::uint8_t, longest> bytes{};
  uc_mem_read(uc_, physical(address).value_or(address), bytes.data(), bytes.size());
  const Instruction& instruction = instructions_seen_[address] = decode(bytes, address, code_bits_);
  mark_code(address, instruction.length);
  return instruction;
}

// Marks the bytes of an instruction or of a translated block as code.
void LabX86::mark_code(std::uint64_t address, std::uint64_t size) {
  for (std::uint64_t done = 0; done < size;) {
    const std::uint64_t here = std::min(size - done, page_bytes - (address + done) % page_bytes);
    if (const auto place = memory_place(address + done); place && *place + here <= code_bytes_.size()) {
      const auto first = code_bytes_.begin() + static_cast<std::ptrdiff_t>(*place);
      std::fill(first, first + static_cast<std::ptrdiff_t>(here), true);
    }
    done += here;
  }
}

void LabX86::on_slow_block(uc_engine*, std::uint64_t address, std::uint32_t size, void* machine) {
  static_cast<LabX86*>(machine)->mark_code(address, size);
}

bool LabX86::is_code(std::uint64_t place, std::uint64_t size) const {
  for (std::uint64_t at = place; at < place + size && at < code_bytes_.size(); ++at) {
    if (code_bytes_[at]) return true;
  }
  return false;
}

// Called for writes to memory: drops decoded instructions immediately, and translations before they run next.
void LabX86::written(std::uint64_t place, std::uint64_t size) {
  if (!is_code(place, size)) return;
  forgets_ = restarts_ = true;
  first_dirty_ = std::min(first_dirty_, place);
  last_dirty_ = std::max(last_dirty_, place + size - 1);
  if (aliases_.empty()) {
    for (std::uint64_t at = place - std::min(place, longest); at < place + size; ++at) instructions_seen_.erase(at);
  } else {
    instructions_seen_.clear();
  }
}

// Must not be called while translated code runs, only at the next boundary.
void LabX86::forget_code() {
  if (!forgets_) return;
  forgets_ = false;
  forget_blocks();
  if (fast_) remove_translations(fast_);
  if (!aliases_.empty()) remove_translations(uc_);
  first_dirty_ = ~0ULL;
  last_dirty_ = 0;
}

void LabX86::forget_blocks() {
  settle();
  last_block_ = nullptr;
  blocks_.clear();
  table_.fill(nullptr);
}

// Removes the translations of the written range, at all of its addresses.
void LabX86::remove_translations(uc_engine* uc) const {
  const std::uint64_t first = first_dirty_ & ~(page_bytes - 1), last = last_dirty_ | (page_bytes - 1);
  if (first < last) uc_ctl_remove_cache(uc, first, last + 1);
  for (const Alias& alias : aliases_) {
    for (std::size_t i = 0; i < alias.places.size(); ++i) {
      const std::uint64_t at = alias.begin + i * page_bytes;
      if (alias.places[i] >= first && alias.places[i] <= last) uc_ctl_remove_cache(uc, at, at + page_bytes);
    }
  }
}

}  // namespace tally::lab
