// What the shared library shows. Everything else in it is hidden.
#pragma once

#define TALLY_API __attribute__((visibility("default")))
