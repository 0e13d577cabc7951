; tally lab
; A halted processor: in HLT the counters stop, but the time stamp counter continues. The local APIC's timer
; wakes it after 3,500,000 ticks, a millisecond at 3.5 GHz. So reference cycles of RDPMC are not RDTSC.
bits 64
%include "lab.inc"
TICKS equ 3500000

  mov esi, 40h
  mov edi, woken
  call set_interrupt_handler
  WRITE_MSR IA32_FIXED_CTR_CTRL, 333h
  WRITE_MSR IA32_PERF_GLOBAL_CTRL, 7 << 32
  mov ebx, APIC_BASE
  mov dword [rbx + LVT_TIMER], 40h
  mov dword [rbx + APIC_TIMER_DIVIDE], 0Bh        ; by 1

  rdtsc
  mov r15d, eax
  mov dword [rbx + APIC_TIMER_COUNT], TICKS
  sti
  hlt
  rdtsc
  sub eax, r15d
  mov r15d, eax

  WRITE_MSR IA32_PERF_GLOBAL_CTRL, 0
  mov rsi, stamps
  mov eax, r15d
  call show
  mov rsi, instructions
  mov ecx, IA32_FIXED_CTR0
  call show_msr
  mov rsi, cycles
  mov ecx, IA32_FIXED_CTR1
  call show_msr
  mov rsi, reference
  mov ecx, IA32_FIXED_CTR2
  call show_msr
  cli
  hlt

show_msr:
  rdmsr
show:
  call puts
  call put_number
  jmp put_line

woken:
  mov dword [rbx + APIC_EOI], 0
  iretq

stamps:       db 'time stamps      ', 0
instructions: db 'instructions     ', 0
cycles:       db 'core cycles      ', 0
reference:    db 'reference cycles ', 0
