#include "tally/counting/profile/file_bounds.hpp"

#include <dwarf.h>
#include <fmt/format.h>
#include <gelf.h>
#include <lzma.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "tally/core/base/text.hpp"

namespace tally::profile {
namespace {

// libdw keeps what it unpacks in memory, for all sections together.
constexpr std::uint64_t most_debug = 400 << 20, most_symbols = 128 << 20;

/// Returns the unpacked size in the header of a compressed section; 0 for others.
std::uint64_t unpacked_bytes(Elf_Scn* section, const GElf_Shdr& head, std::string_view name) {
  GElf_Chdr compressed;
  if ((head.sh_flags & SHF_COMPRESSED) != 0)
    return gelf_getchdr(section, &compressed) == nullptr ? 0 : compressed.ch_size;
  if (!name.starts_with(".zdebug")) return 0;
  // The older format: "ZLIB", and the size in eight bytes, the highest first.
  const Elf_Data* const data = elf_rawdata(section, nullptr);
  if (data == nullptr || data->d_size < 12 || std::memcmp(data->d_buf, "ZLIB", 4) != 0) return 0;
  std::uint64_t bytes = 0;
  for (int i = 4; i < 12; ++i) bytes = bytes << 8 | static_cast<const unsigned char*>(data->d_buf)[i];
  return bytes;
}

/// Whether symbols packed by xz exceed the limit. Unpacks them, because the sizes in their index may be wrong.
bool is_too_much(const Elf_Data* packed) {
  lzma_stream stream = LZMA_STREAM_INIT;
  constexpr std::uint64_t memory = 256 << 20;
  if (packed == nullptr || lzma_stream_decoder(&stream, memory, 0) != LZMA_OK) return false;
  stream.next_in = static_cast<const std::uint8_t*>(packed->d_buf);
  stream.avail_in = packed->d_size;
  std::array<std::uint8_t, 1 << 16> part;
  lzma_ret state = LZMA_OK;
  while (state == LZMA_OK && stream.total_out <= most_symbols) {
    stream.next_out = part.data();
    stream.avail_out = part.size();
    state = lzma_code(&stream, LZMA_FINISH);
  }
  const bool too_much = stream.total_out > most_symbols || state == LZMA_MEMLIMIT_ERROR;
  lzma_end(&stream);
  return too_much;
}

}  // namespace

FileBounds bounds_of(Elf* elf) {
  FileBounds found;
  std::uint64_t debug = 0;
  std::size_t names = 0;
  if (elf_getshdrstrndx(elf, &names) != 0) return found;
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
    GElf_Shdr head;
    if (gelf_getshdr(section, &head) == nullptr || head.sh_type == SHT_NOBITS) continue;
    const char* const stored = elf_strptr(elf, names, head.sh_name);
    const std::string_view name = stored == nullptr ? "" : stored;
    const std::uint64_t bytes = unpacked_bytes(section, head, name);
    if (name.starts_with(".debug") || name.starts_with(".zdebug")) {
      // Limits each addition, so that the sum does not overflow.
      debug = std::min(most_debug + 1, debug + std::min(bytes, most_debug + 1));
    } else if (bytes > most_symbols || (name == ".gnu_debugdata" && is_too_much(elf_rawdata(section, nullptr)))) {
      found.symbols = fmt::format("its section {} unpacks to more than {}", printable(name),
                                  bytes_text(static_cast<std::int64_t>(most_symbols)));
    }
  }
  if (debug > most_debug)
    found.debug = fmt::format("it unpacks to more than {}", bytes_text(static_cast<std::int64_t>(most_debug)));
  return found;
}

std::uint64_t line_table_bytes(Elf* file, Dwarf_Die& unit) {
  Dwarf_Attribute attribute;
  Dwarf_Word offset = 0;
  std::size_t names = 0;
  if (dwarf_formudata(dwarf_attr(&unit, DW_AT_stmt_list, &attribute), &offset) != 0 || file == nullptr ||
      elf_getshdrstrndx(file, &names) != 0)
    return 0;
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(file, section)) != nullptr;) {
    GElf_Shdr head;
    const char* const name = gelf_getshdr(section, &head) == nullptr ? nullptr : elf_strptr(file, names, head.sh_name);
    if (name == nullptr || (std::strcmp(name, ".debug_line") != 0 && std::strcmp(name, ".zdebug_line") != 0)) continue;
    std::uint32_t length = 0;  // a 64-bit table starts with a number larger than any length
    const Elf_Data* const table = elf_getdata(section, nullptr);
    if (table == nullptr || offset > table->d_size || table->d_size - offset < sizeof length) return 0;
    std::memcpy(&length, static_cast<const char*>(table->d_buf) + offset, sizeof length);
    return std::min<std::uint64_t>(length, table->d_size - offset);
  }
  return 0;
}

}  // namespace tally::profile
