// tally lab
//
// Counting with PMUv3 (A1, A9): a loop of N iterations is 2 + 2 N instructions: the ISB after the write that enables,
// the loop, and the write that disables.
.arch armv8-a
.include "lab.inc"
.equ ROUNDS, 1000
.globl _start
_start:
  // After reset the architecture defines only that PMCR_EL0.E is 0.
  WRITE_REGISTER pmcntenclr_el0, 0xffffffff
  WRITE_REGISTER pmintenclr_el1, 0xffffffff
  WRITE_REGISTER pmovsclr_el0, 0xffffffff
  WRITE_REGISTER pmccfiltr_el0, 0
  WRITE_REGISTER pmevtyper0_el0, 0x08     // INST_RETIRED
  WRITE_REGISTER pmevtyper1_el0, 0x21     // BR_RETIRED
  WRITE_REGISTER pmevtyper2_el0, 0x10     // BR_MIS_PRED
  WRITE_REGISTER pmcr_el0, 0x46           // zero all; the cycle counter is long
  WRITE_REGISTER pmcntenset_el0, 0x80000007
  mov x0, #ROUNDS
  mov x1, #0x41
  msr pmcr_el0, x1
  isb
1:
  subs x0, x0, #1
  b.gt 1b
  msr pmcr_el0, xzr
  isb
  bl dump_pmu
  EXIT 0
