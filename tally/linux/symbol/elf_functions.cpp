#include "tally/linux/symbol/elf_functions.hpp"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <tuple>

#include "tally/linux/symbol/elf_bytes.hpp"

namespace tally::symbol {
namespace {

constexpr std::uint64_t page_bytes = 4096;

// Longer names are cut: many symbols may have the same one, and all are compared.
constexpr std::size_t most_name = 4096;

/// Calls each(table's type, index, symbol, names) for the symbols of all tables. Returns false if the file's section
/// headers are truncated.
template <class Each>
bool each_symbol(const Bytes& file, const Elf64_Ehdr& header, std::size_t file_bytes, Each&& each) {
  std::uint64_t n = 0;
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    const auto table = file.at<Elf64_Shdr>(header.e_shoff + std::uint64_t{i} * header.e_shentsize);
    if (!table) return false;
    if (table->sh_type != SHT_SYMTAB && table->sh_type != SHT_DYNSYM) continue;
    const auto strings = file.at<Elf64_Shdr>(header.e_shoff + std::uint64_t{table->sh_link} * header.e_shentsize);
    // A file may claim to have many tables, all the same: reads no more symbols than the file has room for.
    if (!strings || n > file_bytes / sizeof(Elf64_Sym)) continue;
    const std::string_view names = file.part(strings->sh_offset, strings->sh_size);
    for (std::uint64_t k = 0; k < table->sh_size / sizeof(Elf64_Sym); ++k, ++n) {
      const auto symbol = file.at<Elf64_Sym>(table->sh_offset + k * sizeof(Elf64_Sym));
      if (!symbol) break;
      each(table->sh_type, k, *symbol, names);
    }
  }
  return true;
}

/// Functions written in assembly may have no type.
bool is_code(const Elf64_Sym& symbol) {
  const unsigned type = ELF64_ST_TYPE(symbol.st_info);
  return (type == STT_FUNC || type == STT_GNU_IFUNC) && symbol.st_shndx != SHN_UNDEF && symbol.st_value != 0;
}

Function function_of(const Elf64_Sym& symbol, std::string_view names, std::uint32_t unit) {
  std::string_view name = text_at(names, symbol.st_name).substr(0, most_name);
  name = name.substr(0, name.find('@', 1));
  const bool is_local = ELF64_ST_BIND(symbol.st_info) == STB_LOCAL;
  return {name, symbol.st_value, ELF64_ST_TYPE(symbol.st_info) == STT_GNU_IFUNC, is_local, is_local ? unit : 0};
}

// Returns the header of a program or library; none for another file.
std::optional<Elf64_Ehdr> header_of(const Bytes& file) {
  const auto header = file.at<Elf64_Ehdr>(0);
  const bool is_elf = header && std::memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
                      header->e_ident[EI_CLASS] == ELFCLASS64 && header->e_ident[EI_DATA] == ELFDATA2LSB;
  return is_elf && (header->e_type == ET_EXEC || header->e_type == ET_DYN) ? header : std::nullopt;
}

// Returns the build ID in a segment with notes; empty if it has none.
std::string build_id_in(std::string_view segment) {
  constexpr std::string_view owner("GNU", 4);
  const Bytes notes(segment);
  for (std::uint64_t at = 0; const auto note = notes.at<Elf64_Nhdr>(at);) {
    const auto padded = [](std::uint64_t size) { return (size + 3) & ~std::uint64_t{3}; };
    const std::uint64_t name = at + sizeof *note, text = name + padded(note->n_namesz);
    if (text + note->n_descsz > segment.size()) break;
    if (note->n_type == NT_GNU_BUILD_ID && notes.part(name, note->n_namesz) == owner) {
      std::string id;
      for (const char c : notes.part(text, note->n_descsz))
        for (const int shift : {4, 0}) id += "0123456789abcdef"[static_cast<unsigned char>(c) >> shift & 15];
      return id;
    }
    at = text + padded(note->n_descsz);
  }
  return {};
}

std::string_view content_at(const Bytes& file, const Elf64_Ehdr& header, std::uint64_t address, std::uint64_t bytes) {
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    const auto part = file.at<Elf64_Phdr>(header.e_phoff + std::uint64_t{i} * header.e_phentsize);
    if (!part || part->p_type != PT_LOAD || address < part->p_vaddr || address - part->p_vaddr > part->p_filesz ||
        part->p_filesz - (address - part->p_vaddr) < bytes)
      continue;
    return file.part(part->p_offset + (address - part->p_vaddr), bytes);
  }
  return {};
}

}  // namespace

std::optional<Exported> find_exported(std::string_view bytes, std::string_view name) {
  const Bytes file(bytes);
  const auto header = header_of(file);
  std::optional<Exported> exported;
  if (header)
    each_symbol(file, *header, bytes.size(), [&](auto type, auto, const Elf64_Sym& symbol, auto names) {
      if (exported || type != SHT_DYNSYM || symbol.st_shndx == SHN_UNDEF || text_at(names, symbol.st_name) != name)
        return;
      exported = {symbol.st_value, symbol.st_size, content_at(file, *header, symbol.st_value, symbol.st_size)};
    });
  return exported;
}

Result<Elf> read_elf(std::string_view bytes) {
  const Bytes file(bytes);
  const auto header = header_of(file);
  if (!header) {
    return fail(Code::bad_usage, "it is not a 64-bit program or shared library (ELF)");
  }
  Elf elf;
  for (unsigned i = 0; i < header->e_phnum; ++i) {
    const auto part = file.at<Elf64_Phdr>(header->e_phoff + std::uint64_t{i} * header->e_phentsize);
    if (!part) return fail(Code::bad_usage, "its program headers are truncated");
    if (part->p_type == PT_INTERP) elf.dynamic = true;
    if (part->p_type == PT_NOTE && elf.build_id.empty())
      elf.build_id = build_id_in(file.part(part->p_offset, part->p_filesz));
    if (part->p_type == PT_LOAD && (part->p_flags & PF_X))
      elf.executable.push_back({part->p_offset, part->p_filesz, part->p_vaddr});
  }
  elf.stripped = true;
  std::uint32_t unit = 0;  // of the local symbols that follow
  if (!each_symbol(file, *header, bytes.size(), [&](auto type, auto index, const Elf64_Sym& symbol, auto names) {
        if (type == SHT_SYMTAB) elf.stripped = false;
        if (index == 0 || ELF64_ST_TYPE(symbol.st_info) == STT_FILE) unit = static_cast<std::uint32_t>(index);
        if (!is_code(symbol)) return;
        if (const Function function = function_of(symbol, names, unit); !function.name.empty())
          elf.functions.push_back(function);
      }))
    return fail(Code::bad_usage, "its section headers are truncated");
  // Exported functions are in both tables; a name that both contain, local and global, is one function.
  const auto key = [](const Function& f) { return std::tuple(f.address, f.name, f.local); };
  std::sort(elf.functions.begin(), elf.functions.end(),
            [&](const Function& a, const Function& b) { return key(a) < key(b); });
  const auto same = [](const Function& a, const Function& b) { return a.address == b.address && a.name == b.name; };
  elf.functions.erase(std::unique(elf.functions.begin(), elf.functions.end(), same), elf.functions.end());
  return elf;
}

std::optional<Function> function_at(std::string_view bytes, std::uint64_t offset) {
  const Bytes file(bytes);
  const auto header = header_of(file);
  std::optional<std::uint64_t> address;
  for (unsigned i = 0; header && !address && i < header->e_phnum; ++i) {
    const auto segment = file.at<Elf64_Phdr>(header->e_phoff + std::uint64_t{i} * header->e_phentsize);
    if (segment && segment->p_type == PT_LOAD && (segment->p_flags & PF_X) &&
        offset - segment->p_offset < segment->p_filesz)
      address = offset - segment->p_offset + segment->p_vaddr;
  }
  if (!address) return std::nullopt;
  Function last;
  bool contains = false;
  each_symbol(file, *header, bytes.size(), [&](auto type, auto, const Elf64_Sym& symbol, auto names) {
    if (symbol.st_value > *address || symbol.st_value < last.address || !is_code(symbol)) return;
    const Function function = function_of(symbol, names, 0);
    if (function.name.empty()) return;
    // The code may be in a function without a symbol that follows. Without a size, only a table with all symbols says.
    contains = (contains && function.address == last.address) ||
               (symbol.st_size != 0 ? *address - function.address < symbol.st_size
                                    : type == SHT_SYMTAB || *address == function.address);
    if (std::tie(last.address, last.name) < std::tie(function.address, function.name)) last = function;
  });
  return contains ? std::optional(last) : std::nullopt;
}

std::optional<std::uint64_t> bias_of(const Elf& elf, std::uint64_t offset, std::uint64_t start) {
  for (const Segment& segment : elf.executable) {
    const std::uint64_t first = segment.offset / page_bytes * page_bytes;
    if (offset < first || offset >= segment.offset + segment.bytes) continue;
    return start - offset - (segment.address - segment.offset);
  }
  return std::nullopt;
}

}  // namespace tally::symbol
