// Libraries that are loaded, called and unloaded in turns, mostly at one address. The arguments: the folder of the
// libraries, the number of turns.
#include <dlfcn.h>
#include <stdlib.h>

#include <string>

int main(int argc, char** argv) {
  if (argc < 3) return 99;
  const std::string folder = argv[1];
  for (int i = 0; i < atoi(argv[2]); ++i) {
    const int expected = 1 + i % 2;
    void* library = dlopen((folder + "/plugin_" + std::to_string(expected) + ".so").c_str(), RTLD_NOW);
    if (library == nullptr) return 1;
    const auto value = reinterpret_cast<int (*)()>(dlsym(library, "value"));
    if (value == nullptr || value() != expected) return 2;
    dlclose(library);
  }
  return 0;
}
