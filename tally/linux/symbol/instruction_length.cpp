#include "tally/linux/symbol/instruction_length.hpp"

namespace tally::symbol {
namespace {

/// What precedes the opcode.
struct Prefixes {
  bool has_16_bit_operand = false, has_32_bit_address = false, is_wide = false;
};

constexpr std::size_t invalid = ~std::size_t{0};

/// The bytes after an opcode of the first map.
std::size_t after_opcode(std::string_view code, std::size_t at, std::uint8_t opcode, const Prefixes& prefixes) {
  const std::size_t full = prefixes.has_16_bit_operand ? 2 : 4;
  const auto modrm = [&](std::size_t immediate) { return operand_bytes(code, at) + immediate; };
  if (opcode < 0x40) {
    const unsigned form = opcode & 7;
    return form < 4 ? modrm(0) : form == 4 ? 1 : form == 5 ? full : invalid;
  }
  if (opcode < 0x60 || (opcode >= 0x6c && opcode <= 0x6f) || (opcode >= 0x90 && opcode <= 0x9f))
    return opcode == 0x9a ? invalid : 0;
  if (opcode >= 0x70 && opcode <= 0x7f) return 1;
  if (opcode >= 0x84 && opcode <= 0x8f) return modrm(0);
  if (opcode >= 0xb0 && opcode <= 0xb7) return 1;
  if (opcode >= 0xb8 && opcode <= 0xbf) return prefixes.is_wide ? 8 : full;
  if (opcode >= 0xd8 && opcode <= 0xdf) return modrm(0);
  if (opcode >= 0xe0 && opcode <= 0xe7) return 1;
  const bool has_immediate = (byte_at(code, at) >> 3 & 7) < 2;  // of f6 and f7: test
  switch (opcode) {
    case 0x63:
    case 0xd0:
    case 0xd1:
    case 0xd2:
    case 0xd3:
    case 0xfe:
    case 0xff: return modrm(0);
    case 0x68:
    case 0xa9: return full;
    case 0x69:
    case 0x81:
    case 0xc7: return modrm(full);
    case 0x6a:
    case 0xa8:
    case 0xcd:
    case 0xeb: return 1;
    case 0x6b:
    case 0x80:
    case 0x83:
    case 0xc0:
    case 0xc1:
    case 0xc6: return modrm(1);
    case 0xa0:
    case 0xa1:
    case 0xa2:
    case 0xa3: return prefixes.has_32_bit_address ? 4 : 8;
    case 0xc2:
    case 0xca: return 2;
    case 0xc8: return 3;
    case 0xe8:
    case 0xe9: return 4;
    case 0xf6: return modrm(has_immediate ? 1 : 0);
    case 0xf7: return modrm(has_immediate ? full : 0);
    case 0x60:
    case 0x61:
    case 0x62:
    case 0x82:
    case 0xce:
    case 0xd4:
    case 0xd5:
    case 0xd6:
    case 0xea: return invalid;
    default: return 0;
  }
}

/// The same of the map after 0f, which VEX and EVEX have, too.
std::size_t after_second_opcode(std::string_view code, std::size_t at, std::uint8_t opcode, bool is_vector) {
  if (!is_vector && opcode >= 0x80 && opcode <= 0x8f) return 4;
  switch (opcode) {
    case 0x70:
    case 0x71:
    case 0x72:
    case 0x73:
    case 0xc2:
    case 0xc4:
    case 0xc5:
    case 0xc6: return operand_bytes(code, at) + 1;
    case 0x0f:
    case 0xa4:
    case 0xac:
    case 0xba: return operand_bytes(code, at) + (is_vector ? 0 : 1);
    case 0x05:
    case 0x06:
    case 0x07:
    case 0x08:
    case 0x09:
    case 0x0b:
    case 0x0e:
    case 0x77:
    case 0xa0:
    case 0xa1:
    case 0xa2:
    case 0xa8:
    case 0xa9:
    case 0xaa: return 0;
    default: break;
  }
  const bool has_no_operand = !is_vector && ((opcode >= 0x30 && opcode <= 0x37) || (opcode >= 0xc8 && opcode <= 0xcf));
  return has_no_operand ? 0 : operand_bytes(code, at);
}

/// The bytes from an opcode of this map on.
std::size_t from_opcode(std::string_view code, std::size_t at, unsigned map, bool is_vector) {
  const std::uint8_t opcode = byte_at(code, at);
  if (map == 1) return 1 + after_second_opcode(code, at + 1, opcode, is_vector);
  return 1 + operand_bytes(code, at + 1) + (map == 3 ? 1 : 0);
}

}  // namespace

std::size_t operand_bytes(std::string_view code, std::size_t at) {
  const std::uint8_t modrm = byte_at(code, at), mode = modrm >> 6, base = modrm & 7;
  if (mode == 3) return 1;
  const bool has_sib = base == 4;
  const bool is_absolute = mode == 0 && (has_sib ? byte_at(code, at + 1) & 7 : base) == 5;
  return 1 + (has_sib ? 1 : 0) + (mode == 2 || is_absolute ? 4 : mode);
}

std::size_t instruction_length(std::string_view code) {
  constexpr std::size_t longest = 15;
  Prefixes prefixes;
  std::size_t at = 0;
  for (; at < longest; ++at) {
    const std::uint8_t byte = byte_at(code, at);
    prefixes.has_16_bit_operand |= byte == 0x66;
    prefixes.has_32_bit_address |= byte == 0x67;
    const bool is_prefix = byte == 0x66 || byte == 0x67 || byte == 0xf0 || byte == 0xf2 || byte == 0xf3 ||
                           byte == 0x2e || byte == 0x36 || byte == 0x3e || byte == 0x26 || byte == 0x64 || byte == 0x65;
    if (!is_prefix) break;
  }
  if ((byte_at(code, at) & 0xf0) == 0x40) prefixes.is_wide = (byte_at(code, at++) & 8) != 0;
  const std::uint8_t opcode = byte_at(code, at);
  std::size_t bytes = 0;
  if (opcode == 0xc5) {
    bytes = at + 2 + from_opcode(code, at + 2, 1, true);
  } else if (opcode == 0xc4) {
    bytes = at + 3 + from_opcode(code, at + 3, byte_at(code, at + 1) & 0x1f, true);
  } else if (opcode == 0x62) {
    bytes = at + 4 + from_opcode(code, at + 4, byte_at(code, at + 1) & 7, true);
  } else if (opcode == 0x0f) {
    const std::uint8_t second = byte_at(code, at + 1);
    bytes = second == 0x38   ? at + 2 + from_opcode(code, at + 2, 2, false)
            : second == 0x3a ? at + 2 + from_opcode(code, at + 2, 3, false)
                             : at + 1 + from_opcode(code, at + 1, 1, false);
  } else {
    const std::size_t after = after_opcode(code, at + 1, opcode, prefixes);
    if (after == invalid) return 0;
    bytes = at + 1 + after;
  }
  return bytes <= longest && bytes <= code.size() ? bytes : 0;
}

}  // namespace tally::symbol
