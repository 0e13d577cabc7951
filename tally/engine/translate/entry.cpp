#include "tally/engine/translate/entry.hpp"

// Offsets in Thread, as thread.hpp asserts them: gpr 0x00 + 8 × number, flags 0x80, pc 0x88, resume 0x90, stack 0xa8,
// link 0xb0, pad 0xb8, self 0xc0, seen 0xc8, borrowed 0xd0 and 0xd8.
asm(R"(
.text
.globl engine_no_target, enter_indirect, enter_link, enter_syscall, enter_far_return, enter_mark, enter_unlike, enter_key_check, enter_window
.globl resume_program, resume_begin, resume_end, landing_pad
.hidden enter_indirect, enter_link, enter_syscall, enter_far_return, enter_mark, enter_unlike, enter_key_check, enter_window
.hidden resume_program, resume_begin, resume_end, landing_pad

# Saves what all doors have in common: everything but rax, rcx, r11, which each treats in its own way.
.macro save_others
  mov %rsp, %gs:0x20
  mov %gs:0xa8, %rsp
  pushfq
  popq %gs:0x80
  mov %rdx, %gs:0x10
  mov %rbx, %gs:0x18
  mov %rbp, %gs:0x28
  mov %rsi, %gs:0x30
  mov %rdi, %gs:0x38
  mov %r8, %gs:0x40
  mov %r9, %gs:0x48
  mov %r10, %gs:0x50
  mov %r12, %gs:0x60
  mov %r13, %gs:0x68
  mov %r14, %gs:0x70
  mov %r15, %gs:0x78
  mov %gs:0xc0, %rdi
  push $2                 # no direction flag, and no alignment check (AC): the engine's accesses are not aligned
  popfq
.endm

# rcx and r11 from where generated code saves them; rax is saved.
.macro save_borrowed
  mov %gs:0xd0, %rax
  mov %rax, %gs:0x08
  mov %gs:0xd8, %rax
  mov %rax, %gs:0x58
.endm

# A door that no exit leads to. rcx = where the program is; rcx and r11 are saved.
.macro enter_at function
  mov %rcx, %gs:0x88
  mov %rax, %gs:0x00
  movq $0, %gs:0xb0         # no_link
  save_borrowed
  save_others
  call \function
  jmp resume_program
.endm

# A jump table entry without a target yet. rcx = where the program goes; rcx and r11 are saved.
engine_no_target:
  mov %rcx, %gs:0x88
  mov %rax, %gs:0x00
  jmp 1f
# An entry check that failed: rcx = target + r11; rcx and r11 are saved.
enter_indirect:
  not %r11
  lea 1(%rcx,%r11), %rcx
  mov %rcx, %gs:0x88
  mov %rax, %gs:0x00
1:movq $1, %gs:0xb0        # by_jump
  save_borrowed
  save_others
  call dispatch
  jmp resume_program
# A direct exit that is not linked. rax = its number, saved.
enter_link:
  mov %rax, %gs:0xb0
  mov %rcx, %gs:0x08
  mov %r11, %gs:0x58
  save_others
  call dispatch
  jmp resume_program
# A countdown. rax = where it begins, saved; pc = which one it is.
enter_window:
  mov %rax, %gs:0x90
  movq $0, %gs:0xb0         # no_link
  mov %rcx, %gs:0x08
  mov %r11, %gs:0x58
  save_others
  call window_reached
  jmp resume_program
# A system call. rcx = the address behind it; rcx and r11 are saved.
enter_syscall:
  enter_at system_call
# A far return. rcx = its address; rcx and r11 are saved.
enter_far_return:
  enter_at far_return
# The gate of a marked address. rcx = that address; rcx and r11 are saved.
enter_mark:
  enter_at marked
# A trace whose code is another one by now. rcx = its address in the program; rcx and r11 are saved.
enter_unlike:
  enter_at found_unlike
# Before an instruction that may deny the program the engine's memory. rcx = where it is, r11 = where its code goes on;
# rcx and r11 are saved.
enter_key_check:
  mov %r11, %gs:0x90
  enter_at keys_may_change

resume_begin:
resume_program:
  mov %gs:0xa8, %rsp
  cmpq $0, %gs:0xb8
  je 2f
  lea landing_pad(%rip), %rax
  mov %rax, %gs:0x90
2:pushq %gs:0x80
  popfq
  mov %gs:0x00, %rax
  mov %gs:0x08, %rcx
  mov %gs:0x10, %rdx
  mov %gs:0x18, %rbx
  mov %gs:0x28, %rbp
  mov %gs:0x30, %rsi
  mov %gs:0x38, %rdi
  mov %gs:0x40, %r8
  mov %gs:0x48, %r9
  mov %gs:0x50, %r10
  mov %gs:0x58, %r11
  mov %gs:0x60, %r12
  mov %gs:0x68, %r13
  mov %gs:0x70, %r14
  mov %gs:0x78, %r15
  mov %gs:0x20, %rsp
  jmp *%gs:0x90
resume_end:
.globl resume_natively
.hidden resume_natively
resume_natively:            # rdi = Thread; the address to go to lies below the red zone until the return takes it
  mov 0x20(%rdi), %rsp
  lea -136(%rsp), %rsp
  mov 0x88(%rdi), %rax
  mov %rax, (%rsp)
  pushq 0x80(%rdi)
  popfq
  mov 0x00(%rdi), %rax
  mov 0x08(%rdi), %rcx
  mov 0x10(%rdi), %rdx
  mov 0x18(%rdi), %rbx
  mov 0x28(%rdi), %rbp
  mov 0x30(%rdi), %rsi
  mov 0x40(%rdi), %r8
  mov 0x48(%rdi), %r9
  mov 0x50(%rdi), %r10
  mov 0x58(%rdi), %r11
  mov 0x60(%rdi), %r12
  mov 0x68(%rdi), %r13
  mov 0x70(%rdi), %r14
  mov 0x78(%rdi), %r15
  mov 0x38(%rdi), %rdi
  ret $128
landing_pad:
  int3
  ud2                     # so that nothing else stands behind the int3

.globl program_syscall, syscall_begin, syscall_instruction, syscall_abort
.hidden program_syscall, syscall_begin, syscall_instruction, syscall_abort
program_syscall:          # rdi = Thread
  push %rbx
  mov %rdi, %rbx
syscall_begin:
  xor %ecx, %ecx
  mov 0x00(%rbx), %rax
  mov 0x10(%rbx), %rdx
  mov 0x30(%rbx), %rsi
  mov 0x38(%rbx), %rdi
  mov 0x50(%rbx), %r10
  mov 0x40(%rbx), %r8
  mov 0x48(%rbx), %r9
  cmpq $0, %gs:0xb8
  jne syscall_abort
syscall_instruction:
  syscall
  pop %rbx
  ret
syscall_abort:            # rcx: 0 when the call had not begun
  mov %rcx, %gs:0xc8
  mov $-512, %rax
  pop %rbx
  ret

.globl safe_copy, safe_copy_instruction, safe_copy_end
.hidden safe_copy, safe_copy_instruction, safe_copy_end
safe_copy:
  mov %rdx, %rcx
safe_copy_instruction:
  rep movsb
safe_copy_end:
  mov %rcx, %rax
  ret

.globl safe_compare, safe_compare_differs
.hidden safe_compare, safe_compare_differs
safe_compare:
  mov %rdx, %rcx
  and $7, %edx
  shr $3, %rcx
  jz 6f
5:mov (%rsi), %rax
  cmp (%rdi), %rax
  jne safe_compare_differs
  add $8, %rsi
  add $8, %rdi
  dec %rcx
  jnz 5b
6:test %edx, %edx
  jz 8f
7:movzbl (%rsi), %eax
  cmp (%rdi), %al
  jne safe_compare_differs
  inc %rsi
  inc %rdi
  dec %edx
  jnz 7b
8:xor %eax, %eax
  ret
safe_compare_differs:
  mov $1, %eax
  ret

.globl on_engine_stack, clone_thread, clone3_thread, exit_thread, signal_return, signal_restorer
.hidden on_engine_stack, clone_thread, clone3_thread, exit_thread, signal_return, signal_restorer
on_engine_stack:
  mov 0xa8(%rdi), %rsp
  xor %ebp, %ebp
  call *%rsi
  ud2
clone_thread:             # rdi flags, rsi parent_tid, rdx child_tid, rcx tls, r8 child
  push %r12
  mov %r8, %r12
  mov %rdx, %r10
  mov %rsi, %rdx
  mov 0xa8(%r8), %rsi
  mov %rcx, %r8
  mov $56, %eax
4:syscall
  test %rax, %rax
  jz 3f
  pop %r12
  ret
3:mov %r12, %rdi
  xor %ebp, %ebp
  call thread_started
  jmp resume_program
clone3_thread:            # rdi arguments, rsi size, rdx child
  push %r12
  mov %rdx, %r12
  mov $435, %eax
  jmp 4b
exit_thread:
  movl $1, (%rsi)
  mov $60, %eax
  syscall
  ud2
signal_return:            # rdi frame, rsi flags
  push %rsi
  popfq
  mov %rdi, %rsp
signal_restorer:
  mov $15, %eax
  syscall
  ud2
)");
