// tally lab --model apple-m1 --barriers
//
// A write to a control register takes effect at an ISB (AP7). With --barriers the register reads as garbage before it,
// which exposes a program without the barrier.
.arch armv8-a
.include "lab.inc"
.globl _start
_start:
  WRITE_REGISTER PMCR1_EL1, 0x30300
  WRITE_REGISTER PMCR0_EL1, 0x3
  nop
  mrs x0, PMCR0_EL1
  bl put_hex
  bl put_line
  mrs x1, PMC1                // still 0
  isb
  mrs x0, PMCR0_EL1
  bl put_hex
  bl put_line
  mrs x1, PMC1
  EXIT 0
