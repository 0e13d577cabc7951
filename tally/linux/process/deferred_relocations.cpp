#include "tally/linux/process/deferred_relocations.hpp"

#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

#define TALLY_OF_LINKER [[gnu::visibility("hidden")]] extern

extern "C" {
/// Where the relocations are in this program, and how many: written into the file after it was linked.
struct DeferredRelocations {
  std::uint64_t address, count;
};
[[gnu::section("tally_deferred"), gnu::used]] volatile DeferredRelocations tally_deferred_relocations{0, 0};

TALLY_OF_LINKER char __ehdr_start[];
TALLY_OF_LINKER char __start_libpfm_constants[] [[gnu::weak]];
TALLY_OF_LINKER char __stop_libpfm_constants[] [[gnu::weak]];
}

namespace tally::linux {

void make_deferred_relocations() {
  const auto base = reinterpret_cast<std::uintptr_t>(__ehdr_start);
  const auto* const all = reinterpret_cast<const Elf64_Rela*>(base + tally_deferred_relocations.address);
  const std::uint64_t count = tally_deferred_relocations.count;
  for (std::uint64_t i = 0; i < count; ++i)
    *reinterpret_cast<std::uint64_t*>(base + all[i].r_offset) = base + static_cast<std::uint64_t>(all[i].r_addend);
  if (__start_libpfm_constants == nullptr) return;
  // Other data of the program is on the first and on the last page.
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto start = (reinterpret_cast<std::uintptr_t>(__start_libpfm_constants) + page - 1) & ~(page - 1);
  const auto end = reinterpret_cast<std::uintptr_t>(__stop_libpfm_constants) & ~(page - 1);
  if (start < end) ::mprotect(reinterpret_cast<void*>(start), end - start, PROT_READ);
}

}  // namespace tally::linux
