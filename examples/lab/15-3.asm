; tally lab
; An overflow calls a handler. Experiment 15-3 of the Intel perfmon notes.
; The counter has its largest value, so that the first counted instruction overflows it. In the handler the status shows
; bit 0, the local vector its mask (10033H): hardware sets it. The handler clears both, sends an EOI, and returns to the
; instruction after the one that overflowed the counter.
%include "lab.inc"

  mov esi, APIC_PERFMON_VECTOR
  mov edi, perfmon_handler
  call set_interrupt_handler
  mov dword [APIC_BASE + LVT_PERFMON], APIC_PERFMON_VECTOR
  sti

  mov esi, IA32_PMC0
  call write_counter_maximum
  mov ecx, IA32_PERF_GLOBAL_CTRL
  rdmsr
  bts eax, 0
  wrmsr
  mov ecx, IA32_PERFEVTSEL0
  mov eax, 5300C0h
  mov edx, 0
  wrmsr
  nop                           ; this one overflows it
  nop                           ; the handler returns to this one

  WRITE_MSR IA32_PERFEVTSEL0, 0
  mov ecx, IA32_PERF_GLOBAL_STATUS
  mov esi, status
  call dump_msr
  hlt

perfmon_handler:
  STORE_CONTEXT
  mov esi, entered
  call puts
  call dump_perfmon
  RESET_COUNTER_OVERFLOW
  mov esi, leaving
  call puts
  RESTORE_CONTEXT
  btr dword [APIC_BASE + LVT_PERFMON], 16
  mov dword [APIC_BASE + EOI], 0
  iret

entered: db '>>> in the PMI handler', 10, 0
leaving: db '<<< out of the PMI handler', 10, 0
status:  db 'behind it: IA32_PERF_GLOBAL_STATUS = ', 0
