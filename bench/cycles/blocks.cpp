// Measures basic blocks without a PMU: the time of a block divided by the time of a dependent addition, which takes one
// cycle.
//
//   bench_blocks native FILE [SAMPLES]   prints for each block: ID, cycles by even samples, by odd samples; or "failed"
//   bench_blocks run FILE                executes the blocks untimed, as functions ID.1 and ID.2 of a perf map, and
//                                        prints for each block: ID, by how many executions the second has more
//
// A line of FILE is "ID HEX [OFFSET:END …]": the bytes of the block, and its RIP-relative displacements with the ends
// of their instructions. Each general register points to three lines of its own, RSP and RBP to a page each. Memory
// holds pointers to another page. Eight physical pages are mapped wherever a block accesses memory, so all of it stays
// in L1D. Each round sets registers and memory again, and lfence separates it from the others.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <x86intrin.h>

#include <algorithm>
#include <cerrno>
#include <csetjmp>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <initializer_list>
#include <span>
#include <sstream>
#include <string>
#include <vector>

namespace {

constexpr std::uint64_t code_at = 0x1000'0000, registers_at = 0x232'4000, rsp_at = 0x233'1800, rbp_at = 0x233'27f0;
constexpr std::uint64_t pointer = 0x233'3000;      // what memory holds
constexpr std::uint64_t rip_target = 0x233'aa00;   // the first RIP-relative operand; 64 bytes for each
constexpr std::uint32_t variables = 0x6000'0000;   // counter, RSP, initial vector
constexpr std::uint32_t image = variables + 4096;  // the initial contents of the pages that are set again
constexpr std::uint32_t memory = variables + 65536;
constexpr std::size_t page = 4096, pages = 8, code_bytes = 1 << 20, chain = 20000;

struct Fixup {
  std::size_t offset = 0, end = 0;
};

struct Block {
  std::string id;
  std::vector<std::uint8_t> bytes;
  std::vector<Fixup> fixups;
};

// Copies in the shorter function: both fit into L1I.
std::size_t copies_of(const Block& block) {
  return std::clamp<std::size_t>(6000 / std::max<std::size_t>(block.bytes.size(), 1), 20, 100);
}

std::vector<Block> read_blocks(const char* path) {
  std::vector<Block> blocks;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::stringstream words(line);
    Block block;
    std::string hex;
    if (!(words >> block.id >> hex)) continue;
    for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
      block.bytes.push_back(static_cast<std::uint8_t>(std::stoul(hex.substr(i, 2), nullptr, 16)));
    char colon = 0;
    for (Fixup fixup; words >> fixup.offset >> colon >> fixup.end;) block.fixups.push_back(fixup);
    blocks.push_back(std::move(block));
  }
  return blocks;
}

// The state of the signal handler.
int page_file = -1;
int faults = 0;
bool timing = false;
sigjmp_buf* skip = nullptr;  // where execution continues after a fault that no page repairs

[[noreturn]] void give_up(int status) {
  if (skip != nullptr) siglongjmp(*skip, 1);
  _exit(status);
}

// Maps one of the physical pages where a block accesses memory.
void map_page(int signal, siginfo_t* info, void*) {
  const auto address = reinterpret_cast<std::uint64_t>(info->si_addr) & ~(page - 1);
  if (signal != SIGSEGV || timing || ++faults > 600 || info->si_code <= 0 || info->si_code > 2 || address < 0x10000)
    give_up(3);
  void* const wanted = reinterpret_cast<void*>(address);
  if (mmap(wanted, page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE, page_file,
           static_cast<off_t>(address % (page * pages))) != wanted)
    give_up(4);
}

void* map_at(std::uint64_t address, std::size_t bytes, int protection, int flags, int file) {
  void* const result = mmap(reinterpret_cast<void*>(address), bytes, protection, flags | MAP_FIXED_NOREPLACE, file, 0);
  if (result == MAP_FAILED) {
    std::fprintf(stderr, "bench_blocks: cannot map memory at %#lx: %s\n", address, std::strerror(errno));
    std::exit(1);
  }
  return result;
}

std::uint8_t* prepare_memory() {
  page_file = memfd_create("blocks", 0);
  if (page_file < 0 || ftruncate(page_file, page * pages) != 0) std::exit(1);
  constexpr int private_pages = MAP_PRIVATE | MAP_ANONYMOUS;
  auto* const values = static_cast<std::uint8_t*>(map_at(variables, 65536, PROT_READ | PROT_WRITE, private_pages, -1));
  auto* const all =
      static_cast<std::uint64_t*>(map_at(memory, page * pages, PROT_READ | PROT_WRITE, MAP_SHARED, page_file));
  std::fill_n(reinterpret_cast<std::uint64_t*>(values + (image - variables)), page * 4 / 8, pointer);
  std::fill_n(all, page * pages / 8, pointer);
  std::fill_n(reinterpret_cast<float*>(values + 64), 8, 1.0F);
  stack_t stack{};
  stack.ss_size = 1 << 18;
  stack.ss_sp = mmap(nullptr, stack.ss_size, PROT_READ | PROT_WRITE, private_pages, -1, 0);
  sigaltstack(&stack, nullptr);
  struct sigaction action {};
  action.sa_sigaction = map_page;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP}) sigaction(signal, &action, nullptr);
  _mm_setcsr(_mm_getcsr() | 0x8040);  // denormals are zero
  return static_cast<std::uint8_t*>(
      map_at(code_at, 4 * code_bytes, PROT_READ | PROT_WRITE | PROT_EXEC, private_pages, -1));
}

class Emitter {
 public:
  explicit Emitter(std::uint8_t* where) : at_(where) {}
  std::uint8_t* at() const { return at_; }
  void put(std::initializer_list<int> bytes) {
    for (const int byte : bytes) *at_++ = static_cast<std::uint8_t>(byte);
  }
  void put32(std::uint64_t value) {
    const auto low = static_cast<std::uint32_t>(value);
    std::memcpy(at_, &low, sizeof low);
    at_ += sizeof low;
  }
  void align() {
    while (reinterpret_cast<std::uint64_t>(at_) % 64 != 0) put({0x90});
  }
  void put(const Block& block) {
    std::memcpy(at_, block.bytes.data(), block.bytes.size());
    std::uint64_t target = rip_target;
    for (const Fixup& fixup : block.fixups) {
      const auto displacement = static_cast<std::int32_t>(target - reinterpret_cast<std::uint64_t>(at_) - fixup.end);
      std::memcpy(at_ + fixup.offset, &displacement, sizeof displacement);
      target += 64;
    }
    at_ += block.bytes.size();
  }

 private:
  std::uint8_t* at_;
};

using Function = void (*)();

// Writes a function that executes `count` copies in each of `rounds` rounds. Returns its end.
std::uint8_t* emit(std::uint8_t* where, const Block& block, std::size_t count, std::uint64_t rounds) {
  Emitter out(where);
  out.put({0x53, 0x55, 0x41, 0x54, 0x41, 0x55, 0x41, 0x56, 0x41, 0x57});  // push rbx, rbp, r12 … r15
  out.put({0x48, 0x89, 0x24, 0x25}), out.put32(variables + 8);            // mov [variables + 8], rsp
  out.put({0xc7, 0x04, 0x25}), out.put32(variables), out.put32(rounds);   // mov dword [variables], rounds
  out.align();
  const std::uint8_t* const loop = out.at();
  // Few rounds of a long loop: its end is predicted, or a misprediction would be in only one of two times.
  out.put({0xbe}), out.put32(image), out.put({0xbf}), out.put32(memory + page), out.put({0xb9}), out.put32(16);
  const std::uint8_t* const copy = out.at();
  for (std::uint64_t at = 0; at < 1024; at += 32) {  // vmovups ymm0, [rsi + at]; vmovups [rdi + at], ymm0
    out.put({0xc5, 0xfc, 0x10, 0x86}), out.put32(at), out.put({0xc5, 0xfc, 0x11, 0x87}), out.put32(at);
  }
  out.put({0x48, 0x81, 0xc6}), out.put32(1024), out.put({0x48, 0x81, 0xc7}), out.put32(1024);  // add rsi, rdi
  out.put({0xff, 0xc9, 0x0f, 0x85}), out.put32(static_cast<std::uint64_t>(copy - (out.at() + 4)));
  // Legacy SSE instructions wait for the upper parts of their results' registers unless these are known to be zero.
  out.put({0xc5, 0xf8, 0x77});    // vzeroupper
  for (int i = 0; i < 16; ++i) {  // vmovups xmm, [variables + 64]
    out.put({0xc5, i < 8 ? 0xf8 : 0x78, 0x10, 0x04 | (i % 8) << 3, 0x25}), out.put32(variables + 64);
  }
  out.put({0x31, 0xc0, 0x9e});  // xor eax, eax; sahf
  for (int i = 0; i < 16; ++i) {
    if (i >= 8) out.put({0x41});
    out.put({0xb8 | (i % 8)});
    out.put32(i == 4 ? rsp_at : i == 5 ? rbp_at : registers_at + 192 * static_cast<std::uint64_t>(i));
  }
  out.put({0x0f, 0xae, 0xe8});  // lfence
  out.align();
  for (std::size_t i = 0; i < count; ++i) out.put(block);
  out.put({0x0f, 0xae, 0xe8, 0xff, 0x0c, 0x25}), out.put32(variables);  // lfence; dec dword [variables]
  out.put({0x0f, 0x85}), out.put32(static_cast<std::uint64_t>(loop - (out.at() + 4)));
  out.put({0x48, 0x8b, 0x24, 0x25}), out.put32(variables + 8);  // mov rsp, [variables + 8]; cld; vzeroupper; pop …; ret
  out.put({0xfc, 0xc5, 0xf8, 0x77, 0x41, 0x5f, 0x41, 0x5e, 0x41, 0x5d, 0x41, 0x5c, 0x5d, 0x5b, 0xc3});
  return out.at();
}

std::uint64_t read_tsc() {
  unsigned processor = 0;
  _mm_lfence();
  const std::uint64_t time = __rdtscp(&processor);
  _mm_lfence();
  return time;
}

// Ticks between two readings.
std::uint64_t empty_ticks() {
  std::uint64_t least = ~0ULL;
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t begin = read_tsc();
    least = std::min(least, read_tsc() - begin);
  }
  return least;
}

// Ticks of `additions` dependent additions of registers. (Newer cores eliminate additions of constants.)
std::uint64_t chain_ticks(std::uint64_t additions, std::uint64_t empty) {
  std::uint64_t loops = additions / 100;
  const std::uint64_t begin = read_tsc();
  asm volatile("1: .rept 100\n add %%rcx, %%rax\n .endr\n dec %0\n jnz 1b" : "+r"(loops)::"rax", "cc");
  return read_tsc() - begin - empty;
}

std::uint64_t ticks_of(Function function) {
  const std::uint64_t begin = read_tsc();
  function();
  return read_tsc() - begin;
}

Function function_at(std::uint8_t* code) { return reinterpret_cast<Function>(code); }

void measure(const Block& block, std::size_t samples) {
  std::uint8_t* const code = prepare_memory();
  const Function one = function_at(code), two = function_at(code + code_bytes);
  const std::size_t copies = copies_of(block);
  const auto emit_both = [&](std::uint64_t rounds) {
    emit(code, block, copies, rounds);
    emit(code + code_bytes, block, 2 * copies, rounds);
    one(), two(), one(), two();
  };
  emit_both(2);
  const std::uint64_t rounds = std::max<std::uint64_t>(2 * 20000 / (ticks_of(two) + 1) + 1, 2);  // some 8 µs
  emit_both(rounds);
  timing = true;
  const std::uint64_t empty = empty_ticks();
  std::vector<double> ones[2], twos[2];  // even and odd samples
  for (std::size_t i = 0; i < samples; ++i) {
    two();  // wakes vector units
    const std::uint64_t before = chain_ticks(chain, empty);
    two();
    const std::uint64_t t1 = ticks_of(one), t2 = ticks_of(two);
    const double cycle = static_cast<double>(std::min(before, chain_ticks(chain, empty))) / chain;
    ones[i % 2].push_back(static_cast<double>(t1) / cycle);
    twos[i % 2].push_back(static_cast<double>(t2) / cycle);
  }
  double cycles[2];
  for (int half = 0; half < 2; ++half) {
    const auto percentile = [](std::vector<double>& values) {
      std::sort(values.begin(), values.end());
      return values[values.size() / 20];
    };
    cycles[half] = (percentile(twos[half]) - percentile(ones[half])) / static_cast<double>(copies * rounds);
  }
  std::printf("%s %.4f %.4f\n", block.id.c_str(), cycles[0], cycles[1]);
}

int measure_all(const std::vector<Block>& blocks, std::size_t samples) {
  for (const Block& block : blocks) {
    std::fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);
      measure(block, samples);
      std::fflush(stdout);
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (status != 0) std::printf("%s failed\n", block.id.c_str());
  }
  return 0;
}

// Calls the functions one after the other. Returns whether none of them faulted.
bool call_all(std::span<const Function> functions) {
  sigjmp_buf next;
  skip = &next;
  faults = 0;
  if (sigsetjmp(next, 1) != 0) return false;
  for (const Function function : functions) function();
  return true;
}

int run_all(const std::vector<Block>& blocks) {
  const std::string map = "/tmp/perf-" + std::to_string(getpid()) + ".map";
  std::FILE* const symbols = std::fopen(map.c_str(), "w");
  if (symbols == nullptr) return 1;
  constexpr std::uint64_t rounds = 500;  // so many that code misses of the first ones do not matter
  munmap(prepare_memory(), 4 * code_bytes);
  const std::size_t room = blocks.size() * 3 * (64 << 10);
  auto* code = static_cast<std::uint8_t*>(
      map_at(code_at, room, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1));
  std::vector<Function> functions;
  for (const Block& block : blocks) {
    // The first call is not counted: it loads caches and the tables of predictors.
    for (const int part : {0, 1, 2}) {
      std::uint8_t* const end = emit(code, block, copies_of(block) * (part == 1 ? 1 : 2), part == 0 ? 2 : rounds);
      std::fprintf(symbols, "%lx %lx %s.%d\n", reinterpret_cast<std::uint64_t>(code),
                   static_cast<std::uint64_t>(end - code), block.id.c_str(), part);
      functions.push_back(function_at(code));
      code = end + (64 - reinterpret_cast<std::uint64_t>(end) % 64);
    }
  }
  std::fclose(symbols);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (call_all(std::span(functions).subspan(3 * i, 3)))
      std::printf("%s %lu\n", blocks[i].id.c_str(), copies_of(blocks[i]) * rounds);
  }
  return 0;
}

}  // namespace

int main(int count, char** words) {
  const std::string task = count > 2 ? words[1] : "";
  if (task == "native") return measure_all(read_blocks(words[2]), count > 3 ? std::stoul(words[3]) : 200);
  if (task == "run") return run_all(read_blocks(words[2]));
  std::fprintf(stderr, "usage: bench_blocks native FILE [SAMPLES] | run FILE\n");
  return 2;
}
