; tally lab
; The macro that the notes print for clearing overflows writes EDX = 3: the overflow of fixed counter 2, bit 34, stays.
; With 7 it is cleared.
%include "lab.inc"

  WRITE_MSR IA32_FIXED_CTR_CTRL, 300h             ; fixed counter 2: OS, USR
  WRITE_MSR IA32_FIXED_CTR2, 0FFFFFFFFFFFFh
  WRITE_MSR IA32_PERF_GLOBAL_CTRL, 4 << 32
  nop
  WRITE_MSR IA32_PERF_GLOBAL_CTRL, 0

  mov ecx, IA32_PERF_GLOBAL_OVF_CTRL
  mov eax, 0Fh
  mov edx, 03h
  wrmsr
  call show
  mov ecx, IA32_PERF_GLOBAL_OVF_CTRL
  mov eax, 0Fh
  mov edx, 07h
  wrmsr
  call show
  hlt

show:
  mov ecx, IA32_PERF_GLOBAL_STATUS
  mov esi, name
  jmp dump_msr

name: db 'IA32_PERF_GLOBAL_STATUS = ', 0
