#include "tests/engine/differential/sequence.hpp"

#include <Zydis/Zydis.h>
#include <fmt/format.h>

#include <cstring>
#include <stdexcept>

namespace tally::differential {
namespace {

constexpr uint64_t slot_bytes = (2 * code_pages) * page_bytes;  // code, and the lengths of its instructions

/// The addresses of all items, and the address after the last.
std::vector<uint64_t> lay_out(const Sequence& sequence, uint64_t code) {
  std::vector<uint64_t> at;
  uint64_t address = code + sequence.start;
  for (const Item& item : sequence.items) {
    at.push_back(address);
    if (!item.removed) address += item.bytes.size();
  }
  at.push_back(address);
  return at;
}

uint64_t code_of(const Sequence& sequence, size_t index) {
  return sequence.layout.code + page_bytes * 64 + index * slot_bytes;
}

std::vector<uint8_t> assembled(const Item& item, uint64_t address, const std::vector<uint64_t>& at) {
  std::vector<uint8_t> bytes = item.bytes;
  if (item.relative_at < 0) return bytes;
  const uint64_t target = item.label >= 0 ? at[static_cast<size_t>(item.label)] : item.target;
  const auto distance = static_cast<int64_t>(target - (address + bytes.size()));
  if (item.relative_bytes == 1 && distance != static_cast<int8_t>(distance)) throw std::logic_error("a short branch");
  std::memcpy(&bytes[static_cast<size_t>(item.relative_at)], &distance, static_cast<size_t>(item.relative_bytes));
  return bytes;
}

void put(std::string& file, uint64_t at, const void* from, size_t bytes) {
  if (file.size() < at + bytes) file.resize(at + bytes);
  std::memcpy(&file[at], from, bytes);
}

/// Random bytes, small numbers and floating-point numbers of all kinds, mixed.
std::string pool() {
  Random random(0x706f6f6c);
  std::string result;
  while (result.size() < pool_bytes) {
    uint64_t word = random.next();
    switch (random.below(8)) {
      case 0: word &= 0xff000000ff; break;
      case 1: word = 0x3ff0000000000000 + (word >> 14); break;                   // doubles around one
      case 2: word = (0x3f8000003f800000) + (word & 0x007fffff007fffff); break;  // floats around one
      case 3:
        word = random.one_of<uint64_t>({0, ~0ull, 0x7ff0000000000000, 0xfff8000000000000, 1, 0x8000000000000000,
                                        0x7fc000007f800000, 0x0000000180000001});
        break;
      default: break;
    }
    result.append(reinterpret_cast<const char*>(&word), 8);
  }
  return result;
}

/// Indices for gathers: dwords, then qwords; then the same with one that is out of range.
std::string constants() {
  Random random(0x696e646578);
  std::string page(page_bytes, '\0');
  for (uint64_t half = 0; half < 2; ++half) {
    for (uint64_t i = 0; i < 256; ++i) {
      uint32_t index = random.below(64);
      if (half == 1 && i % 16 == 7) index = 0x7f000000;
      put(page, half * 2048 + i * 4, &index, 4);
    }
    for (uint64_t i = 0; i < 128; ++i) {
      uint64_t index = random.below(64);
      if (half == 1 && i % 8 == 5) index = 0x4000000000000000;
      put(page, half * 2048 + 1024 + i * 8, &index, 8);
    }
  }
  return page;
}

}  // namespace

std::string case_file(const std::vector<Sequence>& sequences) {
  std::string file;
  Header header{};
  header.base = sequences.front().layout.code;
  header.data_base = sequences.front().layout.data;
  header.pool_at = page_bytes;
  header.constants_at = header.pool_at + pool_bytes;
  header.descriptors_at = header.constants_at + page_bytes;
  header.sequences = sequences.size();
  put(file, header.pool_at, pool().data(), pool_bytes);
  put(file, header.constants_at, constants().data(), page_bytes);
  for (size_t i = 0; i < sequences.size(); ++i) {
    const Sequence& sequence = sequences[i];
    const uint64_t code = code_of(sequence, i);
    const auto at = lay_out(sequence, code);
    if (at.back() > code + code_pages * page_bytes) throw std::logic_error("too much code");
    std::vector<uint8_t> lengths(code_pages * page_bytes);
    for (size_t k = 0; k < sequence.items.size(); ++k) {
      const Item& item = sequence.items[k];
      if (item.removed) continue;
      const auto bytes = assembled(item, at[k], at);
      put(file, at[k] - header.base, bytes.data(), bytes.size());
      lengths[at[k] - code] = static_cast<uint8_t>(bytes.size() | (item.exact_flags ? flags_exact : 0));
    }
    put(file, code + code_pages * page_bytes - header.base, lengths.data(), lengths.size());
    Descriptor state = sequence.state;
    state.entry = code + sequence.start;
    state.code = code;
    state.code_bytes = code_pages * page_bytes;
    state.lengths = code + code_pages * page_bytes;
    put(file, header.descriptors_at + i * sizeof state, &state, sizeof state);
  }
  header.bytes = (file.size() + page_bytes - 1) / page_bytes * page_bytes;
  file.resize(header.bytes);
  put(file, 0, &header, sizeof header);
  return file;
}

std::string listing(const Sequence& sequence, size_t index) {
  ZydisFormatter formatter;
  ZydisFormatterInit(&formatter, ZYDIS_FORMATTER_STYLE_INTEL);
  ZydisDecoder decoder;
  ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
  const auto at = lay_out(sequence, code_of(sequence, index));
  std::string text;
  for (size_t k = 0; k < sequence.items.size(); ++k) {
    const Item& item = sequence.items[k];
    if (item.removed) continue;
    const auto bytes = assembled(item, at[k], at);
    ZydisDecodedInstruction instruction;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    char words[128] = "?";
    if (ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, bytes.data(), bytes.size(), &instruction, operands)))
      ZydisFormatterFormatInstruction(&formatter, &instruction, operands, instruction.operand_count_visible, words,
                                      sizeof words, at[k], nullptr);
    std::string hex;
    for (const uint8_t byte : bytes) hex += fmt::format("{:02x}", byte);
    text += fmt::format("  {:x}  {:<32}{}\n", at[k], hex, words);
  }
  return text;
}

}  // namespace tally::differential
