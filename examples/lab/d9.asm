; tally lab
; A program in user mode may read counters only while CR4.PCE (bit 8) is set: otherwise RDPMC raises #GP(0), which
; Windows reports as C0000096H. The handler sets the bit and returns to the same instruction, which now works.
bits 64
%include "lab.inc"

  mov esi, 13
  mov edi, protection
  call set_interrupt_handler
  WRITE_MSR IA32_FIXED_CTR_CTRL, 3
  WRITE_MSR IA32_PERF_GLOBAL_CTRL, 1 << 32
  ENTER_USER program
program:
  mov ecx, 40000000h
  rdpmc
  mov rsi, allowed
  call puts
  EXIT 0

protection:
  push rax
  push rsi
  mov rsi, refused
  call puts
  mov rax, cr4
  bts rax, 8
  mov cr4, rax
  pop rsi
  pop rax
  add rsp, 8                    ; the error code
  iretq

refused: db '#GP: user mode may not read counters. Now it may', 10, 0
allowed: db 'read', 10, 0
