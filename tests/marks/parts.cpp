// Does one thing, a few times: the first argument selects it.
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <stdexcept>
#include <string_view>
#include <thread>
#include <vector>

extern "C" {
void known(long n);
void jumped_to(long n);
void down(long n);
void touches(const char* memory);
void catches();
}

namespace parts {

struct Object {
  explicit Object(int n);
  int value;
};
[[gnu::noipa]] Object::Object(int n) : value(n) { known(n); }
[[gnu::noipa]] void over(int n) { known(n); }
[[gnu::noipa]] void over(double n) { known(static_cast<long>(n)); }
[[gnu::noipa]] void throws(int depth) {
  if (depth == 0) throw std::runtime_error("out of all of them");
  throws(depth - 1);
  known(1);
}
[[gnu::noipa]] void ends(int code) {
  known(3);
  std::exit(code);
}

}  // namespace parts

namespace {

alignas(4096) char memory[8192];

void in_threads() {
  std::vector<std::thread> threads;
  for (int i = 1; i <= 3; ++i) {
    threads.emplace_back([i] {
      for (int k = 0; k < i; ++k) known(i);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

void in_a_child() {
  known(1);
  const pid_t child = fork();
  if (child == 0) {
    known(2);
    known(2);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
}

}  // namespace

int main(int count, char** words) {
  const std::string_view what = count > 1 ? words[1] : "";
  if (what == "known") {
    for (long n = 1; n <= 7; ++n) known(n);
  } else if (what == "often") {
    // At system calls the engine reoptimizes code that ran often.
    for (int i = 0; i < 100'000; ++i) {
      known(3);
      if (i % 100 == 0) (void)getppid();
    }
  } else if (what == "tail") {
    for (long n = 1; n <= 4; ++n) jumped_to(n);
  } else if (what == "down") {
    down(3);
    down(5);
  } else if (what == "leap") {
    for (int i = 0; i < 20; ++i) catches();
  } else if (what == "throw") {
    for (int i = 0; i < 20; ++i) {
      try {
        parts::throws(3);
      } catch (const std::exception&) {
      }
    }
  } else if (what == "over") {
    parts::over(4);
    parts::over(2.0);
    parts::Object object(6);
  } else if (what == "touch") {
    touches(memory);
  } else if (what == "threads") {
    in_threads();
  } else if (what == "fork") {
    in_a_child();
  } else if (what == "exit") {
    parts::ends(0);
  } else if (what == "load") {
    void* library = dlopen(words[2], RTLD_NOW);
    if (library == nullptr) return 1;
    const auto late = reinterpret_cast<void (*)()>(dlsym(library, "late"));
    for (int i = 0; i < 3; ++i) late();
  } else {
    return 1;
  }
  return 0;
}
