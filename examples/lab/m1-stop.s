// tally lab --model apple-m1
//
// The effect of an interrupt on the counters (AP4). With bit 20 of PMCR0 it stops all of them. The next interrupt comes
// only after software has cleared IACT.
.arch armv8-a
.include "lab.inc"
.globl _start
_start:
  WRITE_REGISTER PMCR1_EL1, 0x30300
  WRITE_REGISTER PMC1, (1 << 47) - 5
  WRITE_REGISTER PMCR0_EL1, 0x102403      // PMC0 and PMC1, mode FIQ, PMI on PMC1, stop
  isb
  // The FIQ is pending, because PSTATE.F is 1: the counters are stopped since the overflow.
  .rept 20
  nop
  .endr
  mrs x1, PMC1
  mrs x2, PMC0
  mrs x3, PMSR_EL1
  mrs x4, PMCR0_EL1
  // IACT = 0 restarts them; bit 47 of the counter must be cleared, or it interrupts again.
  msr PMC1, xzr
  CLEAR_INTERRUPT
  nop
  mrs x5, PMC1
  EXIT 0
