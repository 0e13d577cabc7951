// The programs that exist on every architecture, each in its directory. The last lines of shipped.S.
        program nothing
#include "nothing.S"
        program countdown
#include "countdown.S"
#define SHAPE 5
        program fact5
#include "factorial.S"
#undef NOPS
#define NOPS 1
        program fact5_3nops
#include "factorial.S"
#undef NOPS
#define NOPS 3
        program fact5_9nops
#include "factorial.S"
#undef NOPS
#undef SHAPE
#define SHAPE 4
        program fact4
#include "factorial.S"
#undef SHAPE
#define SHAPE 3
        program fact3
#include "factorial.S"
        program matmul
#include "matmul.S"
        program stride
#include "stride.S"
        program calls
#include "calls.S"
#define TAKEN always
        program branches_always
#include "branches.S"
#undef TAKEN
#define TAKEN never
        program branches_never
#include "branches.S"
#undef TAKEN
#define TAKEN alternating
        program branches_alternating
#include "branches.S"
#undef TAKEN
#define TAKEN random
        program branches_random
#include "branches.S"
        program loops
#include "loops.S"
        program chase
#include "chase.S"
        program system_calls
#include "system_calls.S"
        program touch
#include "touch.S"
        program threads
#include "threads.S"
        program forks
#include "forks.S"
        program execs
#include "execs.S"
        no_more_programs
        .section .note.GNU-stack, "", @progbits
