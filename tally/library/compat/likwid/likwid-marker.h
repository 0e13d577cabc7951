/* LIKWID's marker API over tally's regions: programs that mark regions for likwid-perfctr -m count them with tally.
 *
 *     cc -DLIKWID_PERFMON -I PREFIX/include/tally/compat/likwid prog.c -L PREFIX/lib/tally/compat -llikwid
 *     tally stat -e instructions,branches -- ./prog
 *
 * As in LIKWID, the macros are empty without LIKWID_PERFMON. See docs/guides/from-likwid.md. */
#ifndef LIKWID_MARKER_H
#define LIKWID_MARKER_H

#ifdef LIKWID_PERFMON
#include "likwid.h"
#define LIKWID_MARKER_INIT likwid_markerInit()
#define LIKWID_MARKER_THREADINIT likwid_markerThreadInit()
#define LIKWID_MARKER_SWITCH likwid_markerNextGroup()
#define LIKWID_MARKER_REGISTER(name) likwid_markerRegisterRegion(name)
#define LIKWID_MARKER_START(name) likwid_markerStartRegion(name)
#define LIKWID_MARKER_STOP(name) likwid_markerStopRegion(name)
#define LIKWID_MARKER_GET(name, room, counts, seconds, entries) \
  likwid_markerGetRegion(name, room, counts, seconds, entries)
#define LIKWID_MARKER_RESET(name) likwid_markerResetRegion(name)
#define LIKWID_MARKER_CLOSE likwid_markerClose()
#else
#define LIKWID_MARKER_INIT
#define LIKWID_MARKER_THREADINIT
#define LIKWID_MARKER_SWITCH
#define LIKWID_MARKER_REGISTER(name)
#define LIKWID_MARKER_START(name)
#define LIKWID_MARKER_STOP(name)
#define LIKWID_MARKER_GET(name, room, counts, seconds, entries)
#define LIKWID_MARKER_RESET(name)
#define LIKWID_MARKER_CLOSE
#endif

#endif
