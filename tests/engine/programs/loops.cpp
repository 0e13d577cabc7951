// loop, loope, loopne, jrcxz, jecxz and the forms that count in ECX.
#include "tests/engine/programs/bare.hpp"

namespace {

asm(R"(
        .globl loop_plain
loop_plain:
        xorl %eax, %eax
        movl $77, %ecx
1:      incl %eax
        loop 1b
        ret

        .globl loop_equal
# Stops at the first byte that differs.
loop_equal:
        xorl %eax, %eax
        movl $16, %ecx
1:      incl %eax
        cmpb $0, -1(%rdi,%rax)
        loope 1b
        ret

        .globl loop_not_equal
loop_not_equal:
        xorl %eax, %eax
        movl $16, %ecx
1:      incl %eax
        cmpb $9, -1(%rdi,%rax)
        loopne 1b
        ret

        .globl loop_narrow
# With the address-size prefix only ECX counts, and the upper half is cleared.
loop_narrow:
        movq $0x500000003, %rcx
        xorl %eax, %eax
1:      incl %eax
        addr32 loop 1b
        shlq $32, %rcx
        orq %rcx, %rax
        ret

        .globl zero
zero:   xorl %eax, %eax
        movq $0x700000000, %rcx
        jrcxz 1f
        incl %eax
        jecxz 2f
1:      ud2
2:      xorl %ecx, %ecx
        jrcxz 3f
        ud2
3:      jecxz 4f
        ud2
4:      movl $1, %ecx
        jrcxz 1b
        jecxz 1b
        incl %eax
        ret

        .globl loop_flags
# loop and jrcxz do not change the flags.
loop_flags:
        movl $5, %ecx
        xorl %eax, %eax
        stc
1:      adcl $0, %eax
        cmc
        loop 1b
        ret
)");
extern "C" long loop_plain(), loop_equal(const char*), loop_not_equal(const char*), loop_narrow(), zero(), loop_flags();

}  // namespace

extern "C" int program(int, char**, char**) {
  static const char bytes[17] = {0, 0, 0, 0, 0, 1, 0, 0, 0, 9};
  static const char zeros[17] = {};
  for (int i = 0; i < 20; ++i) {
    bare::check(loop_plain() == 77);
    bare::check(loop_equal(bytes) == 6);
    bare::check(loop_equal(zeros) == 16);
    bare::check(loop_not_equal(bytes) == 10);
    bare::check(loop_not_equal(zeros) == 16);
    bare::check(loop_narrow() == 3);
    bare::check(zero() == 2);
    bare::check(loop_flags() == 5);
  }
  return 0;
}
