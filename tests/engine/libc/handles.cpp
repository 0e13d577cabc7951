// Handles a SIGSEGV on a page of its own and continues; exits with 3.
#include <sys/mman.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>

namespace {

char* page = nullptr;
volatile int faults = 0;

void repair(int, siginfo_t* info, void*) {
  if (info->si_addr != page) _exit(9);
  faults = faults + 1;
  mprotect(page, 4096, PROT_READ | PROT_WRITE);
}

}  // namespace

int main() {
  struct sigaction action {};
  action.sa_sigaction = repair;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &action, nullptr);
  page = static_cast<char*>(mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  for (int i = 0; i < 100; ++i) {
    mprotect(page, 4096, PROT_NONE);
    *page = static_cast<char>(i);
  }
  std::printf("%d faults\n", faults);
  return 3;
}
