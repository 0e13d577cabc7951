; tally lab
; How many instructions are between two reads? The RDPMC article's first snippets: 6, 8 and 102.
; A read returns the value before it retires, so the first RDPMC counts as one of the instructions in between.
bits 64
%include "lab.inc"

%macro BEGIN 0
  mov ecx, 40000000h            ; fixed counter 0: instructions
  rdpmc
  shl rdx, 32
  or rax, rdx
  mov r10, rax
%endmacro
%macro FINISH 1
  mov ecx, 40000000h
  rdpmc
  shl rdx, 32
  or rax, rdx
  sub rax, r10
  mov rsi, %1
  call puts
  call put_number
  call put_line
%endmacro

  WRITE_MSR IA32_FIXED_CTR_CTRL, 3
  WRITE_MSR IA32_PERF_GLOBAL_CTRL, 1 << 32

  BEGIN                         ; D1: RDPMC, SHL, OR, MOV, CPUID, MOV
  cpuid
  FINISH d1

  BEGIN                         ; D2: two NOPs more
  nop
  cpuid
  nop
  FINISH d2

  mov r11, 20                   ; D3: 20! in a loop of five: 5 * 19 + 2, and 5 around it
  mov r12, 1
  BEGIN
.loop:
  cmp r11, 1
  jle .done
  imul r12, r11
  dec r11
  jmp .loop
.done:
  FINISH d3
  hlt

d1: db 'CPUID between them:      ', 0
d2: db 'NOP, CPUID, NOP:         ', 0
d3: db '20! in a loop:           ', 0
