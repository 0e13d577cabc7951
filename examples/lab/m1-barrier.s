// tally lab --model apple-m1 --barriers
//
// A control register that was written takes effect at an ISB (AP7). With --barriers it reads as rubbish before it, so
// that a program which forgets the barrier is noticed.
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
