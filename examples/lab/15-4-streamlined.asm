; tally lab --model skylake-v4
; Since version 4 the freeze sets IA32_PERF_GLOBAL_STATUS[59]: counting resumes when 390H clears that.
; Experiment 15-4 of the Intel perfmon notes: the handler reads the counter twice, and executes something in between.
; Without FREEZE_PERFMON_ON_PMI (IA32_DEBUGCTL[12]) the second number is larger than the first; with it both are 0.
%include "lab.inc"

  mov esi, APIC_PERFMON_VECTOR
  mov edi, perfmon_handler
  call set_interrupt_handler
  mov dword [APIC_BASE + LVT_PERFMON], APIC_PERFMON_VECTOR
  sti

  mov esi, not_frozen
  call puts
  call overflow

  mov ecx, IA32_DEBUGCTL
  rdmsr
  bts eax, 12                   ; FREEZE_PERFMON_ON_PMI
  wrmsr
  mov esi, frozen
  call puts
  call overflow

  mov ecx, IA32_PERF_GLOBAL_CTRL
  mov esi, control
  call dump_msr
  mov ecx, IA32_PERF_GLOBAL_STATUS
  mov esi, status
  call dump_msr
  call count_ten                ; nothing: the counters are frozen
  WRITE_MSR IA32_PERF_GLOBAL_OVF_CTRL, 1 << 59
  call count_ten
  hlt

; Sets the counter to its largest value and starts it; the next instruction overflows it.
overflow:
  mov esi, IA32_PMC0
  call write_counter_maximum
  WRITE_MSR IA32_PERFEVTSEL0, 5300C0h
  nop
  WRITE_MSR IA32_PERFEVTSEL0, 0
  ret

; Ten NOPs, and the three instructions that load the registers and the write that stops the counter: 14, or nothing.
count_ten:
  WRITE_MSR IA32_PMC0, 0
  WRITE_MSR IA32_PERFEVTSEL0, 5300C0h
  times 10 nop
  WRITE_MSR IA32_PERFEVTSEL0, 0
  mov eax, 0
  jmp dump_counter

perfmon_handler:
  STORE_CONTEXT
  mov eax, 0
  call dump_counter
  mov esi, between
  call puts
  mov eax, 0
  call dump_counter
  mov ecx, IA32_PERF_GLOBAL_OVF_CTRL
  mov eax, 0Fh                  ; the freeze is left as it is
  mov edx, 7
  wrmsr
  RESTORE_CONTEXT
  btr dword [APIC_BASE + LVT_PERFMON], 16
  mov dword [APIC_BASE + EOI], 0
  iret

not_frozen: db '1. the counters go on in the handler', 10, 0
frozen:     db '2. the PMI freezes the counters', 10, 0
between:    db '   (something is executed)', 10, 0
control:    db 'IA32_PERF_GLOBAL_CTRL = ', 0
status:     db 'IA32_PERF_GLOBAL_STATUS = ', 0
