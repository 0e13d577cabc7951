#include "tally/counting/profile/debug_files.hpp"

#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tally/counting/profile/debug_servers.hpp"
#include "tally/counting/profile/file_bounds.hpp"
#include "tally/linux/descriptor.hpp"

namespace tally::profile {
namespace {

constexpr std::string_view global_folder = "/usr/lib/debug";

std::string hexadecimal(const unsigned char* bits, std::size_t bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes; ++i) text += fmt::format("{:02x}", bits[i]);
  return text;
}

/// Returns the build ID of an open file; empty if it has none.
std::string build_id_of_file(int file) {
  elf_version(EV_CURRENT);
  Elf* const elf = elf_begin(file, ELF_C_READ_MMAP, nullptr);
  if (elf == nullptr) return "";
  const void* bits = nullptr;
  const ssize_t bytes = dwelf_elf_gnu_build_id(elf, &bits);
  std::string text =
      bytes > 0 ? hexadecimal(static_cast<const unsigned char*>(bits), static_cast<std::size_t>(bytes)) : "";
  elf_end(elf);
  return text;
}

bool is_beyond_bounds(int file) {
  elf_version(EV_CURRENT);
  Elf* const elf = elf_begin(file, ELF_C_READ_MMAP, nullptr);
  if (elf == nullptr) return true;
  const FileBounds bounds = bounds_of(elf);
  elf_end(elf);
  return !bounds.symbols.empty() || !bounds.debug.empty();
}

/// The checksum of .gnu_debuglink (GDB manual, "Separate Debug Files"): CRC-32 with the polynomial of Ethernet.
std::uint32_t check_sum(int file) {
  static const auto table = [] {
    std::array<std::uint32_t, 256> values{};
    for (std::uint32_t i = 0; i < values.size(); ++i) {
      values[i] = i;
      for (int bit = 0; bit < 8; ++bit) values[i] = (values[i] >> 1) ^ ((values[i] & 1) != 0 ? 0xedb88320U : 0U);
    }
    return values;
  }();
  std::uint32_t sum = ~std::uint32_t{0};
  std::vector<unsigned char> part(1 << 16);
  ssize_t got = 0;
  for (off_t at = 0; (got = pread(file, part.data(), part.size(), at)) > 0; at += got)
    for (ssize_t i = 0; i < got; ++i) sum = table[(sum ^ part[static_cast<std::size_t>(i)]) & 0xff] ^ (sum >> 8);
  return ~sum;
}

linux::Descriptor open_file(const std::string& path) {
  // O_NONBLOCK: a pipe of this name must not block tally.
  linux::Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat status {};
  if (!file || fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return {};
  return file;
}

/// Returns where a debug file of that name may be, for a program or library at `file`.
std::vector<std::string> candidates(std::string_view file, std::string_view link) {
  const std::string folder(file.substr(0, file.rfind('/') + 1)), name(link);
  if (name.starts_with('/')) return {name, std::string(global_folder) + name};
  return {folder + name, folder + ".debug/" + name, fmt::format("{}{}{}", global_folder, folder, name)};
}

int search(Dwfl_Module* module, void** data, const char* name, Dwarf_Addr base, const char* file, const char* link,
           GElf_Word crc, char** found) {
  // If there is debug information already, this is a search for the part that it shares with other files (dwz), whose
  // build ID libdwfl has.
  if (const int by_id = dwfl_build_id_find_debuginfo(module, data, name, base, file, link, crc, found); by_id >= 0)
    return by_id;
  const std::string own_id = build_id_of(module);
  const std::string_view path = file == nullptr ? std::string_view() : std::string_view(file);
  // A file that names no debug file may still have one with its own name.
  const bool is_named = link != nullptr && *link != 0;
  const std::string link_name = is_named         ? std::string(link)
                                : own_id.empty() ? ""
                                                 : std::string(path.substr(path.rfind('/') + 1)) + ".debug";
  if (!link_name.empty()) {
    for (const std::string& one : candidates(path, link_name)) {
      linux::Descriptor opened = open_file(one);
      if (!opened) continue;
      // A file next to a program may be malicious.
      if (is_beyond_bounds(opened.get())) continue;
      const std::string its_id = build_id_of_file(opened.get());
      // The shared file has no checksum, and a build ID of its own, which libdw compares.
      const bool is_same = !is_named ? its_id == own_id
                           : crc == 0
                               ? !its_id.empty() && its_id != own_id
                               : (own_id.empty() || its_id.empty() ? check_sum(opened.get()) == crc : its_id == own_id);
      if (!is_same) continue;
      *found = strdup(one.c_str());
      return opened.release();
    }
  }
  if (crc == 0 && is_named) return -1;
  const auto fetched = debug_file_from_servers(own_id, std::string(path));
  if (!fetched) return -1;
  linux::Descriptor opened = open_file(*fetched);
  if (!opened || build_id_of_file(opened.get()) != own_id) return -1;
  *found = strdup(fetched->c_str());
  return opened.release();
}

}  // namespace

std::string build_id_of(Dwfl_Module* module) {
  const unsigned char* bits = nullptr;
  GElf_Addr address = 0;
  const int bytes = dwfl_module_build_id(module, &bits, &address);
  return bytes > 0 ? hexadecimal(bits, static_cast<std::size_t>(bytes)) : "";
}

int find_debug_file(Dwfl_Module* module, void** data, const char* name, Dwarf_Addr base, const char* file,
                    const char* link, GElf_Word crc, char** found) {
  const int opened = search(module, data, name, base, file, link, crc, found);
  auto* const noted = static_cast<std::vector<DebugFile>*>(*data);
  if (opened < 0 || noted == nullptr || *found == nullptr) return opened;
  DebugFile one{*found, linux::file_state(opened).value_or(linux::FileState{})};
  if (std::find(noted->begin(), noted->end(), one) == noted->end()) noted->push_back(std::move(one));
  return opened;
}

void note_debug_file(Dwfl_Module* module) {
  void** data = nullptr;
  Dwarf_Addr base = 0, bias = 0;
  const char* file = nullptr;
  const char* const name = dwfl_module_info(module, &data, &base, nullptr, nullptr, nullptr, &file, nullptr);
  Elf* const elf = dwfl_module_getelf(module, &bias);
  if (elf == nullptr) return;
  GElf_Word crc = 0;
  const char* const link = dwelf_elf_gnu_debuglink(elf, &crc);
  char* found = nullptr;
  const linux::Descriptor opened(find_debug_file(module, data, name, base, file, link, crc, &found));
  std::free(found);
}

}  // namespace tally::profile
