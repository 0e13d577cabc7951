// mixed KIND N [timer]: executes N rounds of instructions of a kind and prints what they do, as lines "EVENT VALUE".
// All else that it does is the same for every N. With `timer`, signals interrupt it. Exit code 77: this processor lacks
// them.
#include <immintrin.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

static _Alignas(64) unsigned char from[4096], to[4096];
static unsigned long counts[16];
static const char* names[16];
static int used;

// A fixed number of digits, so that every value takes the same instructions.
static void print(void) {
  for (int i = 0; i < used; ++i) {
    char line[64];
    const unsigned long length = strlen(names[i]);
    memcpy(line, names[i], length);
    line[length] = ' ';
    for (int k = 0; k < 16; ++k) line[length + 1 + k] = (char)('a' + (counts[i] >> (60 - 4 * k) & 15));
    line[length + 17] = '\n';
    if (write(1, line, length + 18) < 0) _exit(1);
  }
}

static void expect(const char* name, unsigned long value) {
  names[used] = name;
  counts[used++] = value;
}

static unsigned long next(unsigned long* state) {
  *state = *state * 6364136223846793005ul + 1442695040888963407ul;
  return *state >> 20;
}

__attribute__((noinline)) void sse(long n) {
  for (long i = 0; i < n; ++i)
    asm volatile(
        "addps %%xmm1, %%xmm0\n mulsd %%xmm3, %%xmm2\n sqrtss %%xmm1, %%xmm3\n divpd %%xmm1, %%xmm4\n"
        "ucomisd %%xmm1, %%xmm2\n cvtsi2sd %%eax, %%xmm5\n paddd %%xmm1, %%xmm6\n movaps %%xmm1, %%xmm7" ::
            : "xmm0", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7");
  expect("fp-operations", 8 * n);
  expect("fp-operations-single-128", 4 * n);
  expect("fp-operations-double-128", 2 * n);
  expect("fp-operations-scalar", 2 * n);
  expect("fp-divisions", 2 * n);
  expect("fp-comparisons", n);
  expect("fp-conversions", n);
  expect("integer-vector-instructions", n);
}

__attribute__((noinline)) void x87(long n) {
  for (long i = 0; i < n; ++i)
    asm volatile("fldz\n fadd %%st, %%st\n fsqrt\n fldt %0\n fmulp\n fstp %%st" : : "m"(from));
  expect("fp-operations-x87", 3 * n);
  expect("load-bytes", 10 * n);
}

__attribute__((noinline)) void strings(long n) {
  for (long i = 0; i < n; ++i) {
    void *s = from, *d = to;
    unsigned long bytes = 100, words = 10, found = 300;
    asm volatile("rep movsb" : "+S"(s), "+D"(d), "+c"(bytes)::"memory");
    asm volatile("rep stosq" : "+D"(d), "+c"(words) : "a"(0) : "memory");
    s = from;
    asm volatile("repne scasb" : "+D"(s), "+c"(found) : "a"(1) : "memory");  // the 201st has it
  }
  expect("string-elements", 311 * n);
  expect("load-bytes", 301 * n);
  expect("store-bytes", 180 * n);
}

__attribute__((noinline)) void locked(long n) {
  for (long i = 0; i < n; ++i) asm volatile("lock incl %0\n xchg %%eax, %0\n mfence\n nopl %0" : "+m"(to[0])::"eax");
  expect("locked-instructions", 2 * n);
  expect("load-bytes", 8 * n);
  expect("store-bytes", 8 * n);
  expect("fences", n);
  expect("nops", n);
}

__attribute__((noinline)) void calls(long n) {
  for (long i = 0; i < n; ++i) syscall(SYS_getppid);
  expect("system-calls", n);
}

__attribute__((noinline, target("avx2,fma"))) void avx(long n) {
  unsigned long elements = 0, state = 1;
  for (long i = 0; i < n; ++i) {
    const unsigned bits = next(&state) & 255;
    // The sign bits of the lanes of ymm1 become the mask.
    const unsigned long spread = bits * 0x0101010101010101ul & 0x0102040810204080ul;
    elements += (unsigned long)__builtin_popcount(bits);
    asm volatile(
        "vmovq %1, %%xmm1\n vpxor %%xmm2, %%xmm2, %%xmm2\n vpcmpeqb %%xmm2, %%xmm1, %%xmm1\n"
        "vpmovsxbd %%xmm1, %%ymm1\n vpcmpeqd %%ymm3, %%ymm3, %%ymm3\n vpxor %%ymm3, %%ymm1, %%ymm1\n"
        "vmaskmovps %2, %%ymm1, %%ymm4\n vmaskmovps %%ymm4, %%ymm1, %0\n"
        "vpxor %%xmm5, %%xmm5, %%xmm5\n vgatherdps %%ymm1, (%3, %%ymm5, 4), %%ymm6\n"
        "vfmadd231pd %%ymm4, %%ymm5, %%ymm6"
        : "=m"(to)
        : "r"(spread), "m"(from), "r"(from)
        : "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6");
  }
  expect("fp-operations-double-256", 8 * n);
  expect("fma-instructions", n);
  expect("gathered-elements", elements);
  expect("load-bytes", 8 * elements);
  expect("store-bytes", 4 * elements);
}

__attribute__((noinline, target("avx512f,avx512bw,avx512vl,avx512dq"))) void masked(long n) {
  unsigned long doubles = 0, singles = 0, loaded = 0, stored = 0, state = 1;
  for (long i = 0; i < n; ++i) {
    const unsigned long mask = next(&state) << 32 ^ next(&state);
    const unsigned long of_8 = (unsigned long)__builtin_popcountl(mask & 0xff),
                        of_16 = (unsigned long)__builtin_popcountl(mask & 0xffff),
                        of_64 = (unsigned long)__builtin_popcountl(mask);
    asm volatile(
        "kmovq %1, %%k1\n"
        "vaddpd %%zmm1, %%zmm0, %%zmm2 %{%%k1%}\n"
        "vfmadd231ps %2, %%zmm0, %%zmm3 %{%%k1%}%{z%}\n"
        "vmulss %%xmm1, %%xmm0, %%xmm4 %{%%k1%}\n"
        "vaddps %2%{1to16%}, %%zmm0, %%zmm5\n"
        "vmovdqu8 %2, %%zmm6 %{%%k1%}\n"
        "vmovdqu8 %%zmm6, %0 %{%%k1%}\n"
        "vcompresspd %%zmm6, %0 %{%%k1%}"
        : "=m"(to)
        : "r"(mask), "m"(from)
        : "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "k1");
    doubles += of_8;
    singles += 2 * of_16 + (mask & 1) + 16;
    loaded += 4 * of_16 + 4 + of_64;
    stored += of_64 + 8 * of_8;
  }
  expect("fp-operations-double", doubles);
  expect("fp-operations-single", singles);
  expect("fp-operations", doubles + singles);
  expect("fp-lanes", n * (8 + 32 + 16));
  expect("fp-instructions-512", 3 * n);
  expect("load-bytes", loaded);
  expect("store-bytes", stored);
}

// It stores the bytes that MMX registers select: tally does not know how many.
__attribute__((noinline)) void unknown(long n) {
  for (long i = 0; i < n; ++i)
    asm volatile("pcmpeqb %%mm0, %%mm0\n maskmovq %%mm0, %%mm0\n emms" ::"D"(to) : "memory", "mm0");
}

static void ignore(int number) { (void)number; }

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    void (*run)(long);
  } kinds[] = {{"sse", sse},     {"x87", x87}, {"strings", strings}, {"locked", locked},
               {"calls", calls}, {"avx", avx}, {"masked", masked},   {"unknown", unknown}};
  if (argc < 3) return 2;
  if (!strcmp(argv[1], "avx") && !__builtin_cpu_supports("avx2")) return 77;
  if (!strcmp(argv[1], "masked") && !(__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl")))
    return 77;
  from[200] = 1;
  long n = 0;
  for (const char* digit = argv[2]; *digit; ++digit) n = 10 * n + (*digit - '0');
  if (argc > 3) {
    const struct itimerval often = {{0, 100}, {0, 100}};
    signal(SIGALRM, ignore);
    setitimer(ITIMER_REAL, &often, 0);
  }
  for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; ++i)
    if (!strcmp(argv[1], kinds[i].name)) kinds[i].run(n);
  print();
}
