// ELF images, 32 and 64 bit: the segments, the entry and the symbols. Source: the ELF specification, gABI 4.1.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "programs/lab/lab_image.hpp"

namespace tally::lab {
namespace {

using Bytes = std::vector<std::uint8_t>;

// Reads a little-endian number from the file; 0 outside of it.
std::uint64_t number(const Bytes& file, std::uint64_t at, unsigned size) {
  if (at > file.size() || size > file.size() - at) return 0;
  std::uint64_t value = 0;
  std::memcpy(&value, file.data() + at, size);
  return value;
}

std::string text(const Bytes& file, std::uint64_t at) {
  std::string word;
  for (; at < file.size() && file[at] != 0 && word.size() < 200; ++at) word += static_cast<char>(file[at]);
  return word;
}

// Offsets of fields in the headers of both classes.
struct Layout {
  unsigned word;                                                                                 // bytes of an address
  unsigned entry, segments, sections, segment_size, segment_count, section_size, section_count;  // in the file header
  unsigned offset, physical, in_file, in_memory;         // in a segment's header
  unsigned section_offset, section_bytes, section_link;  // in a section's header
  unsigned symbol_size, symbol_value, symbol_info;       // in a symbol
};
constexpr Layout wide{8, 24, 32, 40, 54, 56, 58, 60, 8, 24, 32, 40, 24, 32, 40, 24, 8, 4};
constexpr Layout narrow{4, 24, 28, 32, 42, 44, 46, 48, 4, 12, 16, 20, 16, 20, 24, 16, 4, 12};

void read_symbols(Image& image, const Bytes& file, const Layout& at) {
  const std::uint64_t sections = number(file, at.sections, at.word);
  const std::uint64_t size = number(file, at.section_size, 2);
  const std::uint64_t count = number(file, at.section_count, 2);
  constexpr std::uint64_t symbol_table = 2;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t section = sections + i * size;
    if (number(file, section + 4, 4) != symbol_table) continue;
    const std::uint64_t names = sections + number(file, section + at.section_link, 4) * size;
    const std::uint64_t names_at = number(file, names + at.section_offset, at.word);
    const std::uint64_t begin = number(file, section + at.section_offset, at.word);
    const std::uint64_t bytes = number(file, section + at.section_bytes, at.word);
    for (std::uint64_t symbol = begin; symbol + at.symbol_size <= begin + bytes; symbol += at.symbol_size) {
      if (symbol + at.symbol_size > file.size()) return;
      const std::uint64_t kind = number(file, symbol + at.symbol_info, 1) & 0xF;
      const std::string name = text(file, names_at + number(file, symbol, 4));
      if (kind <= 2 && !name.empty()) image.symbols.emplace(name, number(file, symbol + at.symbol_value, at.word));
    }
  }
}

// Multiboot specification 0.6.96, "Header layout": a magic number, flags, and a value that makes their sum 0.
bool has_multiboot_header(const Bytes& file) {
  constexpr std::uint64_t reach = 8192, magic = 0x1BAD'B002;
  for (std::uint64_t at = 0; at + 12 <= std::min<std::uint64_t>(file.size(), reach); at += 4) {
    const std::uint64_t sum = number(file, at, 4) + number(file, at + 4, 4) + number(file, at + 8, 4);
    if (number(file, at, 4) == magic && (sum & 0xFFFF'FFFF) == 0) return true;
  }
  return false;
}

// Whether the kernel starts this program: it names a dynamic linker, has thread-local data, or uses GNU's ABI.
bool is_linux_program(const Bytes& file, const Layout& at) {
  constexpr std::uint64_t gnu = 3, interpreter = 3, thread_local_data = 7;
  const std::uint64_t segments = number(file, at.segments, at.word);
  const std::uint64_t size = number(file, at.segment_size, 2), count = number(file, at.segment_count, 2);
  bool is_linux = number(file, 7, 1) == gnu;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t kind = number(file, segments + i * size, 4);
    is_linux = is_linux || kind == interpreter || kind == thread_local_data;
  }
  return is_linux;
}

}  // namespace

Result<Image> load_elf(const std::string& name, const Bytes& file) {
  const bool is_wide = number(file, 4, 1) == 2;
  const Layout& at = is_wide ? wide : narrow;
  const std::uint64_t machine = number(file, 18, 2);
  constexpr std::uint64_t i386 = 3, x86_64 = 62, aarch64 = 183;
  if (number(file, 5, 1) != 1 || (machine != i386 && machine != x86_64 && machine != aarch64)) {
    return fail(Code::bad_usage, fmt::format("'{}' is an ELF file for another machine", name),
                "the lab runs images for x86, 32 or 64 bit, and for AArch64");
  }
  if (!has_multiboot_header(file) && is_linux_program(file, at)) {
    return fail(Code::bad_usage, fmt::format("'{}' is a Linux program, not a bare-metal image", name),
                fmt::format("to count it: `tally stat -- {}`", name));
  }
  Image image;
  image.name = name;
  image.bits = is_wide ? 64 : 32;
  image.is_arm = machine == aarch64;
  // Such a program starts in 32 bits, whatever its file's class, and may switch to 64, so the emulator is started for
  // 64 bits.
  image.is_multiboot = machine != aarch64 && has_multiboot_header(file);
  if (image.is_multiboot) image.bits = 64;
  image.entry = number(file, at.entry, at.word);
  const std::uint64_t segments = number(file, at.segments, at.word);
  const std::uint64_t size = number(file, at.segment_size, 2);
  const std::uint64_t count = number(file, at.segment_count, 2);
  constexpr std::uint64_t load = 1;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t segment = segments + i * size;
    if (number(file, segment, 4) != load) continue;
    const std::uint64_t offset = number(file, segment + at.offset, at.word);
    const std::uint64_t in_file = number(file, segment + at.in_file, at.word);
    const std::uint64_t in_memory = number(file, segment + at.in_memory, at.word);
    if (offset > file.size() || in_file > file.size() - offset || in_memory > 1ULL << 30) {
      return fail(Code::bad_usage, fmt::format("'{}' is damaged: a segment is outside the file", name), "");
    }
    MemoryBlock part;
    part.address = number(file, segment + at.physical, at.word);
    part.bytes.assign(file.begin() + static_cast<std::ptrdiff_t>(offset),
                      file.begin() + static_cast<std::ptrdiff_t>(offset + in_file));
    part.bytes.resize(in_memory);
    image.memory_blocks.push_back(std::move(part));
  }
  if (image.memory_blocks.empty()) {
    return fail(Code::bad_usage, fmt::format("'{}' has nothing to load", name), "link it: it may be an object file");
  }
  read_symbols(image, file, at);
  return image;
}

}  // namespace tally::lab
