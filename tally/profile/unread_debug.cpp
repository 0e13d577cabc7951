#include "tally/profile/unread_debug.hpp"

#include <dwarf.h>
#include <elfutils/libdwelf.h>
#include <fmt/format.h>
#include <gelf.h>

#include <string_view>

#include "tally/linux/files/memory_file.hpp"

namespace tally::profile {
namespace {

std::string text_of(Dwarf_Die& die, unsigned int kind) {
  Dwarf_Attribute attribute;
  const char* const text = dwarf_formstring(dwarf_attr(&die, kind, &attribute));
  return text == nullptr ? "" : text;
}

}  // namespace

std::optional<std::string> unread_split_unit(Dwarf_Die& unit, const std::string& program) {
  std::uint8_t type = 0;
  Dwarf_Die split{};
  if (dwarf_cu_info(unit.cu, nullptr, &type, nullptr, &split, nullptr, nullptr, nullptr) != 0 ||
      type != DW_UT_skeleton || split.addr != nullptr)
    return std::nullopt;
  std::string name = text_of(unit, DW_AT_dwo_name);
  if (name.empty()) name = text_of(unit, DW_AT_GNU_dwo_name);
  const std::string folder = text_of(unit, DW_AT_comp_dir);
  const std::string path = name.starts_with('/') || folder.empty() ? name : folder + "/" + name;
  if (const std::string package = program + ".dwp"; linux::exists(package))
    return fmt::format("{}: packages of debug information are not read; keep {} where the compiler wrote it", package,
                       path);
  return fmt::format("{}: it {}", path, linux::exists(path) ? "is of another build" : "is missing");
}

std::optional<std::string> unread_shared_file(Dwarf* dwarf) {
  const char* name = nullptr;
  const void* build_id = nullptr;
  if (dwelf_dwarf_gnu_debugaltlink(dwarf, &name, &build_id) <= 0 || name == nullptr || dwarf_getalt(dwarf) != nullptr)
    return std::nullopt;
  return fmt::format("{}: it is missing, or of another build", name);
}

std::optional<std::string> unread_compression(const std::string& path, ::Elf* file) {
  constexpr std::uint32_t known = ELFCOMPRESS_ZLIB;
  std::size_t names = 0;
  if (elf_getshdrstrndx(file, &names) != 0) return std::nullopt;
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(file, section)) != nullptr;) {
    GElf_Shdr head;
    if (gelf_getshdr(section, &head) == nullptr || (head.sh_flags & SHF_COMPRESSED) == 0) continue;
    const char* const name = elf_strptr(file, names, head.sh_name);
    if (name == nullptr || !std::string_view(name).starts_with(".debug")) continue;
    // As gelf_getchdr() fails with what it does not know.
    GElf_Chdr compressed;
    Elf_Data* const data = elf_rawdata(section, nullptr);
    if (data == nullptr || data->d_size < sizeof(Elf64_Chdr)) continue;
    if (gelf_getchdr(section, &compressed) != nullptr && compressed.ch_type == known) continue;
    return fmt::format(
        "{}: its debug information is compressed in a way that is not read (zstd?); `objcopy "
        "--decompress-debug-sections` makes a file that is",
        path);
  }
  return std::nullopt;
}

}  // namespace tally::profile
