#include "tally/linux/symbol/branch_code.hpp"

#include <gtest/gtest.h>

#include <string>

namespace tally::symbol {
namespace {

using namespace std::string_view_literals;

struct Case {
  std::string_view code, text;  // as objdump prints it, at address 0x1000
  BranchKind kind;
  std::uint64_t bytes, target = 0;
};

// Assembled by GNU as.
constexpr Case cases[] = {
    {"\x74\x10"sv, "je 1012", BranchKind::conditional, 2, 0x1012},
    {"\x0f\x85\xfa\xff\xff\xff"sv, "jne 1000", BranchKind::conditional, 6, 0x1000},
    {"\x2e\x75\x00"sv, "jne,pn 1003", BranchKind::conditional, 3, 0x1003},
    {"\xe2\xfe"sv, "loop 1000", BranchKind::conditional, 2, 0x1000},
    {"\x67\xe3\x05"sv, "jecxz 1008", BranchKind::conditional, 3, 0x1008},
    {"\xe8\x00\x01\x00\x00"sv, "call 1105", BranchKind::call, 5, 0x1105},
    {"\xf2\xe9\x00\x00\x00\x80"sv, "bnd jmp", BranchKind::jump, 6, 0xffffffff80001006},
    {"\xeb\x80"sv, "jmp f82", BranchKind::jump, 2, 0xf82},
    {"\xff\xd0"sv, "call *%rax", BranchKind::indirect_call, 2},
    {"\x41\xff\xd4"sv, "call *%r12", BranchKind::indirect_call, 3},
    {"\xff\x15\x00\x00\x00\x00"sv, "call *0x0(%rip)", BranchKind::indirect_call, 6},
    {"\xff\x54\x24\x08"sv, "call *0x8(%rsp)", BranchKind::indirect_call, 4},
    {"\xff\x90\x00\x01\x00\x00"sv, "call *0x100(%rax)", BranchKind::indirect_call, 6},
    {"\x3e\xff\xe0"sv, "notrack jmp *%rax", BranchKind::indirect_jump, 3},
    {"\xff\x24\xc5\x00\x20\x40\x00"sv, "jmp *0x402000(,%rax,8)", BranchKind::indirect_jump, 7},
    {"\x41\xff\x24\xc4"sv, "jmp *(%r12,%rax,8)", BranchKind::indirect_jump, 4},
    {"\xc3"sv, "ret", BranchKind::ends, 1},
    {"\xf3\xc3"sv, "repz ret", BranchKind::ends, 2},
    {"\xc2\x10\x00"sv, "ret $0x10", BranchKind::ends, 3},
    {"\x0f\x0b"sv, "ud2", BranchKind::ends, 2},
    {"\xff\xc0"sv, "inc %eax", BranchKind::none, 0},
    {"\xff\x75\x00"sv, "push 0x0(%rbp)", BranchKind::none, 0},
    {"\x48\x89\xe8"sv, "mov %rbp,%rax", BranchKind::none, 0},
    {"\x0f\x84\x00"sv, "(cut)", BranchKind::none, 0},
    {""sv, "(nothing)", BranchKind::none, 0},
};

TEST(BranchCode, kind_length_and_target) {
  for (const Case& one : cases) {
    const Branch branch = decode_branch(one.code, 0x1000);
    EXPECT_EQ(branch.kind, one.kind) << one.text;
    EXPECT_EQ(branch.bytes, one.bytes) << one.text;
    EXPECT_EQ(branch.target, one.target) << one.text;
  }
}

}  // namespace
}  // namespace tally::symbol
