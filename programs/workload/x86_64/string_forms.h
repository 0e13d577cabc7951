// The eight forms of a string instruction, OP.
#define W 1
#define REP 0
        program STRING(loop_, OP, b)
#include "string.S"
#define WARM 1
        program STRING(loop_, OP, b_warm)
#include "string.S"
#undef WARM
#undef REP
#define REP 1
        program STRING(rep_, OP, b)
#include "string.S"
#define WARM 1
        program STRING(rep_, OP, b_warm)
#include "string.S"
#undef WARM
#undef W
#define W 2
        program STRING(rep_, OP, w)
#include "string.S"
#define WARM 1
        program STRING(rep_, OP, w_warm)
#include "string.S"
#undef WARM
#undef REP
#define REP 0
        program STRING(loop_, OP, w)
#include "string.S"
#define WARM 1
        program STRING(loop_, OP, w_warm)
#include "string.S"
#undef WARM
#undef REP
#undef W
#undef OP
