#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "tests/engine/differential/case_file.hpp"
#include "tests/engine/differential/random.hpp"

namespace tally::differential {

constexpr int rax = 0, rcx = 1, rdx = 2, rbx = 3, rsp = 4, rbp = 5, rsi = 6, rdi = 7;

/// The addresses of code and data. In the high layout a 32-bit address means nothing.
struct AddressLayout {
  uint64_t code = 0, data = 0;
  bool low() const { return code >> 32 == 0; }
};
inline constexpr AddressLayout low_layout = {0x20000000, 0x30000000};
inline constexpr AddressLayout high_layout = {0x555510000000, 0x555520000000};

/// Registers whose values the code never changes, so that its memory operands stay in range.
struct FixedRegisters {
  int data = 0, edge = 0;  ///< into the middle of the data, close to its end
  int index = 0;           ///< a small number
  int bad = 0;             ///< an address where accesses fail

  bool has(int reg) const { return reg == rsp || reg == data || reg == edge || reg == index || reg == bad; }
};

/// One instruction, with the parts that depend on its address.
struct Item {
  std::vector<uint8_t> bytes;
  int group = 0;           ///< items of one group are only removed together
  int relative_at = -1;    ///< offset of a displacement counted from the instruction's end
  int relative_bytes = 4;  ///< 1 or 4
  uint64_t target = 0;     ///< an address, if there is no label
  int label = -1;          ///< the item that it leads to
  bool exact_flags = false;
  bool steppable = true;
  bool removed = false;
};

/// Random code and its initial state.
struct Sequence {
  uint64_t seed = 0;
  AddressLayout layout;
  FixedRegisters fixed;
  std::vector<Item> items;
  uint32_t start = 0;  ///< offset in the first page
  Descriptor state{};
};

/// Depends on the seed and the length only.
Sequence make_sequence(uint64_t seed, int length);

/// The file that the runner reads. All sequences have the same load address.
std::string case_file(const std::vector<Sequence>& sequences);

/// Pages of code that a sequence may have.
inline constexpr uint64_t code_pages = 3;

/// Its instructions with the addresses that they have as the `index`-th sequence of a file.
std::string listing(const Sequence& sequence, size_t index);

}  // namespace tally::differential
