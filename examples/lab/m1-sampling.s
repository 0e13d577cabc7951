// tally lab --model apple-m1
//
// Sampling, which the M1 framework calls impossible (M-2, AP4, AP5): a counter interrupts when its bit 47 becomes set.
// Loaded with 2^47 - 1000, it does so every 1000 events.
.arch armv8-a
.include "lab.inc"
.equ PERIOD, 1000
.globl _start
_start:
  adr x0, handler
  bl set_interrupt_handler
  mov x20, #0                 // samples
  WRITE_REGISTER PMC1, (1 << 47) - PERIOD
  WRITE_REGISTER PMCR1_EL1, 0x20200       // PMC1 at EL0 and EL1
  msr daifclr, #1
  WRITE_REGISTER PMCR0_EL1, 0x2402        // PMC1 on, mode FIQ, PMC1 may interrupt
  isb
  mov x1, #2500
1:
  subs x1, x1, #1
  b.ne 1b
  msr PMCR0_EL1, xzr
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
  WRITE_REGISTER PMC1, (1 << 47) - PERIOD
  CLEAR_INTERRUPT
  ldp x16, x17, [sp], #16
  eret
text: .asciz "samples: "
