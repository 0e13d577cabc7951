// The same code at several addresses, some with a short encoding and some without: what is stored for one program must
// be right in another. Exit code 0: both ways to ask for an address agree.
asm(R"(
.globl _start
.text
.balign 4096
_start:
  lea word(%rip), %rsi
  mov (%rsi), %ebx
  cmp $0x600d, %ebx
  jne 1f
  xor %eax, %eax
  .byte 0x67, 0x66, 0x8d, 0x05      # lea word(%eip), %ax: by the low half of the program counter
  .long word - 2f
2:movzx %si, %ebx
  xor %edi, %edi
  cmp %eax, %ebx
  je 3f
1:mov $1, %edi
3:mov $231, %eax
  syscall
.data
.balign 4096
word: .long 0x600d
)");
