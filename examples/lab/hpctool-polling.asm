; tally lab -q
; HPCTool's polling mode: a driver sets three fixed and four general-purpose counters up for user mode; a trap (INT 2EH
; with EAX = 19H) zeroes them, the next one records a row: instructions, core cycles, reference cycles, branches,
; mispredicted branches, references and misses of the last level cache. K instructions between the traps are K + 2 in the
; row: the MOV and the INT of the second trap are in user mode, too. -D K=5000 changes it.
%include "lab.inc"
%ifndef K
%define K 1000
%endif

  mov esi, 2Eh
  mov edi, trap
  call set_user_handler
  WRITE_MSR IA32_FIXED_CTR_CTRL, 222h             ; three, user mode, no PMI
  WRITE_MSR IA32_FIXED_CTR0, 0
  WRITE_MSR IA32_PERFEVTSEL0, 4100C4h             ; branches, user mode
  WRITE_MSR IA32_PERFEVTSEL1, 4100C5h             ; mispredicted ones
  WRITE_MSR IA32_PERFEVTSEL2, 414F2Eh             ; references of the last level cache
  WRITE_MSR IA32_PERFEVTSEL3, 41412Eh             ; its misses
  call zero
  WRITE_MSR IA32_PERF_GLOBAL_CTRL, 70000000Fh
  ENTER_USER program

program:
  mov eax, 19h
  int 2Eh
  times K nop
  mov eax, 19h
  int 2Eh
  EXIT 0

trap:
  STORE_CONTEXT
  cmp dword [armed], 0
  je .arm
  call record
.arm:
  mov dword [armed], 1
  call zero
  RESTORE_CONTEXT
  iret

; A row, in HPCTool's order.
record:
  mov esi, columns
.next:
  mov ecx, [esi]
  jecxz .done
  rdmsr
  call put_number
  push esi
  mov esi, comma
  cmp ecx, IA32_PMC3
  jne .put
  mov esi, line
.put:
  call puts
  pop esi
  add esi, 4
  jmp .next
.done:
  ret

zero:
  mov esi, columns
.next:
  mov ecx, [esi]
  jecxz .done
  xor eax, eax
  xor edx, edx
  wrmsr
  add esi, 4
  jmp .next
.done:
  ret

align 4
columns: dd IA32_FIXED_CTR0, IA32_FIXED_CTR1, IA32_FIXED_CTR2, IA32_PMC0, IA32_PMC1, IA32_PMC2, IA32_PMC3, 0
armed: dd 0
comma: db ',', 0
line:  db 10, 0
