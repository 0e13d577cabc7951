#include "tally/counting/profile/vdso.hpp"

#include <fmt/format.h>

#include "tally/counting/profile/function_of.hpp"
#include "tally/linux/files/memory_file.hpp"
#include "tally/linux/process/self.hpp"

namespace tally::profile {

std::unique_ptr<CodeNames> names_of_vdso() {
  const std::string image = linux::own_vdso();
  if (image.empty()) return nullptr;
  // CodeNames reads files only.
  const auto file = linux::make_memory_file("vdso", image.size());
  if (!file || !linux::write_at(file->get(), 0, image)) return nullptr;
  auto names = CodeNames::open(fmt::format("/proc/self/fd/{}", file->get()));
  return names ? *std::move(names) : nullptr;
}

std::optional<std::uint64_t> vdso_base(const CodeNames& names, const std::set<std::uint64_t>& executed) {
  constexpr std::uint64_t page = 4096;
  if (executed.empty() || names.functions().empty()) return std::nullopt;
  const std::uint64_t end = names.functions().back().address + names.functions().back().bytes;
  std::optional<std::uint64_t> found;
  const std::uint64_t first = *executed.begin() & ~(page - 1);
  for (std::uint64_t back = 0; back <= end && back <= first; back += page) {
    const std::uint64_t base = first - back;
    bool all = true, any_begins = false;
    for (const std::uint64_t address : executed) {
      const NamedCode* const function = function_of(names, address - base);
      all = all && function != nullptr;
      any_begins = any_begins || (function != nullptr && function->address == address - base);
    }
    if (!all || !any_begins) continue;
    if (found) return std::nullopt;
    found = base;
  }
  return found;
}

}  // namespace tally::profile
