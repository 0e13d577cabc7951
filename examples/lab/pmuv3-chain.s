// tally lab
//
// 64 bits of two counters (A6): CHAIN on counter 1 counts the overflows of counter 0. Both wrap here.
.arch armv8-a
.include "lab.inc"
.globl _start
_start:
  WRITE_REGISTER pmcntenclr_el0, 0xffffffff
  WRITE_REGISTER pmintenclr_el1, 0xffffffff
  WRITE_REGISTER pmovsclr_el0, 0xffffffff
  WRITE_REGISTER pmevtyper0_el0, 0x08
  WRITE_REGISTER pmevtyper1_el0, 0x1e
  WRITE_REGISTER pmevcntr0_el0, 0xfffffff0
  WRITE_REGISTER pmevcntr1_el0, 0xffffffff
  WRITE_REGISTER pmcntenset_el0, 3
  WRITE_REGISTER pmcr_el0, 1
  isb
  .rept 20
  nop
  .endr
  msr pmcr_el0, xzr
  isb
  mrs x0, pmevcntr0_el0
  mrs x1, pmevcntr1_el0
  mrs x2, pmovsset_el0
  EXIT 0
