// Decodes the branches of x86-64 code: Intel's Software Developer's Manual, volume 2.
#pragma once

#include <cstdint>
#include <string_view>

namespace tally::symbol {

enum class BranchKind : std::uint8_t {
  none,  ///< no branch
  conditional,
  jump,
  indirect_jump,
  call,
  indirect_call,
  ends  ///< a return, or an instruction that never continues at the next one
};

struct Branch {
  BranchKind kind = BranchKind::none;
  std::uint64_t bytes = 0;   ///< of the instruction; 0 for `none`
  std::uint64_t target = 0;  ///< of a direct branch

  bool is_direct() const {
    return kind == BranchKind::conditional || kind == BranchKind::jump || kind == BranchKind::call;
  }
  bool is_indirect() const { return kind == BranchKind::indirect_jump || kind == BranchKind::indirect_call; }
  bool is_call() const { return kind == BranchKind::call || kind == BranchKind::indirect_call; }
  /// Whether the next instruction is executed after it; after a call, when that returns.
  bool continues() const { return kind == BranchKind::none || kind == BranchKind::conditional || is_call(); }
};

/// Decodes the instruction at `address`, which `code` begins with. Everything else than a branch is `none`.
Branch decode_branch(std::string_view code, std::uint64_t address);

}  // namespace tally::symbol
