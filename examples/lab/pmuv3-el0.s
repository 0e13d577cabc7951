// tally lab
//
// Levels (A11): P and U of PMEVTYPER exclude EL1 and EL0, the inverse of Intel's OS and USR. PMUSERENR_EL0 determines
// what EL0 may read.
.arch armv8-a
.include "lab.inc"
.globl _start
_start:
  WRITE_REGISTER pmcntenclr_el0, 0xffffffff
  WRITE_REGISTER pmintenclr_el1, 0xffffffff
  WRITE_REGISTER pmovsclr_el0, 0xffffffff
  WRITE_REGISTER pmevtyper0_el0, 0x80000008   // P: not EL1
  WRITE_REGISTER pmevtyper1_el0, 0x40000008   // U: not EL0
  WRITE_REGISTER pmuserenr_el0, 8             // ER: event counters may be read
  WRITE_REGISTER pmcr_el0, 2
  WRITE_REGISTER pmcntenset_el0, 3
  WRITE_REGISTER pmcr_el0, 1
  isb
  nop
  nop
  ENTER_USER user
user:
  .rept 10
  nop
  .endr
  mrs x0, pmevcntr0_el0
  mrs x1, pmevcntr1_el0
  EXIT 0
