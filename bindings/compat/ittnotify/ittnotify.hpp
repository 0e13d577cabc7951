/// What the static part of Intel's ITT (ittnotify) shares with the library that INTEL_LIBITTNOTIFY64 names: structs of
/// its binary interface. Programs contain the static part; it passes its table of functions to __itt_api_init().
#pragma once
#include <pthread.h>

namespace tally::compat::itt {

/// Created by the static part, like StringHandle: a domain of tasks.
struct Domain {
  volatile int flags;
  const char* name;
  void* wide_name;
  int reserved;
  void* reserved_pointer;
  Domain* next;
};

struct StringHandle {
  const char* text;
  void* wide_text;
  int reserved;
  void* reserved_pointer;
  StringHandle* next;
};

/// Passed by value.
struct Id {
  unsigned long long words[3];
};

/// A function of the interface: the static part calls it through `*pointer`.
struct Function {
  const char* name;
  void** pointer;
  void* initial;
  void* fallback;  ///< of the static part; null: calls return 0
  int group;
};

/// The static part of a program or shared library.
struct Global {
  unsigned char magic[8];
  unsigned long major, minor, build;
  volatile long is_initialized, has_mutex, count;
  pthread_mutex_t mutex;
  void* library;
  void* error_handler;
  const char** library_path;
  Function* functions;  ///< ends with a name that is null
  // Lists of the static part follow.
};

}  // namespace tally::compat::itt
