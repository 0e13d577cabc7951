// Page tables of the program. The emulator walks them for faults and for the flags that it sets, but then uses the
// virtual address as a physical one (Unicorn 2.0.1, its issue 1953). So the memory is a file, and for a virtual page
// above the memory, the page of that file is also mapped there. Source of the tables: Intel SDM vol. 3A, "Paging".
#include <fmt/format.h>

#include "programs/lab/x86_machine.hpp"
#include "programs/linux/memory_ranges.hpp"

namespace tally::lab {
namespace {

constexpr std::uint64_t most_at_once = 256 << 20;  // bytes of a region
constexpr std::uint64_t paging = 1U << 31;         // CR0.PG
constexpr std::uint64_t large_pages = 1U << 4;     // CR4.PSE
constexpr std::uint64_t wide_entries = 1U << 5;    // CR4.PAE
constexpr std::uint64_t present = 1, is_page = 1U << 7;

}  // namespace

bool LabX86::is_paging() const { return (get(UC_X86_REG_CR0) & paging) != 0; }

// Returns no value if the page is unmapped.
std::optional<std::uint64_t> LabX86::physical(std::uint64_t address) const {
  if (!is_paging()) return address;
  const std::uint64_t control = get(UC_X86_REG_CR4);
  const bool is_wide = (control & wide_entries) != 0;
  const int levels = !is_wide ? 2 : mode() == Mode::wide ? 4 : 3;
  const int index_bits = is_wide ? 9 : 10;
  const std::uint64_t size = is_wide ? 8 : 4;
  // With three levels the top table has four entries and is aligned to 32 bytes only.
  std::uint64_t table = get(UC_X86_REG_CR3) & (levels == 3 ? 0xFFFF'FFE0 : 0x000F'FFFF'FFFF'F000);
  for (int level = levels; level > 0; --level) {
    const int shift = 12 + (level - 1) * index_bits;
    const std::uint64_t at = table + size * (address >> shift & ((1U << index_bits) - 1));
    if (at + size > memory_size()) return std::nullopt;
    std::uint64_t entry = 0;
    for (std::uint64_t byte = 0; byte < size; ++byte) entry |= std::uint64_t{memory_[at + byte]} << (8 * byte);
    if ((entry & present) == 0) return std::nullopt;
    const std::uint64_t target = entry & 0x000F'FFFF'FFFF'F000;
    const bool may_be_large = level == 2 || (level == 3 && levels == 4);
    const bool is_large = may_be_large && (entry & is_page) != 0 && (is_wide || (control & large_pages) != 0);
    if (level == 1 || is_large) {
      const std::uint64_t within = (1ULL << shift) - 1;
      return (target & ~within) | (address & within);
    }
    table = target;
  }
  return std::nullopt;
}

// Returns the memory page of a virtual page above the memory; nothing if there is none or it is mapped already.
std::optional<std::uint64_t> LabX86::hidden_page(std::uint64_t address) const {
  if (address < memory_size()) return std::nullopt;
  const auto at = physical(address);
  if (!at || *at >= memory_size()) return std::nullopt;
  for (const Alias& alias : aliases_) {
    if (address - alias.begin < alias.size) return std::nullopt;
  }
  return at;
}

// Maps the memory page of this virtual address and its neighbours for the emulator. Returns whether there is one.
bool LabX86::reveal(std::uint64_t address) {
  if (!is_paging()) return false;
  std::uint64_t begin = address & ~(page_bytes - 1), size = 0;
  if (!hidden_page(begin)) return false;
  while (begin >= page_bytes && size < most_at_once / 2 && hidden_page(begin - page_bytes))
    begin -= page_bytes, size += page_bytes;
  size += page_bytes;
  while (begin + size != 0 && size < most_at_once && hidden_page(begin + size)) size += page_bytes;
  std::vector<linux::FileRange> ranges;
  std::vector<std::uint64_t> places;
  for (std::uint64_t at = 0; at < size; at += page_bytes) {
    const std::uint64_t from = *physical(begin + at);
    places.push_back(from);
    if (!ranges.empty() && ranges.back().offset + ranges.back().bytes == from) {
      ranges.back().bytes += page_bytes;
    } else {
      ranges.push_back({from, page_bytes});
    }
  }
  auto host = linux::map_ranges(memory_file_.get(), ranges);
  if (!host || uc_mem_map_ptr(uc_, begin, size, UC_PROT_ALL, host->data()) != UC_ERR_OK) return false;
  if (fast_) uc_mem_map_ptr(fast_, begin, size, UC_PROT_ALL, host->data());
  aliases_.push_back({begin, size, *std::move(host), std::move(places)});
  return true;
}

// Returns the memory offset of an address that the emulator reports; nothing if it is not in memory.
std::optional<std::uint64_t> LabX86::memory_place(std::uint64_t address) const {
  if (address < memory_size()) return address;
  for (const Alias& alias : aliases_) {
    if (address - alias.begin < alias.size)
      return alias.places[(address - alias.begin) / page_bytes] + address % page_bytes;
  }
  return std::nullopt;
}

// Every change of the memory map makes the emulator drop its translated addresses.
void LabX86::forget_pages(uc_engine* uc) {
  constexpr std::uint64_t unused = 0xFEF0'0000;
  if (uc_mem_map(uc, unused, page_bytes, UC_PROT_ALL) == UC_ERR_OK) uc_mem_unmap(uc, unused, page_bytes);
}

// Called after a write to a control register or an invalidation: addresses may map to other pages now.
void LabX86::repage() {
  fast_pages_changed_ = true;
  if (!aliases_.empty()) {
    // Decoded bytes may be other instructions now.
    forget_code();
    remove_translations(uc_);
    instructions_seen_.clear();
    forget_blocks();
  }
  for (const Alias& alias : aliases_) {
    uc_mem_unmap(uc_, alias.begin, alias.size);
    if (fast_) uc_mem_unmap(fast_, alias.begin, alias.size);
  }
  aliases_.clear();
  if (!is_paging()) return;
  for (std::uint64_t address = 0; address < memory_size(); address += page_bytes) {
    const auto at = physical(address);
    if (!at || *at == address) continue;
    end(End::Reason::fault, at_,
        fmt::format("{}: the page tables put {:X}H at {:X}H, which the lab's emulator cannot do", image_.place(at_),
                    address, *at),
        fmt::format("below {:X}H, where the memory is, virtual addresses must be physical ones; above they are free",
                    memory_size()));
    return;
  }
}

}  // namespace tally::lab
