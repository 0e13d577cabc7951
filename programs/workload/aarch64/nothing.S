// Exits at once: any count above these three instructions is due to starting and stopping.
#include "program.h"
        BEGIN
#include "end.h"
        .section .note.GNU-stack, "", @progbits
