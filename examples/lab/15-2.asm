; tally lab
; How many instructions does a function execute? Experiment 15-2 of the Intel perfmon notes.
; The counter is enabled by two registers; the global one comes first here. It reads 309H (777): the function's 773, and
; the four instructions that stop the counter. The write that starts it is not counted, the one that stops it is.
%include "lab.inc"

  mov ecx, IA32_PERF_GLOBAL_CTRL
  rdmsr
  bts eax, 0                    ; IA32_PMC0 may count
  wrmsr
  call dump_pmc                 ; nothing has been counted

  mov ecx, IA32_PERFEVTSEL0
  mov eax, 5300C0h              ; EN, INT, OS, USR; event C0H: instructions retired
  mov edx, 0
  wrmsr

  call foo

  mov ecx, IA32_PERFEVTSEL0
  rdmsr
  btr eax, 22                   ; EN
  wrmsr
  call dump_pmc
  hlt

; 773 instructions, including the call: 5 for each of 151 characters, and 18 more.
foo:
  mov esi, message
  call puts
  ret

message:
  db 'Each character of this text costs five instructions: load, test, jump, output, jump. '
  db 'With the call, the frame and the return they are 773 together.'
  times 150 - ($ - message) db '.'
  db 10, 0
