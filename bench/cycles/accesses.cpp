// Programs that access memory in one way each, for accesses.py: bench_accesses NAME SIZE ROUNDS [native]. The size is
// in KiB, of matrices in rows. `native` also prints the cycles of the rounds: processor time by the frequency that a
// chain of additions has before and after them.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace {

using Size = std::size_t;
#define WHOLE __attribute__((noipa))  // each round runs it

std::mt19937 dice(1);

std::vector<std::uint32_t> shuffled(Size n) {
  std::vector<std::uint32_t> order(n);
  std::iota(order.begin(), order.end(), 0U);
  std::shuffle(order.begin(), order.end(), dice);
  return order;
}

double processor_time() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
}

double frequency() {
  constexpr double additions = 800'000;
  double most = 0;
  for (int i = 0; i < 8; ++i) {
    const double begin = processor_time();
    std::uint64_t rounds = 100'000, sum = 1;
    asm volatile("1: .rept 8\n add %2, %1\n .endr\n dec %0\n jnz 1b" : "+r"(rounds), "+r"(sum) : "r"(std::uint64_t{3}));
    most = std::max(most, additions / (processor_time() - begin));
  }
  return most;
}

struct Node {
  Node* next;
  std::uint64_t hash, more[6];
};
struct Wide {
  Wide* next;
  std::uint64_t more[8], value, rest[6];
};

template <class T>
std::vector<T> list(Size bytes, T*& first) {
  std::vector<T> nodes(bytes / sizeof(T));
  const auto order = shuffled(nodes.size());
  for (Size i = 0; i + 1 < nodes.size(); ++i) nodes[order[i]].next = &nodes[order[i + 1]];
  first = &nodes[order[0]];
  return nodes;
}

WHOLE std::uint64_t walk(const Node* q, std::uint64_t x) {
  std::uint64_t h = 0;
  while (q) {
    h += q->hash == x;
    q = q->next;
  }
  return h;
}
WHOLE std::uint64_t walk_ahead(const Node* q, std::uint64_t n) {
  std::uint64_t h = 0;
  for (; q->next; q = q->next) h += q->next->hash % n;
  return h;
}
WHOLE std::uint64_t walk_wide(const Wide* q) {
  std::uint64_t h = 0;
  for (; q; q = q->next) h += q->value;
  return h;
}
WHOLE std::uint64_t chase(const std::uint32_t* next, Size rounds) {
  std::uint32_t at = 0;
  for (Size i = 0; i < rounds; ++i) at = next[at];
  return at;
}
WHOLE std::uint64_t chase4(const std::uint32_t* next, Size n) {
  std::uint32_t a = 0, b = std::uint32_t(n / 4) * 16, c = std::uint32_t(n / 2) * 16, d = std::uint32_t(n / 4 * 3) * 16;
  for (Size i = 0; i < n; ++i) a = next[a], b = next[b], c = next[c], d = next[d];
  return a + b + c + d;
}
WHOLE std::uint64_t chase_and_stream(const std::uint32_t* next, Size rounds, const std::uint64_t* data, Size n) {
  std::uint32_t at = 0;
  std::uint64_t sum = 0;
  for (Size i = 0, k = 0; i < rounds; ++i, k = k + 8 < n ? k + 8 : 0) at = next[at], sum += data[k];
  return at + sum;
}

WHOLE std::uint64_t find(Node* const* buckets, Size mask, const std::uint64_t* keys, Size n) {
  std::uint64_t found = 0;
  for (Size i = 0; i < n; ++i)
    for (const Node* q = buckets[keys[i] & mask]; q; q = q->next)
      if (q->hash == keys[i]) {
        found += q->more[0];
        break;
      }
  return found;
}

struct Tree {
  Tree *left, *right;
  std::uint64_t key, value;
};
WHOLE std::uint64_t search_tree(const Tree* root, const std::uint32_t* keys, Size n) {
  std::uint64_t sum = 0;
  for (Size i = 0; i < n; ++i) {
    const Tree* t = root;
    while (t && t->key != keys[i]) t = keys[i] < t->key ? t->left : t->right;
    if (t) sum += t->value;
  }
  return sum;
}
WHOLE std::uint64_t search(const std::uint32_t* sorted, Size n, const std::uint32_t* keys, Size count) {
  std::uint64_t sum = 0;
  for (Size i = 0; i < count; ++i) {
    Size low = 0, high = n;
    while (low < high) {
      const Size middle = (low + high) / 2;
      if (sorted[middle] < keys[i])
        low = middle + 1;
      else
        high = middle;
    }
    sum += low;
  }
  return sum;
}

WHOLE std::uint64_t stride(const std::uint64_t* a, Size n, Size step) {
  std::uint64_t sum = 0;
  for (Size i = 0; i < n; i += step) sum += a[i];
  return sum;
}

using V = double __attribute__((vector_size(32)));
WHOLE double stream1(const V* a, Size n) {
  V s{}, t{}, u{}, v{};
  for (Size i = 0; i < n; i += 4) s += a[i], t += a[i + 1], u += a[i + 2], v += a[i + 3];
  s += t + u + v;
  return s[0] + s[1] + s[2] + s[3];
}
WHOLE void stream2(V* a, const V* b, Size n) {
  for (Size i = 0; i < n; i += 2) a[i] = b[i], a[i + 1] = b[i + 1];
}
WHOLE void stream3(V* a, const V* b, const V* c, Size n) {
  for (Size i = 0; i < n; i += 2) a[i] = b[i] + c[i], a[i + 1] = b[i + 1] + c[i + 1];
}
WHOLE void stream4(V* a, const V* b, const V* c, const V* d, Size n) {
  for (Size i = 0; i < n; i += 2) a[i] = b[i] + c[i] * d[i], a[i + 1] = b[i + 1] + c[i + 1] * d[i + 1];
}
WHOLE double stream_dot(const V* a, const V* b, Size n) {
  V s{}, t{}, u{}, v{};
  for (Size i = 0; i < n; i += 4)
    s += a[i] * b[i], t += a[i + 1] * b[i + 1], u += a[i + 2] * b[i + 2], v += a[i + 3] * b[i + 3];
  s += t + u + v;
  return s[0] + s[1] + s[2] + s[3];
}
WHOLE std::uint64_t scalar1(const std::uint64_t* a, Size n) {
  std::uint64_t s = 0;
  for (Size i = 0; i < n; ++i) s += a[i];
  return s;
}

#define PRODUCT(x, y, z)                                                          \
  template <class T>                                                              \
  WHOLE void x##y##z(T* c, const T* a, const T* b, Size n) {                      \
    for (Size x = 0; x < n; ++x)                                                  \
      for (Size y = 0; y < n; ++y)                                                \
        for (Size z = 0; z < n; ++z) c[i * n + j] += a[i * n + k] * b[k * n + j]; \
  }
PRODUCT(i, j, k)
PRODUCT(i, k, j)
PRODUCT(j, i, k)
PRODUCT(j, k, i)
PRODUCT(k, i, j)
PRODUCT(k, j, i)

template <class T>
double multiply(const std::string& order, Size n) {
  std::vector<T> a(n * n, T(1.5)), b(n * n, T(2.5)), c(n * n);
  (order == "ijk"   ? ijk<T>
   : order == "ikj" ? ikj<T>
   : order == "jik" ? jik<T>
   : order == "jki" ? jki<T>
   : order == "kij" ? kij<T>
                    : kji<T>)(c.data(), a.data(), b.data(), n);
  return c[n + 1];
}

WHOLE std::uint64_t gather(const std::uint64_t* a, const std::uint32_t* index, Size n) {
  std::uint64_t sum = 0;
  for (Size i = 0; i < n; ++i) sum += a[index[i]];
  return sum;
}
WHOLE std::uint64_t gather_by_pointers(const Node* const* p, Size n) {
  std::uint64_t sum = 0;
  for (Size i = 0; i < n; ++i) sum += p[i]->hash;
  return sum;
}
WHOLE std::uint64_t gather_computed(const std::uint64_t* a, Size mask, Size n) {
  std::uint64_t sum = 0, x = 1;
  for (Size i = 0; i < n; ++i) {
    x = x * 6364136223846793005ULL + 1442695040888963407ULL;
    sum += a[x >> 33 & mask];
  }
  return sum;
}
WHOLE void scatter_add(std::uint64_t* a, const std::uint32_t* index, Size n) {
  for (Size i = 0; i < n; ++i) a[index[i]] += i;
}
WHOLE void transpose(double* to, const double* from, Size n) {
  for (Size i = 0; i < n; ++i)
    for (Size j = 0; j < n; ++j) to[j * n + i] = from[i * n + j];
}
WHOLE double column_sums(const double* a, Size n) {
  double sum = 0;
  for (Size j = 0; j < n; ++j)
    for (Size i = 0; i < n; ++i) sum += a[i * n + j];
  return sum;
}

}  // namespace

int main(int count, char** words) {
  if (count < 4) return 2;
  const std::string kind = words[1];
  const Size number = std::strtoull(words[2], nullptr, 10), rounds = std::strtoull(words[3], nullptr, 10);
  const Size bytes = number << 10, n = bytes / 8;
  const bool native = count > 4;
  double result = 0;
  const auto repeat = [&](auto&& body) {
    if (native) result += double(body());
    double cycles[3] = {};
    for (double& measured : cycles) {
      const double before = native ? frequency() : 0, begin = processor_time();
      for (Size r = 0; r < rounds; ++r) result += double(body());
      if (!native) return;
      measured = (processor_time() - begin) * (before + frequency()) / 2;
    }
    std::sort(cycles, cycles + 3);
    std::fprintf(stderr, "%.0f\n", cycles[1]);
  };
  if (kind == "walk" || kind == "walk-ahead") {
    Node* first = nullptr;
    const auto nodes = list(bytes, first);
    repeat([&] { return kind == "walk" ? walk(first, 1) : walk_ahead(first, 7); });
  } else if (kind == "walk-wide") {
    Wide* first = nullptr;
    const auto nodes = list(bytes, first);
    repeat([&] { return walk_wide(first); });
  } else if (kind == "chase" || kind == "chase4" || kind == "chase-and-stream") {
    const Size lines = bytes / 64;
    const auto order = shuffled(lines);
    std::vector<std::uint32_t> next(lines * 16);
    for (Size i = 0; i < lines; ++i) next[order[i] * 16UL] = order[(i + 1) % lines] * 16;
    std::vector<std::uint64_t> data(kind == "chase-and-stream" ? n : 1);
    repeat([&] {
      return kind == "chase"    ? chase(next.data(), lines)
             : kind == "chase4" ? chase4(next.data(), lines)
                                : chase_and_stream(next.data(), lines, data.data(), n);
    });
  } else if (kind == "hash-table") {
    const Size buckets = bytes / 128, keys = bytes / 64;
    std::vector<Node> nodes(keys);
    std::vector<Node*> heads(buckets);
    std::vector<std::uint64_t> wanted(keys);
    for (auto& node : nodes) {
      node.hash = (std::uint64_t(dice()) << 20) + dice();
      node.next = heads[node.hash & (buckets - 1)];
      heads[node.hash & (buckets - 1)] = &node;
    }
    for (auto& key : wanted) key = nodes[dice() % keys].hash;
    repeat([&] { return find(heads.data(), buckets - 1, wanted.data(), keys); });
  } else if (kind == "tree") {
    const Size keys = bytes / sizeof(Tree);
    std::vector<Tree> nodes(keys);
    const auto order = shuffled(keys), wanted = shuffled(keys);
    Tree* root = nullptr;
    for (Size i = 0; i < keys; ++i) {
      nodes[i].key = order[i];
      Tree** at = &root;
      while (*at) at = order[i] < (*at)->key ? &(*at)->left : &(*at)->right;
      *at = &nodes[i];
    }
    repeat([&] { return search_tree(root, wanted.data(), keys); });
  } else if (kind == "search") {
    std::vector<std::uint32_t> sorted(bytes / 4), keys(100000);
    for (Size i = 0; i < sorted.size(); ++i) sorted[i] = std::uint32_t(i * 3);
    for (auto& key : keys) key = std::uint32_t(dice() % (sorted.size() * 3));
    repeat([&] { return search(sorted.data(), sorted.size(), keys.data(), keys.size()); });
  } else if (kind.starts_with("stride-")) {
    const std::vector<std::uint64_t> a(n);
    const Size step = std::strtoull(kind.c_str() + 7, nullptr, 10) / 8;
    repeat([&] { return stride(a.data(), n, step); });
  } else if (kind == "scalar1") {
    const std::vector<std::uint64_t> a(n);
    repeat([&] { return scalar1(a.data(), n); });
  } else if (kind.starts_with("stream")) {
    V* arrays[4];
    for (auto& array : arrays) array = static_cast<V*>(std::aligned_alloc(4096, bytes)), std::memset(array, 0, bytes);
    const auto [a, b, c, d] = arrays;
    const Size m = bytes / 32;
    repeat([&] {
      if (kind == "stream1") return stream1(a, m);
      if (kind == "stream-dot") return stream_dot(a, b, m);
      if (kind == "stream2") stream2(a, b, m);
      if (kind == "stream3") stream3(a, b, c, m);
      if (kind == "stream4") stream4(a, b, c, d, m);
      return 0.0;
    });
  } else if (kind.starts_with("matmul-")) {
    const std::string order = kind.substr(8);
    repeat([&] { return kind[7] == 'd' ? multiply<double>(order, number) : multiply<float>(order, number); });
  } else if (kind == "gather" || kind == "scatter-add") {
    std::vector<std::uint64_t> a(n);
    std::vector<std::uint32_t> index(1 << 20);
    for (auto& i : index) i = std::uint32_t(dice() % n);
    repeat([&] {
      if (kind == "gather") return gather(a.data(), index.data(), index.size());
      scatter_add(a.data(), index.data(), index.size());
      return a[0];
    });
  } else if (kind == "gather-pointers") {
    std::vector<Node> nodes(bytes / sizeof(Node));
    std::vector<const Node*> pointers;
    for (const auto i : shuffled(nodes.size())) pointers.push_back(&nodes[i]);
    repeat([&] { return gather_by_pointers(pointers.data(), pointers.size()); });
  } else if (kind == "gather-computed") {
    const std::vector<std::uint64_t> a(n);
    repeat([&] { return gather_computed(a.data(), n - 1, 1 << 20); });
  } else if (kind == "transpose" || kind == "columns") {
    std::vector<double> a(number * number, 1.0), b(kind == "columns" ? 1 : number * number);
    repeat([&] {
      if (kind == "columns") return column_sums(a.data(), number);
      transpose(b.data(), a.data(), number);
      return b[1];
    });
  } else {
    return 2;
  }
  std::printf("%g\n", result);
}
