// All programs that tally ships.
#define SHIPPED 1
#include "../shipped.h"

#define OP load
#include "element_forms.h"
#define OP store
#include "element_forms.h"
#define OP copy
#include "element_forms.h"
#define OP compare
#include "element_forms.h"

#include "../shipped_everywhere.h"
