/* A library that is loaded when it is needed. 4 instructions with its return, if the compiler does nothing else. */
__attribute__((visibility("default"), noinline, naked)) void late(void) { __asm__("nop\n nop\n nop\n ret"); }
