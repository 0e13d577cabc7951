; tally lab
; Experiment 15-2 the other way round: the event is chosen first, the global enable comes last, as Intel recommends.
; The count is the same. First disables all counters, because the general-purpose ones are on after power-up.
%include "lab.inc"

  WRITE_MSR IA32_PERF_GLOBAL_CTRL, 0
  WRITE_MSR IA32_PERFEVTSEL0, 5300C0h
  mov ecx, IA32_PERF_GLOBAL_CTRL
  rdmsr
  bts eax, 0
  wrmsr

  call foo

  mov ecx, IA32_PERF_GLOBAL_CTRL
  rdmsr
  btr eax, 0
  wrmsr
  mov eax, 0
  call dump_counter
  hlt

foo:
  mov esi, message
  call puts
  ret

message:
  db 'Each character of this text costs five instructions: load, test, jump, output, jump. '
  db 'With the call, the frame and the return they are 773 together.'
  times 150 - ($ - message) db '.'
  db 10, 0
