; tally lab
; Two counters that one write starts and one write stops have the same value: IA32_PMC0 and IA32_FIXED_CTR0 both count
; instructions. (Corrects two typing errors of the listing in the notes, 7.5.)
%include "lab.inc"

  WRITE_MSR IA32_PERF_GLOBAL_CTRL, 0
  WRITE_MSR IA32_PERFEVTSEL0, 5300C0h
  mov ecx, IA32_FIXED_CTR_CTRL
  rdmsr
  or eax, 0Bh                   ; fixed counter 0: OS, USR, PMI
  wrmsr

  mov ecx, IA32_PERF_GLOBAL_CTRL
  rdmsr
  bts eax, 0                    ; IA32_PMC0
  bts edx, 0                    ; IA32_FIXED_CTR0
  wrmsr

  times 50 nop

  xor eax, eax
  xor edx, edx
  wrmsr                         ; ECX still names the register
  mov eax, 0
  call dump_counter
  mov ecx, IA32_FIXED_CTR0
  mov esi, name
  call dump_msr
  hlt

name: db 'FIXED_CTR0 = ', 0
