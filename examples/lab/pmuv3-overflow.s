// tally lab
//
// An overflow handler with PMUv3 (A3, A7): the counter continues after its overflow, and the flag stays set until it is
// cleared. The interrupt is level-triggered: a handler that does not clear the flag is entered again at once.
.arch armv8-a
.include "lab.inc"
.equ PERIOD, 1000
.globl _start
_start:
  adr x0, handler
  bl set_interrupt_handler
  mov x20, #0
  WRITE_REGISTER pmcntenclr_el0, 0xffffffff
  WRITE_REGISTER pmintenclr_el1, 0xffffffff
  WRITE_REGISTER pmovsclr_el0, 0xffffffff
  WRITE_REGISTER pmevtyper0_el0, 0x08
  WRITE_REGISTER pmevcntr0_el0, 0x100000000 - PERIOD
  WRITE_REGISTER pmintenset_el1, 1
  msr daifclr, #2
  WRITE_REGISTER pmcntenset_el0, 1
  WRITE_REGISTER pmcr_el0, 1
  isb
  mov x1, #2500
1:
  subs x1, x1, #1
  b.ne 1b
  msr pmcr_el0, xzr
  isb
  adr x0, text
  bl puts
  mov x0, x20
  bl put_number
  bl put_line
  EXIT 0

handler:
  stp x16, x17, [sp, #-16]!
  add x20, x20, #1
  WRITE_REGISTER pmevcntr0_el0, 0x100000000 - PERIOD
  CLEAR_OVERFLOWS
  ldp x16, x17, [sp], #16
  eret
text: .asciz "samples: "
