#include "bench/input.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

namespace bench {
namespace {

/// xorshift64* (Vigna, "An experimental exploration of Marsaglia's xorshift generators, scrambled", 2016).
class Generator {
 public:
  std::uint64_t next() {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return state_ * 0x2545F4914F6CDD1Dull;
  }
  std::uint64_t below(std::uint64_t bound) { return (next() >> 33) % bound; }

 private:
  std::uint64_t state_ = 0x9E3779B97F4A7C15ull;
};

std::vector<std::string> make_vocabulary(Generator& generator) {
  constexpr std::array syllables = {"ta", "lly", "co", "un", "ter", "ra", "ni",
                                    "lo", "mer", "os", "ki", "ven", "du", "esh"};
  std::vector<std::string> words(4096);
  for (auto& word : words) {
    for (auto left = 1 + generator.below(4); left > 0; --left) word += syllables[generator.below(syllables.size())];
  }
  return words;
}

/// The minimum of two draws, applied twice: few words are frequent and many are rare, as in prose.
const std::string& draw_word(const std::vector<std::string>& words, Generator& generator) {
  auto index = generator.below(words.size());
  for (int draw = 0; draw < 3; ++draw) index = std::min(index, generator.below(words.size()));
  return words[index];
}

void append_text(std::string& out, std::size_t size, const std::vector<std::string>& words, Generator& generator) {
  const auto end = out.size() + size;
  while (out.size() < end) {
    out += draw_word(words, generator);
    out += generator.below(12) == 0 ? ".\n" : " ";
  }
  out.resize(end);
}

void append_little_endian(std::string& out, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i) & 0xFF);
}

/// Records of 24 bytes: a rising key, a small number, a flag word, a wandering value.
void append_records(std::string& out, std::size_t size, Generator& generator) {
  const auto end = out.size() + size;
  std::uint64_t key = 1'000'000;
  std::uint64_t value = 1ull << 40;
  while (out.size() < end) {
    key += 1 + generator.below(5);
    value += generator.below(2001) - 1000;
    append_little_endian(out, key, 8);
    append_little_endian(out, generator.below(100), 4);
    append_little_endian(out, generator.below(16) == 0 ? 0x80000001 : 1, 4);
    append_little_endian(out, value, 8);
  }
  out.resize(end);
}

void append_noise(std::string& out, std::size_t size, Generator& generator) {
  const auto end = out.size() + size;
  while (out.size() < end) append_little_endian(out, generator.next(), 8);
  out.resize(end);
}

}  // namespace

std::string mixed_input(std::size_t size_bytes) {
  constexpr std::size_t round_bytes = 100'000;
  Generator generator;
  const auto words = make_vocabulary(generator);
  std::string out;
  out.reserve(size_bytes + round_bytes);
  while (out.size() < size_bytes) {
    append_text(out, round_bytes * 6 / 10, words, generator);
    append_records(out, round_bytes * 3 / 10, generator);
    append_noise(out, round_bytes / 10, generator);
  }
  out.resize(size_bytes);
  return out;
}

std::string sql_script(int rows) {
  Generator generator;
  const auto words = make_vocabulary(generator);
  std::string out = "BEGIN;\nCREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT, kind INTEGER, price REAL);\n";
  for (int id = 0; id < rows; ++id) {
    fmt::format_to(std::back_inserter(out), "INSERT INTO item VALUES({}, '{} {}', {}, {}.{:02});\n", id,
                   draw_word(words, generator), draw_word(words, generator), generator.below(50), generator.below(1000),
                   generator.below(100));
  }
  out +=
      "CREATE INDEX item_name ON item(name);\nCOMMIT;\n"
      "SELECT kind, count(*), round(sum(price), 2), max(name) FROM item GROUP BY kind ORDER BY kind;\n"
      "SELECT count(*) FROM item a JOIN item b ON a.name = b.name AND a.id < b.id;\n"
      "SELECT sum(length(name)), count(DISTINCT name) FROM item WHERE name LIKE '%ta%';\n"
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200000) SELECT sum(i * i % 97) FROM "
      "n;\n";
  return out;
}

}  // namespace bench
