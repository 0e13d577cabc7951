#include "programs/lab/lab_image.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "programs/register/pmu/model.hpp"
#include "tally/core/base/text.hpp"
#include "tally/linux/files/input.hpp"

namespace tally::lab {
namespace {

constexpr std::uint64_t flat_address = 0x10'0000;
constexpr std::uint64_t boot_sector = 0x7C00;

}  // namespace

std::uint64_t Image::end() const {
  std::uint64_t end = 0;
  for (const MemoryBlock& block : memory_blocks) end = std::max(end, block.address + block.bytes.size());
  return end;
}

const Line* Image::line_at(std::uint64_t address) const {
  const auto next = std::upper_bound(lines.begin(), lines.end(), address,
                                     [](std::uint64_t a, const Line& line) { return a < line.address; });
  if (next == lines.begin()) return nullptr;
  const Line* const line = &*std::prev(next);
  const bool is_after_end = next == lines.end() && address >= end() && line->address < end();
  return is_after_end ? nullptr : line;
}

std::string Image::place(std::uint64_t address) const {
  const Line* const line = line_at(address);
  if (line && line->number > 0 && !line->is_included) return fmt::format("{} {}", line_word, line->number);
  const std::string* nearest_name = nullptr;
  std::uint64_t best = 0;
  for (const auto& [label, at] : symbols) {
    // Local labels belong to a named function.
    if (label.find('.') == std::string::npos && at <= address && at >= best && address - at < 0x10000) {
      nearest_name = &label;
      best = at;
    }
  }
  if (!nearest_name) return fmt::format("{:X}H", address);
  // In a helper its name is enough.
  const std::string label = printable(*nearest_name);
  return best == address || (line && line->is_included) ? label : fmt::format("{}+{}", label, address - best);
}

std::optional<std::uint64_t> Image::address_of(const std::string& word) const {
  if (const auto found = symbols.find(word); found != symbols.end()) return found->second;
  if (word.find_first_not_of("0123456789") == std::string::npos) {
    int number = 0;
    std::from_chars(word.data(), word.data() + word.size(), number);
    for (const Line& line : lines) {
      if (!line.is_included && line.number == number) return line.address;
    }
    return std::nullopt;
  }
  return pmu::parse_number(word);
}

Result<Image> load(const std::string& path, int bits, const std::vector<std::string>& defines) {
  constexpr std::uint64_t most_bytes = 1 << 30;  // more than the memory of the lab's machine
  const auto read = linux::read_file(path, most_bytes);
  if (!read)
    return fail(Code::bad_usage, read.error().message,
                "FILE is NASM assembly (.asm, .s, .nasm), an ELF image or a flat image; use -e for statements");
  const std::string& content = *read;
  const std::vector<std::uint8_t> bytes(content.begin(), content.end());
  if (content.starts_with("\x7F"
                          "ELF"))
    return load_elf(path, bytes);
  const std::string suffix = lower(std::filesystem::path(path).extension().string());
  if (suffix == ".asm" || suffix == ".s" || suffix == ".nasm" || suffix == ".inc") {
    const auto parent = std::filesystem::path(path).parent_path();
    return assemble(path, content, bits, parent.empty() ? "." : parent.string(), defines);
  }
  if (bytes.empty()) return fail(Code::bad_usage, fmt::format("'{}' is empty", printable(path)), "");
  Image image;
  image.name = path;
  image.bits = bits == 0 ? 32 : bits;
  image.entry = image.bits == 16 ? boot_sector : flat_address;
  image.memory_blocks.push_back({image.entry, bytes});
  return image;
}

}  // namespace tally::lab
