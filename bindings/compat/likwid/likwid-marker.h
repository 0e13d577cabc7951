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
#define LIKWID_MARKER_WRITE_FILE(file)
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
#define LIKWID_MARKER_WRITE_FILE(file)
#define LIKWID_MARKER_CLOSE
#endif

/* Graphics processors are not counted. The names of older and newer versions. */
#define LIKWID_NVMARKER_INIT
#define LIKWID_NVMARKER_THREADINIT
#define LIKWID_NVMARKER_SWITCH
#define LIKWID_NVMARKER_REGISTER(name)
#define LIKWID_NVMARKER_START(name)
#define LIKWID_NVMARKER_STOP(name)
#define LIKWID_NVMARKER_GET(name, ...)
#define LIKWID_NVMARKER_RESET(name)
#define LIKWID_NVMARKER_WRITE_FILE(file)
#define LIKWID_NVMARKER_CLOSE
#define NVMON_MARKER_INIT
#define NVMON_MARKER_THREADINIT
#define NVMON_MARKER_SWITCH
#define NVMON_MARKER_REGISTER(name)
#define NVMON_MARKER_START(name)
#define NVMON_MARKER_STOP(name)
#define NVMON_MARKER_GET(name, ...)
#define NVMON_MARKER_RESET(name)
#define NVMON_MARKER_WRITE_FILE(file)
#define NVMON_MARKER_CLOSE
#define ROCMON_MARKER_INIT
#define ROCMON_MARKER_THREADINIT
#define ROCMON_MARKER_SWITCH
#define ROCMON_MARKER_REGISTER(name)
#define ROCMON_MARKER_START(name)
#define ROCMON_MARKER_STOP(name)
#define ROCMON_MARKER_GET(name, ...)
#define ROCMON_MARKER_RESET(name)
#define ROCMON_MARKER_WRITE_FILE(file)
#define ROCMON_MARKER_CLOSE

#endif
