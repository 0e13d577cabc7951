#include "tally/counting/backend/perf/profile/address_spaces.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <span>
#include <string>

namespace tally::backend::perf {
namespace {

// The kernel's code that is mapped into every process. Addresses are offsets from where it is mapped.
constexpr std::string_view vdso = "[vdso]";

result::CodeFile file_of(std::string_view name, std::uint64_t inode, std::uint32_t major, std::uint32_t minor,
                         std::span<const std::byte> build_id = {}) {
  result::CodeFile file{std::string(name), inode, major, minor};
  if (!build_id.empty()) {
    file.identity.emplace();
    for (const std::byte byte : build_id) file.identity->build_id += fmt::format("{:02x}", static_cast<unsigned>(byte));
  }
  // The kernel's name for memory without a file (mm/mmap.c); the list of mappings has an empty name for it.
  if (!file.is_file() && file.path == "//anon") file.path.clear();
  if (file.is_file()) file.path = linux::without_deleted(std::move(file.path));
  file.by_offset = !file.is_file() && file.path == vdso;
  return file;
}

}  // namespace

std::uint32_t AddressSpaces::file(const result::CodeFile& file) {
  const std::string build_id = file.identity ? file.identity->build_id : "";
  const auto [place, is_new] = numbers_.try_emplace(
      {file.path, file.inode, file.device_major, file.device_minor, file.generation, build_id}, files_.size());
  if (is_new) files_.push_back(file);
  return place->second;
}

// Replaces what was mapped there before; the rest of it on either side stays.
void AddressSpaces::map(Space& space, std::uint64_t start, const Mapped& mapped) {
  auto at = space.upper_bound(start);
  if (at != space.begin()) --at;
  while (at != space.end() && at->first < mapped.end) {
    const auto [from, old] = *at;
    if (old.end <= start) {
      ++at;
      continue;
    }
    at = space.erase(at);
    if (from < start) space[from] = {start, old.offset, old.file};
    if (old.end > mapped.end)
      at = space.insert_or_assign(mapped.end, Mapped{old.end, old.offset + (mapped.end - from), old.file}).first;
  }
  space[start] = mapped;
}

void AddressSpaces::add(std::int32_t process, const linux::CodeMapping& mapping) {
  result::CodeFile of = file_of(mapping.path, mapping.inode, mapping.device_major, mapping.device_minor);
  of.mapped_ns = began_ns_;
  map(spaces_[process], mapping.start, {mapping.end, of.by_offset ? 0 : mapping.offset, file(of)});
}

void AddressSpaces::see(const linux::CodeRecord& record) {
  using Kind = linux::CodeRecord::Kind;
  if (record.what == Kind::executed) spaces_[record.process].clear();
  if (record.what == Kind::begun && record.process != record.parent_process)
    spaces_[record.process] = spaces_[record.parent_process];
  if (record.what != Kind::mapped) return;
  result::CodeFile of = file_of(record.name, record.inode, record.device_major, record.device_minor, record.build_id);
  of.generation = record.generation;
  if (record.inode != 0) of.mapped_ns = record.time_ns + since_1970_ns_;
  map(spaces_[record.process], record.address,
      {record.address + record.bytes, of.by_offset ? 0 : record.offset, file(of)});
}

std::optional<CodePlace> AddressSpaces::find(std::int32_t process, std::uint64_t address) const {
  const auto space = spaces_.find(process);
  if (space == spaces_.end()) return std::nullopt;
  const auto after = space->second.upper_bound(address);
  if (after == space->second.begin()) return std::nullopt;
  const auto& [start, mapped] = *std::prev(after);
  if (address >= mapped.end) return std::nullopt;
  const result::CodeFile& of = files_[mapped.file];
  const bool by_offset = of.is_file() || of.by_offset;
  return CodePlace{mapped.file, by_offset ? address - start + mapped.offset : address};
}

CodePlace AddressSpaces::place(std::int32_t process, std::uint64_t address) {
  const auto found = find(process, address);
  return found ? *found : CodePlace{file({}), address};
}

CodePlace AddressSpaces::kernels(std::uint64_t address) {
  return {file({std::string(result::kernel_code), 0, 0, 0, true}), address};
}

CodePlace AddressSpaces::guests(std::uint64_t address) { return {file({"[virtual machine]", 0, 0, 0, true}), address}; }

}  // namespace tally::backend::perf
