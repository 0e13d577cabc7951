// Marks the symbols that the shared library exports. All others are hidden.
#pragma once

#define TALLY_API __attribute__((visibility("default")))
