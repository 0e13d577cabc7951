// tally lab --model apple-m1
//
// The framework's defect (M-3, AP2): it writes PMESR0 twice, so PMC6 to PMC9 are never programmed, and an event that
// only PMC7 counts, such as 97H, is never seen. An event on a counter that cannot count it stays 0.
.arch armv8-a
.include "lab.inc"
.globl _start
_start:
  WRITE_REGISTER PMCR1_EL1, 0x3030000ffff00
  // 97H, integer instructions, on all counters, like the framework.
  WRITE_REGISTER PMESR0_EL1, 0x97979797
  WRITE_REGISTER PMESR0_EL1, 0x97979797
  bl count
  // The correct way.
  WRITE_REGISTER PMESR1_EL1, 0x97979797
  bl count
  EXIT 0

count:
  mov x10, x30
  msr PMC7, xzr
  WRITE_REGISTER PMCR0_EL1, 0x3000000ff
  isb
  .rept 100
  add x1, x1, #1
  .endr
  msr PMCR0_EL1, xzr
  isb
  adr x0, text
  bl puts
  mrs x0, PMC7
  bl put_number
  bl put_line
  ret x10
text: .asciz "97H on PMC7: "
