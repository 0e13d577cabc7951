/* A library that is loaded on demand. 4 instructions with its return, if the compiler adds nothing. */
__attribute__((visibility("default"), noinline, naked)) void late(void) { __asm__("nop\n nop\n nop\n ret"); }
