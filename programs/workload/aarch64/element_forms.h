// The four forms of an operation, OP.
#define W 1
        program STRING(loop_, OP, b)
#include "elements.S"
#define WARM 1
        program STRING(loop_, OP, b_warm)
#include "elements.S"
#undef WARM
#undef W
#define W 2
        program STRING(loop_, OP, w)
#include "elements.S"
#define WARM 1
        program STRING(loop_, OP, w_warm)
#include "elements.S"
#undef WARM
#undef W
#undef OP
