// tally lab --model apple-m1
//
// The encodings of PMC8 and PMC9 (AP8): S3_2_C15_C9_0 follows S3_2_C15_C7_0. A table that continues with C8 reads a
// register that does not exist.
.arch armv8-a
.include "lab.inc"
.globl _start
_start:
  adr x0, vectors
  msr vbar_el1, x0
  mov x1, #8
  msr PMC8, x1
  mov x1, #9
  msr PMC9, x1
  mrs x2, S3_2_C15_C9_0
  mrs x3, S3_2_C15_C10_0
  mrs x4, S3_2_C15_C8_0       // undefined
  adr x0, text
  bl puts
  EXIT 0
text: .asciz "C8 is no register\n"

.balign 0x800
vectors:
  .skip 0x200
  // Synchronous, from EL1: skip the instruction.
  mrs x16, elr_el1
  add x16, x16, #4
  msr elr_el1, x16
  eret
