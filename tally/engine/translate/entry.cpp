#include "tally/engine/translate/entry.hpp"

#include "tally/engine/translate/indirect_targets.hpp"

namespace tally::engine {
namespace {

#define OFFSET(name, offset) asm volatile(".set " name ", %c0" ::"i"(offset))

/// Never called: its text names what the assembly below needs of Thread and of Link.
[[gnu::used]] void name_for_assembly() {
  OFFSET("thread_rax", offsetof(Thread, gpr[rax]));
  OFFSET("thread_rcx", offsetof(Thread, gpr[rcx]));
  OFFSET("thread_rdx", offsetof(Thread, gpr[rdx]));
  OFFSET("thread_rbx", offsetof(Thread, gpr[rbx]));
  OFFSET("thread_rsp", offsetof(Thread, gpr[rsp]));
  OFFSET("thread_rbp", offsetof(Thread, gpr[rbp]));
  OFFSET("thread_rsi", offsetof(Thread, gpr[rsi]));
  OFFSET("thread_rdi", offsetof(Thread, gpr[rdi]));
  OFFSET("thread_r8", offsetof(Thread, gpr[r8]));
  OFFSET("thread_r9", offsetof(Thread, gpr[r9]));
  OFFSET("thread_r10", offsetof(Thread, gpr[r10]));
  OFFSET("thread_r11", offsetof(Thread, gpr[r11]));
  OFFSET("thread_r12", offsetof(Thread, gpr[r12]));
  OFFSET("thread_r13", offsetof(Thread, gpr[r13]));
  OFFSET("thread_r14", offsetof(Thread, gpr[r14]));
  OFFSET("thread_r15", offsetof(Thread, gpr[r15]));
  OFFSET("thread_flags", offsetof(Thread, flags));
  OFFSET("thread_pc", offsetof(Thread, pc));
  OFFSET("thread_resume", offsetof(Thread, resume));
  OFFSET("thread_stack", offsetof(Thread, stack));
  OFFSET("thread_link", offsetof(Thread, link));
  OFFSET("thread_pad", offsetof(Thread, pad));
  OFFSET("thread_in_steps", offsetof(Thread, in_steps));
  OFFSET("thread_until_replaced", offsetof(Thread, until_replaced));
  OFFSET("thread_followed", offsetof(Thread, followed));
  OFFSET("thread_jump_table", jump_table_at);
  OFFSET("target_factor", translate::indirect_target_factor);
  OFFSET("target_mask_at", -static_cast<s64>(translate::indirect_mask_bytes));
  OFFSET("thread_self", offsetof(Thread, self));
  OFFSET("thread_kernel_seen", offsetof(Thread, kernel_seen));
  OFFSET("thread_borrowed_rcx", offsetof(Thread, borrowed[0]));
  OFFSET("thread_borrowed_r11", offsetof(Thread, borrowed[1]));
  OFFSET("no_link", no_link);
  OFFSET("by_jump", by_jump);
}

#undef OFFSET

}  // namespace
}  // namespace tally::engine

asm(R"(
.text
.globl engine_no_target, lookup_begin, lookup_end, enter_indirect, enter_link, enter_syscall, enter_far_return, enter_emulated, enter_mark, enter_program_mark, enter_unlike, enter_key_check, enter_source, enter_window
.globl resume_program, resume_begin, resume_end, landing_pad
.hidden lookup_begin, lookup_end, indirect_targets, enter_indirect, enter_link, enter_syscall, enter_far_return, enter_emulated, enter_mark, enter_program_mark, enter_unlike, enter_key_check, enter_source, enter_window
.hidden resume_program, resume_begin, resume_end, landing_pad

# Saves everything but rax, rcx and r11, which each transition saves in its own way.
.macro save_others
  mov %rsp, %gs:thread_rsp
  mov %gs:thread_stack, %rsp
  pushfq
  popq %gs:thread_flags
  mov %rdx, %gs:thread_rdx
  mov %rbx, %gs:thread_rbx
  mov %rbp, %gs:thread_rbp
  mov %rsi, %gs:thread_rsi
  mov %rdi, %gs:thread_rdi
  mov %r8, %gs:thread_r8
  mov %r9, %gs:thread_r9
  mov %r10, %gs:thread_r10
  mov %r12, %gs:thread_r12
  mov %r13, %gs:thread_r13
  mov %r14, %gs:thread_r14
  mov %r15, %gs:thread_r15
  mov %gs:thread_self, %rdi
  push $2                 # no direction flag, and no alignment check (AC): the engine's accesses are not aligned
  popfq
.endm

# Loads rcx and r11 from where generated code saved them; rax is saved.
.macro save_borrowed
  mov %gs:thread_borrowed_rcx, %rax
  mov %rax, %gs:thread_rcx
  mov %gs:thread_borrowed_r11, %rax
  mov %rax, %gs:thread_r11
.endm

# A transition that is not an exit of a trace. rcx = the program's address; rcx and r11 are saved.
.macro enter_at function
  mov %rcx, %gs:thread_pc
  mov %rax, %gs:thread_rax
  movq $no_link, %gs:thread_link
  save_borrowed
  save_others
  call \function
  jmp resume_program
.endm

lookup_begin:
# An entry check that failed: rcx = target + r11; rcx and r11 are saved.
enter_indirect:
  not %r11
  lea 1(%rcx,%r11), %rcx
  jmp 4f
# A jump table entry without a target yet, which every eighth search fills. rcx = the target; rcx and r11 are saved.
engine_no_target:
  mov %gs:thread_until_replaced, %r11d
  lea -7(%r11), %r11d
  mov %r11d, %gs:thread_until_replaced
4:mov %rax, %gs:thread_rax
  mov %rdx, %gs:thread_rdx
  lahf
  seto %al
  cmpl $0, %gs:thread_in_steps
  jne 3f
  cmpl $0, %gs:thread_followed
  jne 3f
  mov indirect_targets(%rip), %rdx
  imul $target_factor, %rcx, %r11
  shr $28, %r11
1:and target_mask_at(%rdx), %r11
  cmp %rcx, (%rdx,%r11)
  je 2f
  cmpq $0, (%rdx,%r11)
  lea 16(%r11), %r11
  jne 1b
  jmp 3f
2:mov 8(%rdx,%r11), %r11
  test %r11, %r11
  jz 3f
  mov %ecx, %edx
  shr $16, %edx
  add %ecx, %edx
  movzx %dx, %edx
  decl %gs:thread_until_replaced
  jg 5f
  movl $64, %gs:thread_until_replaced
  mov %r11, %gs:thread_jump_table(,%rdx,8)
5:
  mov %gs:thread_rdx, %rdx
  add $0x7f, %al
  sahf
  mov %gs:thread_rax, %rax
  jmp *%r11
3:mov %gs:thread_rdx, %rdx
  add $0x7f, %al
  sahf
lookup_end:
  mov %rcx, %gs:thread_pc
  movq $by_jump, %gs:thread_link
  save_borrowed
  save_others
  call dispatch
  jmp resume_program
# A direct exit that is not linked. rax = its number, rax is saved.
enter_link:
  mov %rax, %gs:thread_link
  mov %rcx, %gs:thread_rcx
  mov %r11, %gs:thread_r11
  save_others
  call dispatch
  jmp resume_program
# A countdown. rax = the start of its code, rax is saved; pc = which countdown it is.
enter_window:
  mov %rax, %gs:thread_resume
  movq $no_link, %gs:thread_link
  mov %rcx, %gs:thread_rcx
  mov %r11, %gs:thread_r11
  save_others
  call window_reached
  jmp resume_program
# A system call. rcx = the address after it; rcx and r11 are saved.
enter_syscall:
  enter_at system_call
# A far return. rcx = its address; rcx and r11 are saved.
enter_far_return:
  enter_at far_return
# An instruction that depends on the processor that programs see. rcx = its address; rcx and r11 are saved.
enter_emulated:
  enter_at emulate
# The gate of a marked address. rcx = that address; rcx and r11 are saved.
enter_mark:
  enter_at marked
# The gate of a mark in the code of the program, in the same way.
enter_program_mark:
  enter_at program_mark_reached
# A trace whose program code has changed. rcx = its address in the program; rcx and r11 are saved.
enter_unlike:
  enter_at found_unlike
# Before an instruction that may deny access to the engine's memory. rcx = its address, r11 = the cache address at which
# its code continues; rcx and r11 are saved.
enter_key_check:
  mov %r11, %gs:thread_resume
  enter_at keys_may_change
# The first read of a source by this thread, in the same way.
enter_source:
  mov %r11, %gs:thread_resume
  enter_at source_is_read

resume_begin:
resume_program:
  mov %gs:thread_stack, %rsp
  cmpq $0, %gs:thread_pad
  je 2f
  lea landing_pad(%rip), %rax
  mov %rax, %gs:thread_resume
2:pushq %gs:thread_flags
  popfq
  mov %gs:thread_rax, %rax
  mov %gs:thread_rcx, %rcx
  mov %gs:thread_rdx, %rdx
  mov %gs:thread_rbx, %rbx
  mov %gs:thread_rbp, %rbp
  mov %gs:thread_rsi, %rsi
  mov %gs:thread_rdi, %rdi
  mov %gs:thread_r8, %r8
  mov %gs:thread_r9, %r9
  mov %gs:thread_r10, %r10
  mov %gs:thread_r11, %r11
  mov %gs:thread_r12, %r12
  mov %gs:thread_r13, %r13
  mov %gs:thread_r14, %r14
  mov %gs:thread_r15, %r15
  mov %gs:thread_rsp, %rsp
  jmp *%gs:thread_resume
resume_end:
.globl resume_natively
.hidden resume_natively
resume_natively:            # rdi = Thread; the target address is below the red zone until the ret pops it
  mov thread_rsp(%rdi), %rsp
  lea -136(%rsp), %rsp
  mov thread_pc(%rdi), %rax
  mov %rax, (%rsp)
  pushq thread_flags(%rdi)
  popfq
  mov thread_rax(%rdi), %rax
  mov thread_rcx(%rdi), %rcx
  mov thread_rdx(%rdi), %rdx
  mov thread_rbx(%rdi), %rbx
  mov thread_rbp(%rdi), %rbp
  mov thread_rsi(%rdi), %rsi
  mov thread_r8(%rdi), %r8
  mov thread_r9(%rdi), %r9
  mov thread_r10(%rdi), %r10
  mov thread_r11(%rdi), %r11
  mov thread_r12(%rdi), %r12
  mov thread_r13(%rdi), %r13
  mov thread_r14(%rdi), %r14
  mov thread_r15(%rdi), %r15
  mov thread_rdi(%rdi), %rdi
  ret $128
landing_pad:
  int3
  ud2                     # so that no other code follows the int3

.globl program_syscall, syscall_begin, syscall_instruction, syscall_abort
.hidden program_syscall, syscall_begin, syscall_instruction, syscall_abort
program_syscall:          # rdi = Thread
  push %rbx
  mov %rdi, %rbx
syscall_begin:
  xor %ecx, %ecx
  mov thread_rax(%rbx), %rax
  mov thread_rdx(%rbx), %rdx
  mov thread_rsi(%rbx), %rsi
  mov thread_rdi(%rbx), %rdi
  mov thread_r10(%rbx), %r10
  mov thread_r8(%rbx), %r8
  mov thread_r9(%rbx), %r9
  cmpq $0, %gs:thread_pad
  jne syscall_abort
syscall_instruction:
  syscall
  pop %rbx
  ret
syscall_abort:            # rcx: 0 when the call had not begun
  mov %rcx, %gs:thread_kernel_seen
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
  mov thread_stack(%rdi), %rsp
  xor %ebp, %ebp
  call *%rsi
  ud2
clone_thread:             # rdi flags, rsi parent_tid, rdx child_tid, rcx tls, r8 child
  push %r12
  mov %r8, %r12
  mov %rdx, %r10
  mov %rsi, %rdx
  mov thread_stack(%r8), %rsi
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
