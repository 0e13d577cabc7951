#include "tally/linux/symbol/frames.hpp"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <unordered_map>

namespace tally::symbol {
namespace {

// Pointer encodings: DWARF Exception Header Encoding, LSB Core 5.0, section 10.5.
constexpr std::uint8_t omitted = 0xff, of_form = 0x0f, of_base = 0x70, from_here = 0x10, from_table = 0x30;

/// Reads the file from an offset on; a read outside of it makes good() false.
class Cursor {
 public:
  Cursor(std::string_view file, std::uint64_t at) : file_(file), at_(at) {}

  bool good() const { return good_; }
  std::uint64_t at() const { return at_; }
  void skip(std::uint64_t bytes) { at_ += bytes; }

  template <class T>
  T read() {
    T value{};
    if (at_ > file_.size() || file_.size() - at_ < sizeof(T)) {
      good_ = false;
      return value;
    }
    std::memcpy(&value, file_.data() + at_, sizeof value);
    at_ += sizeof value;
    return value;
  }

  std::uint64_t uleb() {
    std::uint64_t value = 0;
    for (int shift = 0; good_ && shift < 64; shift += 7) {
      const auto byte = read<std::uint8_t>();
      value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) break;
    }
    return value;
  }

  /// Reads a pointer in that encoding, without its base.
  std::uint64_t pointer(std::uint8_t encoding) {
    switch (encoding & of_form) {
      case 0x00:
      case 0x04:
      case 0x0c: return read<std::uint64_t>();
      case 0x01: return uleb();
      case 0x02: return read<std::uint16_t>();
      case 0x03: return read<std::uint32_t>();
      case 0x0a: return static_cast<std::uint64_t>(static_cast<std::int64_t>(read<std::int16_t>()));
      case 0x0b: return static_cast<std::uint64_t>(static_cast<std::int64_t>(read<std::int32_t>()));
      default: good_ = false; return 0;
    }
  }

 private:
  std::string_view file_;
  std::uint64_t at_;
  bool good_ = true;
};

// Each lookup of an entry searches all of them. A file may claim 65,535, but no linker makes a hundred.
constexpr std::size_t most_parts = 1024;

class Frames {
 public:
  explicit Frames(std::string_view file) : file_(file) {}

  std::vector<Frame> read() {
    Cursor at(file_, 0);
    const auto head = at.read<Elf64_Ehdr>();
    if (!at.good() || std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64)
      return {};
    std::optional<Elf64_Phdr> table;
    Cursor rows(file_, head.e_phoff);
    for (int i = 0; i < head.e_phnum; ++i) {
      const auto part = rows.read<Elf64_Phdr>();
      if (!rows.good()) return {};
      if (part.p_type == PT_LOAD && parts_.size() < most_parts) parts_.push_back(part);
      if (part.p_type == PT_GNU_EH_FRAME) table = part;
    }
    if (table) read_table(*table);
    std::sort(frames_.begin(), frames_.end(), [](const Frame& a, const Frame& b) { return a.address < b.address; });
    const auto same = [](const Frame& a, const Frame& b) { return a.address == b.address; };
    frames_.erase(std::unique(frames_.begin(), frames_.end(), same), frames_.end());
    return std::move(frames_);
  }

 private:
  std::optional<std::uint64_t> offset_of(std::uint64_t address) const {
    for (const Elf64_Phdr& part : parts_)
      if (address - part.p_vaddr < part.p_filesz) return address - part.p_vaddr + part.p_offset;
    return std::nullopt;
  }

  void read_table(const Elf64_Phdr& table) {
    Cursor at(file_, table.p_offset);
    const auto version = at.read<std::uint8_t>(), begin = at.read<std::uint8_t>(), number = at.read<std::uint8_t>(),
               encoding = at.read<std::uint8_t>();
    if (!at.good() || version != 1 || number == omitted || encoding == omitted) return;
    // Tables with other encodings cannot be searched; no linker writes them.
    if ((encoding & of_base) != from_table) return;
    if (begin != omitted) at.pointer(begin);
    const std::uint64_t rows = at.pointer(number);
    for (std::uint64_t i = 0; i < rows && at.good(); ++i) {
      at.pointer(encoding);
      const std::uint64_t entry = table.p_vaddr + at.pointer(encoding);
      if (const auto offset = offset_of(entry); at.good() && offset) read_entry(entry, *offset);
    }
  }

  /// Reads one frame description entry (FDE).
  void read_entry(std::uint64_t address, std::uint64_t offset) {
    Cursor at(file_, offset);
    if (at.read<std::uint32_t>() == 0xffffffff) return;  // longer than 4 GiB
    const std::uint64_t here = at.at();
    const auto back = at.read<std::uint32_t>();
    if (!at.good() || back == 0 || back > here) return;
    const std::optional<std::uint8_t> encoding = encoding_in(here - back);
    if (!encoding) return;
    const std::uint64_t from = address + (at.at() - offset);
    Frame frame;
    frame.address = at.pointer(*encoding);
    if ((*encoding & of_base) == from_here) frame.address += from;
    frame.bytes = at.pointer(*encoding & of_form);
    if (at.good() && frame.bytes > 0) frames_.push_back(frame);
  }

  /// Returns how entries of a common information entry (CIE) encode pointers to code.
  std::optional<std::uint8_t> encoding_in(std::uint64_t offset) {
    const auto [place, is_new] = encodings_.try_emplace(offset, std::nullopt);
    if (is_new) place->second = read_encoding(offset);
    return place->second;
  }

  std::optional<std::uint8_t> read_encoding(std::uint64_t offset) const {
    Cursor at(file_, offset);
    at.skip(8);  // length and CIE ID
    const auto version = at.read<std::uint8_t>();
    std::string letters;
    constexpr std::size_t most_letters = 16;  // seven exist
    for (char letter = at.read<char>(); letter != 0 && letters.size() < most_letters; letter = at.read<char>())
      letters += letter;
    at.uleb();
    at.uleb();
    if (version == 1)
      at.skip(1);
    else
      at.uleb();
    if (!letters.starts_with('z')) return letters.empty() && at.good() ? std::optional<std::uint8_t>(0) : std::nullopt;
    at.uleb();
    for (const char letter : letters.substr(1)) {
      if (letter == 'R') return at.good() ? std::optional(at.read<std::uint8_t>()) : std::nullopt;
      if (letter == 'P') {
        const auto encoding = at.read<std::uint8_t>();
        at.pointer(encoding);
      }
      if (letter == 'L') at.skip(1);
      if (!at.good()) return std::nullopt;
    }
    return 0;
  }

  std::string_view file_;
  std::vector<Elf64_Phdr> parts_;
  std::vector<Frame> frames_;
  std::unordered_map<std::uint64_t, std::optional<std::uint8_t>> encodings_;
};

}  // namespace

std::vector<Frame> frames_of(std::string_view elf) { return Frames(elf).read(); }

}  // namespace tally::symbol
