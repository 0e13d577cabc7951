#include "tally/linux/symbol/bolt_functions.hpp"

#include <elf.h>

#include <algorithm>
#include <tuple>
#include <unordered_map>

#include "tally/linux/symbol/elf_bytes.hpp"
#include "tally/linux/symbol/frames.hpp"

namespace tally::symbol {
namespace {

struct BoltSymbol {
  std::uint64_t address = 0, bytes = 0;
  std::string_view name, unit;  // unit: of a local symbol, its source file
  unsigned type = STT_NOTYPE;
  bool is_local = false, is_code = false;
  std::uint64_t section_end = 0;
};

/// Reads the symbols that are in memory, in the order in which BOLT sees them.
std::vector<BoltSymbol> symbols_in_memory(const Bytes& file, const Elf64_Ehdr& header) {
  std::vector<Elf64_Shdr> sections;
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    const auto section = file.at<Elf64_Shdr>(header.e_shoff + std::uint64_t{i} * header.e_shentsize);
    if (!section) return {};
    sections.push_back(*section);
  }
  std::vector<BoltSymbol> symbols;
  const auto table = std::find_if(sections.begin(), sections.end(),
                                  [](const Elf64_Shdr& section) { return section.sh_type == SHT_SYMTAB; });
  if (table == sections.end() || table->sh_link >= sections.size()) return {};
  const std::string_view names = file.part(sections[table->sh_link].sh_offset, sections[table->sh_link].sh_size);
  std::string_view unit;
  for (std::uint64_t at = sizeof(Elf64_Sym); at + sizeof(Elf64_Sym) <= table->sh_size; at += sizeof(Elf64_Sym)) {
    const auto symbol = file.at<Elf64_Sym>(table->sh_offset + at);
    if (!symbol) break;
    BoltSymbol read{.address = symbol->st_value, .bytes = symbol->st_size, .name = {}, .unit = {}};
    read.type = ELF64_ST_TYPE(symbol->st_info);
    read.name = text_at(names, symbol->st_name);
    if (symbol->st_shndx == SHN_UNDEF) continue;
    if (read.type == STT_FILE) {
      // LLVM's link-time optimization does not always write this name, so BOLT ignores it.
      if (read.name != "ld-temp.o") unit = read.name;
      continue;
    }
    if (symbol->st_shndx < sections.size()) {
      const Elf64_Shdr& section = sections[symbol->st_shndx];
      if ((section.sh_flags & SHF_ALLOC) == 0) continue;
      read.is_code = (section.sh_flags & SHF_EXECINSTR) != 0;
      read.section_end = section.sh_addr + section.sh_size;
    }
    if (read.address == 0) continue;
    read.is_local = ELF64_ST_BIND(symbol->st_info) == STB_LOCAL;
    if (read.is_local) read.unit = unit;
    symbols.push_back(read);
  }
  const auto key = [](const BoltSymbol& s) {
    return std::tuple(s.address, s.type == STT_FUNC ? 0 : s.type == STT_SECTION ? 2 : 1);
  };
  std::stable_sort(symbols.begin(), symbols.end(),
                   [&](const BoltSymbol& a, const BoltSymbol& b) { return key(a) < key(b); });
  return symbols;
}

}  // namespace

BoltFile read_bolt_file(std::string_view elf) {
  const Bytes file(elf);
  const auto header = file.at<Elf64_Ehdr>(0);
  BoltFile result;
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_ident[EI_CLASS] != ELFCLASS64)
    return result;
  for (unsigned i = 0; i < header->e_phnum; ++i) {
    const auto segment = file.at<Elf64_Phdr>(header->e_phoff + std::uint64_t{i} * header->e_phentsize);
    if (segment && segment->p_type == PT_LOAD && (segment->p_flags & PF_X))
      result.executable.push_back({segment->p_offset, segment->p_filesz, segment->p_vaddr});
  }
  std::unordered_map<std::uint64_t, std::uint64_t> frames;
  for (const Frame& frame : frames_of(elf)) frames[frame.address] = frame.bytes;
  std::unordered_map<std::string, unsigned> used;
  std::vector<std::uint64_t> section_ends;  // of each function
  const auto unique = [&](const std::string& name) { return name + "/" + std::to_string(++used[name]); };
  for (const BoltSymbol& symbol : symbols_in_memory(file, *header)) {
    std::string name(symbol.name);
    if (name.starts_with(".L")) name.insert(0, "PG");
    if (symbol.is_local && !name.empty()) {
      const std::string by_unit =
          symbol.type == STT_FUNC && !symbol.unit.empty() ? name + "/" + std::string(symbol.unit) : "";
      name = unique(name);
      if (!by_unit.empty()) name = unique(by_unit);
    }
    if (name.empty() || !symbol.is_code || symbol.type == STT_SECTION || symbol.address >= symbol.section_end) continue;
    BoltFunction* const last = result.functions.empty() ? nullptr : &result.functions.back();
    if (last != nullptr && last->address == symbol.address) {
      last->bytes = std::max(last->bytes, symbol.bytes);
      if (!symbol.is_local && last->name.find('/') != std::string::npos) last->name = std::move(name);
      continue;
    }
    // Another entry, or a label, of the function before it.
    if (last != nullptr && symbol.address - last->address < last->bytes) continue;
    const auto frame = frames.find(symbol.address);
    section_ends.push_back(symbol.section_end);
    result.functions.push_back(
        {symbol.address, std::max(symbol.bytes, frame == frames.end() ? 0 : frame->second), std::move(name)});
  }
  for (std::size_t i = 0; i < result.functions.size(); ++i) {
    if (result.functions[i].bytes != 0) continue;
    std::uint64_t end = section_ends[i];
    if (i + 1 < result.functions.size()) end = std::min(end, result.functions[i + 1].address);
    result.functions[i].bytes = end - result.functions[i].address;
  }
  return result;
}

}  // namespace tally::symbol
