#include "tally/engine/translate/x87_pointer.hpp"

#include "tally/engine/translate/arenas.hpp"
#include "tally/engine/translate/code_cache.hpp"

namespace tally::engine::translate {

bool stores_x87_pointer(const Instruction& in) {
  if (!in.legacy || in.mod() == 3 || in.modrm_at == 0) return false;
  constexpr u8 operand_size = 0x66;
  const u32 extension = in.modrm >> 3 & 7;
  if (in.map == Map::one_byte) return (in.opcode == 0xd9 || in.opcode == 0xdd) && extension == 6;
  if (in.map != Map::two_bytes) return false;
  if (in.opcode == 0xc7) return extension == 4;  // xsavec
  // fxsave, xsave, xsaveopt: the prefix 66 makes the last one clwb, and f3 clrssbsy
  return in.opcode == 0xae &&
         (extension == 0 || extension == 4 || (extension == 6 && in.bytes[0] != operand_size && in.bytes[0] != 0xf3));
}

namespace {

/// The address of the instruction with this copy; 0 if the copy has been removed.
u64 instruction_address(u64 copy) {
  CacheLocation at;
  return locate(copy, at) ? at.trace->pc + static_cast<u64>(static_cast<s64>(at.place->pc)) : 0;
}

}  // namespace

bool show_program_x87(u8* area) {
  u64 address;
  __builtin_memcpy(&address, area + fxsave_pointer_at, sizeof address);
  if (!in_generated_code(address)) return false;
  address = instruction_address(address);
  __builtin_memcpy(area + fxsave_pointer_at, &address, sizeof address);
  return true;
}

void show_program_x87() {
  alignas(16) u8 area[512];
  save_vectors(area);
  if (show_program_x87(area)) {
    asm volatile("fxrstor64 (%0)" ::"r"(area) : "memory");
    return;
  }
  // AMD's processors store no pointer with fxsave unless an exception is pending. Others have stored the program's.
  u64 stored;
  __builtin_memcpy(&stored, area + fxsave_pointer_at, sizeof stored);
  if (stored != 0) return;
  X87Environment environment;
  asm volatile("fnstenv %0" : "=m"(environment));
  // Several arenas may contain an address with this lower half, but hardly code that ran there.
  u32 next = 0;
  u64 address = 0;
  while (address == 0 && environment.pointer != 0) {
    const u64 copy = arena_address(environment.pointer, next);
    if (copy == 0) break;
    address = instruction_address(copy);
  }
  if (address != 0) environment.pointer = static_cast<u32>(address);
  asm volatile("fldenv %0" ::"m"(environment));  // fnstenv has masked the exceptions
}

}  // namespace tally::engine::translate
