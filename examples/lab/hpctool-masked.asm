; tally lab -q
; HPCTool's sampling mode with a handler that leaves the local vector masked: fixed counter 0 is loaded with
; 2^48 - 50000, interrupts once, and never again: one row, and the row of the second trap.
%include "lab.inc"
PERIOD equ 50000

  mov esi, 2Eh
  mov edi, trap
  call set_user_handler
  mov esi, APIC_PERFMON_VECTOR
  mov edi, sample
  call set_interrupt_handler
  mov dword [APIC_BASE + LVT_PERFMON], APIC_PERFMON_VECTOR
  WRITE_MSR IA32_FIXED_CTR_CTRL, 22Ah             ; three, user mode, PMI of the first
  WRITE_MSR IA32_PERFEVTSEL0, 4100C4h
  WRITE_MSR IA32_PERFEVTSEL1, 4100C5h
  WRITE_MSR IA32_PERFEVTSEL2, 414F2Eh
  WRITE_MSR IA32_PERFEVTSEL3, 41412Eh
  call rearm
  WRITE_MSR IA32_PERF_GLOBAL_CTRL, 70000000Fh
  sti
  ENTER_USER program

program:
  mov eax, 19h
  int 2Eh
  mov ecx, 499999               ; 1 + 2 * 499999 + 1: a million
again:
  dec ecx
  jnz again
  nop
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
  call rearm
  RESTORE_CONTEXT
  iret

sample:
  STORE_CONTEXT
  call record
  call rearm
  WRITE_MSR IA32_PERF_GLOBAL_OVF_CTRL, 1 << 32
  RESTORE_CONTEXT
  mov dword [APIC_BASE + EOI], 0
  iret

; The instruction counter has wrapped: its value is the excess over the period. Before the overflow it is below 0.
record:
  mov ecx, IA32_FIXED_CTR0
  rdmsr
  add eax, PERIOD
  call put_number
  mov esi, columns
.next:
  mov ecx, [esi]
  jecxz .done
  push esi
  mov esi, comma
  call puts
  pop esi
  rdmsr
  call put_number
  add esi, 4
  jmp .next
.done:
  jmp put_line

rearm:
  WRITE_MSR IA32_FIXED_CTR0, (1 << 48) - PERIOD
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
columns: dd IA32_FIXED_CTR1, IA32_FIXED_CTR2, IA32_PMC0, IA32_PMC1, IA32_PMC2, IA32_PMC3, 0
armed: dd 0
comma: db ',', 0
