// Enters regions of code that is unloaded before the results are written: once of the first plugin, twice of the
// second. Prints the addresses of both names.
//
//     plugin_host FIRST SECOND
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

#include "tally/tally.hpp"

namespace {

void enter(const char* path, tally::Counters& counters, int times) {
  void* const plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (plugin == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    std::exit(1);
  }
  const auto function = reinterpret_cast<const char* (*)(tally::Counters&)>(dlsym(plugin, "enter"));
  const char* name = nullptr;
  for (int i = 0; i < times; ++i) name = function(counters);
  std::printf("%p\n", static_cast<const void*>(name));
  dlclose(plugin);
}

}  // namespace

int main(int, char** argv) {
  auto counters = tally::Counters::open({"page-faults"});
  if (!counters) {
    std::puts(counters.error().message.c_str());
    return 77;
  }
  enter(argv[1], *counters, 1);
  enter(argv[2], *counters, 2);
}
