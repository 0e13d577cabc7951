// A program with regions: it touches a page for each unit of its argument.
//
//     marked [bad] [fork] [fork,_exit] [fork,kill] [fork,exec] [fork,open] [idle] [other] [thread] [PAGES…]
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <thread>

#include "tally/library/tally.hpp"

namespace {

void touch(int pages) {
  constexpr std::size_t page_bytes = 4096;
  const std::size_t bytes = static_cast<std::size_t>(pages) * page_bytes;
  auto* at =
      static_cast<volatile char*>(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  for (std::size_t i = 0; i < bytes; i += page_bytes) at[i] = 1;
}

void enter(tally::Counters& counters, int pages) {
  const tally::Region region{counters, "touch, then \"go\""};
  touch(pages);
}

void act(tally::Counters& counters, std::string_view word) {
  if (word == "thread") {
    std::thread([&] { enter(counters, 5); }).join();
  } else if (word == "other") {
    auto other = tally::Counters::open({"minor-faults"});
    if (other) enter(*other, 2);
  } else if (word.starts_with("fork") || word == "idle") {
    if (fork() == 0) {
      if (word != "idle") const tally::Region region{counters, "child"};
      if (word == "fork,_exit") _exit(0);
      if (word == "fork,kill") (void)raise(SIGKILL);
      if (word == "fork,exec") (void)execl("/bin/true", "true", nullptr);
      if (word == "fork,open") {
        const tally::Region region{counters, "child"};
        _exit(0);
      }
      std::exit(0);
    }
    wait(nullptr);
  } else {
    enter(counters, std::atoi(word.data()));
  }
}

}  // namespace

int main(int argc, char** argv) {
  const bool bad = argc > 1 && std::string_view(argv[1]) == "bad";
  auto counters = tally::Counters::open({bad ? "nothing-like-it" : "page-faults"});
  if (!counters) {
    std::fputs(counters.error().message.c_str(), stdout);
    return 77;
  }
  for (int i = 1; i < argc; ++i) act(*counters, argv[i]);
}
