; tally lab
; Five forms of one loop, the RDPMC article's factorials. Instructions from read to read, for N iterations:
; 5N + 2, 4N + 1, 3N + 5, 8N - 1 and 14N - 7. Cycles under the lab's rule: one each, three for a multiplication.
; -D N=1000000000 makes it the article's size.
bits 64
%include "lab.inc"
%ifndef N
%define N 20
%endif

%macro BEGIN 2
  mov ecx, %1
  rdpmc
  shl rdx, 32
  or rax, rdx
  mov %2, rax
%endmacro
%macro FINISH 3
  mov ecx, %1
  rdpmc
  shl rdx, 32
  or rax, rdx
  sub rax, %2
  mov rsi, %3
  call puts
  call put_number
  call put_line
%endmacro
; Reads the cycle counters around the instruction counter, as in the article.
%macro MEASURE 2
  mov rsi, %1
  call puts
  mov r11, N
  mov r12, 1
  BEGIN 40000002h, r10
  BEGIN 40000001h, r9
  BEGIN 40000000h, r8
  %2
  FINISH 40000000h, r8, instructions
  FINISH 40000001h, r9, cycles
  FINISH 40000002h, r10, reference
%endmacro

%macro FIVE 0
%%loop:
  cmp r11, 1
  jle %%done
  imul r12, r11
  dec r11
  jmp %%loop
%%done:
%endmacro
%macro FOUR 0
%%loop:
  imul r12, r11
  dec r11
  cmp r11, 1
  jg %%loop
%endmacro
%macro THREE 0
%%loop:
  imul r12, r11
  dec r11
  jnz %%loop
%endmacro
%macro FIVE_AND_NOPS 1
%%loop:
  cmp r11, 1
  jle %%done
  times %1 nop
  imul r12, r11
  times %1 nop
  dec r11
  times %1 nop
  jmp %%loop
%%done:
%endmacro

  WRITE_MSR IA32_FIXED_CTR_CTRL, 333h
  WRITE_MSR IA32_PERF_GLOBAL_CTRL, 7 << 32
  MEASURE five, FIVE
  MEASURE four, FOUR
  MEASURE three, THREE
  MEASURE nops_3, FIVE_AND_NOPS 1
  MEASURE nops_9, FIVE_AND_NOPS 3
  hlt

five:   db 'five instructions a round', 10, 0
four:   db 'four', 10, 0
three:  db 'three', 10, 0
nops_3: db 'five and three NOPs', 10, 0
nops_9: db 'five and nine NOPs', 10, 0
instructions: db '  instructions     ', 0
cycles:       db '  core cycles      ', 0
reference:    db '  reference cycles ', 0
