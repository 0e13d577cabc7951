// All programs that tally ships.
#define SHIPPED 1
#include "../shipped.h"

#define OP lods
#include "string_forms.h"
#define OP stos
#include "string_forms.h"
#define OP movs
#include "string_forms.h"
#define OP scas
#include "string_forms.h"
#define OP cmps
#include "string_forms.h"

        program region
#include "region.S"
#include "../shipped_everywhere.h"
