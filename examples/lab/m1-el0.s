// tally lab --model apple-m1
//
// Programs at EL0 (AP6): an access traps to EL1 unless bit 30 of PMCR0 is set.
.arch armv8-a
.include "lab.inc"
.globl _start
_start:
  adr x0, vectors
  msr vbar_el1, x0
  WRITE_REGISTER PMCR1_EL1, 0x30300
  WRITE_REGISTER PMCR0_EL1, 0x3
  isb
  ENTER_USER user
user:
  mrs x1, PMC1                // traps: the handler below sets the bit and comes back to it
  mrs x2, PMC1
  EXIT 0

.balign 0x800
vectors:
  .skip 0x400
  // Synchronous, from EL0.
  mrs x16, esr_el1
  lsr x16, x16, #26           // 18H: MRS or MSR
  cmp x16, #0x18
  b.ne 1f
  mrs x17, PMCR0_EL1
  orr x17, x17, #(1 << 30)
  msr PMCR0_EL1, x17
  isb
  eret
1: EXIT 1
