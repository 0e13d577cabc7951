#include "tally/counting/profile/linked_functions.hpp"

#include <gelf.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <string_view>

#include "tally/linux/symbol/names.hpp"

namespace tally::profile {
namespace {

constexpr std::uint64_t entry_bytes = 16;

/// The symbols that the dynamic linker resolves, by the address of their slot.
struct Slots {
  std::map<std::uint64_t, std::string> by_address;
  std::vector<std::string> by_number;  // by index in .rela.plt
};

template <class T>
T number_at(std::string_view bytes, std::size_t at) {
  T value{};
  if (at + sizeof value <= bytes.size()) std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

void read_relocations(::Elf* file, Elf_Scn* section, const GElf_Shdr& head, bool is_numbered, Slots& slots) {
  GElf_Shdr table;
  Elf_Scn* const symbols = elf_getscn(file, head.sh_link);
  Elf_Data* const data = elf_getdata(section, nullptr);
  Elf_Data* const symbol_data = symbols == nullptr ? nullptr : elf_getdata(symbols, nullptr);
  if (data == nullptr || symbol_data == nullptr || gelf_getshdr(symbols, &table) == nullptr) return;
  GElf_Rela one;
  for (int i = 0; gelf_getrela(data, i, &one) != nullptr; ++i) {
    GElf_Sym symbol;
    const char* name = nullptr;
    if (GELF_R_SYM(one.r_info) != 0 &&
        gelf_getsym(symbol_data, static_cast<int>(GELF_R_SYM(one.r_info)), &symbol) != nullptr)
      name = elf_strptr(file, table.sh_link, symbol.st_name);
    if (is_numbered) slots.by_number.emplace_back(name == nullptr ? "" : name);
    if (name != nullptr && *name != 0) slots.by_address[one.r_offset] = name;
  }
}

const std::string* slot_at(const Slots& slots, std::uint64_t address) {
  const auto found = slots.by_address.find(address);
  return found == slots.by_address.end() ? nullptr : &found->second;
}

/// Decodes [endbr64] [bnd] jmp *[rip + displacement], or the lazy-binding form: endbr64; push number.
const std::string* x86_entry(std::string_view code, std::uint64_t address, const Slots& slots) {
  std::size_t at = 0;
  if (number_at<std::uint32_t>(code, 0) == 0xfa1e0ff3) at = 4;
  if (at != 0 && number_at<std::uint8_t>(code, at) == 0x68) {
    const auto number = number_at<std::uint32_t>(code, at + 1);
    return number < slots.by_number.size() && !slots.by_number[number].empty() ? &slots.by_number[number] : nullptr;
  }
  if (number_at<std::uint8_t>(code, at) == 0xf2) ++at;
  if (number_at<std::uint16_t>(code, at) != 0x25ff) return nullptr;
  const auto displacement = static_cast<std::uint64_t>(std::int64_t{number_at<std::int32_t>(code, at + 2)});
  return slot_at(slots, address + at + 6 + displacement);
}

/// Decodes [bti c] adrp x16, page; ldr x17, [x16, offset].
const std::string* arm_entry(std::string_view code, std::uint64_t address, const Slots& slots) {
  const std::size_t at = number_at<std::uint32_t>(code, 0) == 0xd503245f ? 4 : 0;
  const auto page = number_at<std::uint32_t>(code, at), load = number_at<std::uint32_t>(code, at + 4);
  if ((page & 0x9f00001f) != 0x90000010 || (load & 0xffc003ff) != 0xf9400211) return nullptr;
  const std::uint64_t pages = std::uint64_t{page >> 5 & 0x7ffff} << 2 | (page >> 29 & 3);
  constexpr std::uint64_t sign = 1ull << 20;
  const std::uint64_t distance = ((pages ^ sign) - sign) << 12;
  return slot_at(slots, ((address + at) & ~0xfffull) + distance + (load >> 10 & 0xfff) * 8);
}

}  // namespace

std::vector<NamedCode> linked_functions(::Elf* file) {
  std::vector<NamedCode> found;
  GElf_Ehdr header;
  std::size_t names = 0;
  if (gelf_getehdr(file, &header) == nullptr || elf_getshdrstrndx(file, &names) != 0) return found;
  const bool is_x86 = header.e_machine == EM_X86_64;
  if (!is_x86 && header.e_machine != EM_AARCH64) return found;
  Slots slots;
  const auto each_section = [&](const auto& f) {
    for (Elf_Scn* section = nullptr; (section = elf_nextscn(file, section)) != nullptr;) {
      GElf_Shdr head;
      const char* const name =
          gelf_getshdr(section, &head) == nullptr ? nullptr : elf_strptr(file, names, head.sh_name);
      if (name != nullptr) f(section, head, std::string_view(name));
    }
  };
  each_section([&](Elf_Scn* section, const GElf_Shdr& head, std::string_view name) {
    if (head.sh_type == SHT_RELA) read_relocations(file, section, head, name == ".rela.plt", slots);
  });
  each_section([&](Elf_Scn* section, const GElf_Shdr& head, std::string_view name) {
    if (!name.starts_with(".plt") || (head.sh_flags & SHF_EXECINSTR) == 0 || head.sh_type != SHT_PROGBITS) return;
    Elf_Data* const data = elf_getdata(section, nullptr);
    if (data == nullptr || data->d_buf == nullptr) return;
    const std::string_view code(static_cast<const char*>(data->d_buf), data->d_size);
    const std::uint64_t step = !is_x86 ? 4 : head.sh_entsize == 8 ? 8 : entry_bytes;
    for (std::uint64_t at = 0; at + 8 <= code.size(); at += step) {
      const std::uint64_t address = head.sh_addr + at;
      const std::string* const symbol =
          is_x86 ? x86_entry(code.substr(at), address, slots) : arm_entry(code.substr(at), address, slots);
      if (symbol == nullptr) continue;
      const std::string linker_name = *symbol + "@plt";
      NamedCode code_of_entry{symbol::demangled(*symbol) + "@plt", address, is_x86 ? step : entry_bytes, false};
      if (code_of_entry.name != linker_name) code_of_entry.linker_name = linker_name;
      // An entry that starts with bti was found at its first instruction already.
      if (!found.empty() && address - found.back().address < found.back().bytes) continue;
      found.push_back(std::move(code_of_entry));
    }
  });
  std::sort(found.begin(), found.end(), [](const NamedCode& a, const NamedCode& b) { return a.address < b.address; });
  return found;
}

}  // namespace tally::profile
