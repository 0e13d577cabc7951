; tally lab --cache 64K
; Reads a table of 256 KiB byte by byte: with a stride of s in s laps, so that each byte is read once. A miss fetches a
; line of 64 bytes. Misses of the last-level cache: size / 64 * min(stride, 64), because the table is larger than the
; cache of 64 KiB.
bits 64
%include "lab.inc"
TABLE equ 200000h
SIZE equ 40000h

  WRITE_MSR IA32_PERFEVTSEL0, 434F2Eh             ; references of the last level cache
  WRITE_MSR IA32_PERFEVTSEL1, 43412Eh             ; its misses
  mov r8d, 1
next:
  WRITE_MSR IA32_PMC0, 0
  WRITE_MSR IA32_PMC1, 0
  WRITE_MSR IA32_PERF_GLOBAL_CTRL, 3
  xor r9d, r9d                  ; lap
lap:
  mov edi, r9d
read:
  mov al, [TABLE + rdi]
  add edi, r8d
  cmp edi, SIZE
  jb read
  inc r9d
  cmp r9d, r8d
  jb lap
  WRITE_MSR IA32_PERF_GLOBAL_CTRL, 0
  mov rsi, stride
  mov eax, r8d
  call show
  mov rsi, references
  mov ecx, IA32_PMC0
  rdmsr
  call show
  mov rsi, misses
  mov ecx, IA32_PMC1
  rdmsr
  call show
  call put_line
  shl r8d, 1
  cmp r8d, 512
  jbe next
  hlt

show:
  call puts
  jmp put_number

stride:     db 'stride ', 0
references: db ': reads ', 0
misses:     db ', misses ', 0
