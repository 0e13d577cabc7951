#include "tally/linux/symbol/branch_code.hpp"

#include <cstring>

#include "tally/linux/symbol/instruction_length.hpp"

namespace tally::symbol {
namespace {

bool is_prefix(std::uint8_t byte) {
  return byte == 0x66 || byte == 0x67 || byte == 0xf2 || byte == 0xf3 || byte == 0x2e || byte == 0x36 || byte == 0x3e ||
         byte == 0x26 || byte == 0x64 || byte == 0x65;
}

Branch direct(BranchKind kind, std::string_view code, std::size_t at, bool is_short, std::uint64_t address) {
  const std::size_t size = is_short ? 1 : 4;
  if (at + size > code.size()) return {};
  std::int32_t distance = static_cast<std::int8_t>(code[at]);
  if (!is_short) std::memcpy(&distance, code.data() + at, sizeof distance);
  const std::uint64_t bytes = at + size;
  return {kind, bytes, address + bytes + static_cast<std::uint64_t>(std::int64_t{distance})};
}

}  // namespace

Branch decode_branch(std::string_view code, std::uint64_t address) {
  std::size_t at = 0;
  while (at < 14 && is_prefix(byte_at(code, at))) ++at;
  if ((byte_at(code, at) & 0xf0) == 0x40) ++at;  // REX
  const std::uint8_t opcode = byte_at(code, at++);
  if ((opcode & 0xf0) == 0x70 || (opcode & 0xfc) == 0xe0)
    return direct(BranchKind::conditional, code, at, true, address);
  switch (opcode) {
    case 0xe8: return direct(BranchKind::call, code, at, false, address);
    case 0xe9: return direct(BranchKind::jump, code, at, false, address);
    case 0xeb: return direct(BranchKind::jump, code, at, true, address);
    case 0xc3:
    case 0xcb:
    case 0xcf:
    case 0xf4: return {BranchKind::ends, at, 0};
    case 0xc2:
    case 0xca: return {BranchKind::ends, at + 2, 0};
    case 0x0f:
      if ((byte_at(code, at) & 0xf0) == 0x80) return direct(BranchKind::conditional, code, at + 1, false, address);
      return byte_at(code, at) == 0x0b ? Branch{BranchKind::ends, at + 1, 0} : Branch{};
    case 0xff: {
      const std::uint8_t kind = byte_at(code, at) >> 3 & 7;
      if (kind < 2 || kind > 5) return {};
      return {kind < 4 ? BranchKind::indirect_call : BranchKind::indirect_jump, at + operand_bytes(code, at), 0};
    }
    default: return {};
  }
}

}  // namespace tally::symbol
