// Tables of the programs that tally ships (image.cpp): their code, the offsets of their parameters, and their names.
// The tables contain no addresses and need no relocations.
//
// The kinds of values; image.cpp has the same numbers.
#define VALUE_n 0
#define VALUE_first 1
#define VALUE_second 2
#define VALUE_third 3
#define VALUE_bytes 4
#define VALUE_stride 5
#define VALUE_steps 6
#define VALUE_cells 7
#define VALUE_row 8
#define VALUE_k 9
#define VALUE_seed 10
#define VALUE_last 11
#define VALUE_rounds 12
#define VALUE_pages 13

#define GLUED(a, b, c) a##b##c
#define STRING(a, b, c) GLUED(a, b, c)

        .section .rodata.tally_code, "a"
        .globl tally_code
        .hidden tally_code
tally_code:
        .section .rodata.tally_values, "a"
        .balign 4
        .globl tally_values
        .hidden tally_values
tally_values:
        .section .rodata.tally_programs, "a"
        .balign 4
        .globl tally_programs
        .hidden tally_programs
tally_programs:

// Begins a program: the offsets of its code and of its first value, and its name. It ends where the next one begins.
        .macro program name
        .section .rodata.tally_values, "a"
7772:
        .section .rodata.tally_code, "a"
7771:
        .section .rodata.tally_programs, "a"
        .long 7771b - tally_code
        .long 7772b - tally_values
7773:   .ascii "\name"
        .skip 24 - (. - 7773b)
        .section .rodata.tally_code, "a"
        .endm

// The preceding instruction has a value as its 32-bit immediate, or as its immediates.
        .macro filled_in value
7774:
        .pushsection .rodata.tally_values, "a"
        .long 7774b - tally_code - 4
        .long \value
        .popsection
        .endm

// Ends the table with a program without a name.
        .macro no_more_programs
        program
        .endm
