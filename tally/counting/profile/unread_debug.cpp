#include "tally/counting/profile/unread_debug.hpp"

#include <dwarf.h>
#include <elfutils/libdwelf.h>
#include <elfutils/version.h>
#include <fmt/format.h>
#include <gelf.h>

#include <cstring>
#include <string_view>

#include "tally/linux/files/memory_file.hpp"

namespace tally::profile {
namespace {

std::string text_of(Dwarf_Die& die, unsigned int kind) {
  Dwarf_Attribute attribute;
  const char* const text = dwarf_formstring(dwarf_attr(&die, kind, &attribute));
  return text == nullptr ? "" : text;
}

/// Returns the name of the library that reads debug information.
std::string reader() {
  return fmt::format("elfutils {}.{}, which this tally is built with,", _ELFUTILS_VERSION / 1000,
                     _ELFUTILS_VERSION % 1000);
}

constexpr std::uint32_t zlib = ELFCOMPRESS_ZLIB, zstd = 2;

bool is_read(std::uint32_t compression) {
  return compression == zlib || (compression == zstd && _ELFUTILS_PREREQ(0, 189) != 0);
}

std::string compression_name(std::uint32_t compression) {
  return compression == zstd ? "zstd" : fmt::format("method {}", compression);
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
    return fmt::format("{}: {} does not read packages of debug information; keep {} where the compiler wrote it",
                       package, reader(), path);
  return fmt::format("{}: it {}", path, linux::exists(path) ? "is of another build" : "is missing");
}

std::optional<std::string> unread_shared_file(Dwarf* dwarf) {
  const char* name = nullptr;
  const void* build_id = nullptr;
  if (dwelf_dwarf_gnu_debugaltlink(dwarf, &name, &build_id) <= 0 || name == nullptr || dwarf_getalt(dwarf) != nullptr)
    return std::nullopt;
  return fmt::format("{}: it is missing, or of another build", name);
}

std::optional<std::string> unread_lines(const std::string& path, Dwarf_Die& unit) {
  Dwarf_Lines* rows = nullptr;
  std::size_t count = 0;
  if (!dwarf_hasattr(&unit, DW_AT_stmt_list) || dwarf_getsrclines(&unit, &rows, &count) == 0) return std::nullopt;
  return fmt::format("{}: a table of lines is damaged: {}", path, dwarf_errmsg(-1));
}

std::optional<std::string> unread_sections(const std::string& path, ::Elf* file, const char* why) {
  std::size_t names = 0;
  bool has_debug = false;
  if (elf_getshdrstrndx(file, &names) != 0) return fmt::format("{}: its table of sections is damaged", path);
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(file, section)) != nullptr;) {
    GElf_Shdr head;
    if (gelf_getshdr(section, &head) == nullptr) continue;
    const char* const name = elf_strptr(file, names, head.sh_name);
    if (name == nullptr || !std::string_view(name).starts_with(".debug")) continue;
    has_debug |= std::string_view(name) == ".debug_info" || std::string_view(name) == ".debug_line";
    if ((head.sh_flags & SHF_COMPRESSED) == 0) continue;
    // gelf_getchdr() fails for an unknown method. The method is the first word, in this machine's byte order, because
    // tally reads programs that ran here.
    const Elf_Data* const data = elf_rawdata(section, nullptr);
    std::uint32_t method = 0;
    if (data == nullptr || data->d_size < sizeof(Elf64_Chdr)) continue;
    std::memcpy(&method, data->d_buf, sizeof method);
    if (is_read(method)) continue;
    return fmt::format(
        "{}: its debug information is compressed by {}, which {} does not read; `objcopy --decompress-debug-sections` "
        "makes a file that it reads",
        path, compression_name(method), reader());
  }
  if (why == nullptr || !has_debug) return std::nullopt;
  return fmt::format("{}: it is damaged: {}", path, why);
}

}  // namespace tally::profile
