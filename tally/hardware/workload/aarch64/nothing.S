// Ends at once: what is counted more than these three instructions came from starting and stopping.
#include "program.h"
        BEGIN
#include "end.h"
        .section .note.GNU-stack, "", @progbits
