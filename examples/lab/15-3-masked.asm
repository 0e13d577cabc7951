; tally lab
; A handler that does not clear the mask of the local vector sees one interrupt, however many overflows there are.
%include "lab.inc"

  mov esi, APIC_PERFMON_VECTOR
  mov edi, perfmon_handler
  call set_interrupt_handler
  mov dword [APIC_BASE + LVT_PERFMON], APIC_PERFMON_VECTOR
  sti
  WRITE_MSR IA32_PMC0, 0FFFFFFFFh
  WRITE_MSR IA32_PERFEVTSEL0, 5300C0h
  nop
  WRITE_MSR IA32_PMC0, 0FFFFFFFFh                 ; and once more
  nop
  WRITE_MSR IA32_PERFEVTSEL0, 0
  hlt

perfmon_handler:
  STORE_CONTEXT
  mov esi, entered
  call puts
  RESET_COUNTER_OVERFLOW
  RESTORE_CONTEXT
  mov dword [APIC_BASE + EOI], 0
  iret

entered: db '>>> in the PMI handler', 10, 0
