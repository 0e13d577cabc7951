// tally lab --model apple-m1
//
// The M1 framework's set-up (M-1, AP1, AP3): its constants switch on ten counters, all of them at EL0, and PMC0 and PMC1
// at EL1 too. PMC0 counts cycles and PMC1 instructions, whatever PMESR contains.
.arch armv8-a
.include "lab.inc"
.globl _start
_start:
  WRITE_REGISTER PMESR0_EL1, 0x02020202
  WRITE_REGISTER PMESR1_EL1, 0x02020202
  WRITE_REGISTER PMCR1_EL1, 0x3000003ff00
  WRITE_REGISTER PMCR0_EL1, 0x3003400ff4ff
  isb
  // EL1: two counters count.
  nop
  nop
  mrs x1, PMC1_EL1
  mrs x2, PMC2_EL1
  ENTER_USER work
work:
  // EL0: all do.
  .rept 10
  nop
  .endr
  mrs x3, PMC2_EL1
  mrs x4, PMC9_EL1
  // Only PMC0 and PMC1: the other constant. EL0 may write, because bit 30 is set.
  WRITE_REGISTER PMCR0_EL1, 0x3000400ff403
  isb
  nop
  mrs x5, PMC9_EL1
  EXIT 0
