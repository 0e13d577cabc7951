/// Keyed checksums of persisted translations: only someone with the key can make a record that tally uses.
///
/// The checksum uses a universal hash of the VMAC family (Krovetz, Dai: draft-krovetz-vmac-01): NH over blocks, and a
/// polynomial modulo 2^127 − 1 over their hashes. That takes 0.1 ns per byte. SipHash-2-4 (Aumasson, Bernstein:
/// "SipHash: a fast short-input PRF", 2012) combines this hash, the length and the kind of data into the checksum.
///
/// Freestanding, like channel.hpp.
#pragma once
#include <stdint.h>

namespace tally::channel {

/// The kind of data. Data of different kinds have different checksums.
enum class Sealed : uint64_t { record = 1, names, header };

/// The user's key, as it is in the key file.
struct MasterKey {
  uint64_t word[2];
};

/// SipHash-2-4 of `n` 64-bit words.
inline uint64_t siphash(const MasterKey& key, const uint64_t* words, uint64_t n) {
  const auto rotated = [](uint64_t v, int bits) { return v << bits | v >> (64 - bits); };
  uint64_t v0 = key.word[0] ^ 0x736f6d6570736575, v1 = key.word[1] ^ 0x646f72616e646f6d;
  uint64_t v2 = key.word[0] ^ 0x6c7967656e657261, v3 = key.word[1] ^ 0x7465646279746573;
  const auto rounds = [&](int count) {
    for (; count > 0; count--) {
      v0 += v1, v1 = rotated(v1, 13) ^ v0, v0 = rotated(v0, 32);
      v2 += v3, v3 = rotated(v3, 16) ^ v2;
      v0 += v3, v3 = rotated(v3, 21) ^ v0;
      v2 += v1, v1 = rotated(v1, 17) ^ v2, v2 = rotated(v2, 32);
    }
  };
  for (uint64_t i = 0; i <= n; i++) {
    const uint64_t word = i < n ? words[i] : n * 8 << 56;
    v3 ^= word;
    rounds(2);
    v0 ^= word;
  }
  v2 ^= 0xff;
  rounds(4);
  return v0 ^ v1 ^ v2 ^ v3;
}

/// The key for the checksums of one file.
class RecordKey {
 public:
  RecordKey() = default;
  /// Derives the key for the file of the engine with this ImageHeader::build; `modelled`: the file for code with
  /// models. The same record has different checksums in different files.
  RecordKey(const MasterKey& master, uint64_t engine, bool modelled) {
    const auto derive = [&](uint64_t number) {
      const uint64_t words[3] = {engine, modelled ? uint64_t{1} : 0, number};
      return siphash(master, words, 3);
    };
    uint64_t number = 0;
    for (uint64_t& word : blocks_) word = derive(number++);
    for (uint64_t& word : polynomial_) word = derive(number++) & polynomial_mask;
    for (uint64_t& word : last_.word) word = derive(number++);
  }

  /// Computes a checksum over several ranges.
  class Sum {
   public:
    explicit Sum(const RecordKey& key) : key_(key) {}
    /// `data` is aligned to 8 bytes. Each range but the last has the same length in every record, or earlier ranges
    /// contain its length.
    void add(const void* data, uint64_t bytes) {
      const auto* words = static_cast<const uint64_t*>(data);
      uint64_t n = bytes / 8;
      for (; n >= block_words; n -= block_words, words += block_words) add_block(words, block_words);
      if (n > 0) add_block(words, n);
      bytes_ += bytes;
    }
    uint64_t result(Sealed what) const {
      const uint64_t words[4] = {static_cast<uint64_t>(hash_), static_cast<uint64_t>(hash_ >> 64), bytes_,
                                 static_cast<uint64_t>(what)};
      return siphash(key_.last_, words, 4);
    }

   private:
    __extension__ using Wide = unsigned __int128;
    static constexpr Wide prime = (Wide{1} << 127) - 1;

    void add_block(const uint64_t* words, uint64_t n) {
      Wide sum = 0;
      uint64_t i = 0;
      for (; i + 2 <= n; i += 2) sum += Wide{words[i] + key_.blocks_[i]} * (words[i + 1] + key_.blocks_[i + 1]);
      if (i < n) sum += Wide{words[i] + key_.blocks_[i]} * key_.blocks_[(i + 1) % block_words];
      step(sum & ((Wide{1} << 126) - 1));
    }
    /// Computes hash · key + block. The halves of the key have 61 bits, so no sum exceeds 128 bits.
    void step(Wide block) {
      const auto low = static_cast<uint64_t>(hash_), high = static_cast<uint64_t>(hash_ >> 64);
      const uint64_t key_low = key_.polynomial_[0], key_high = key_.polynomial_[1];
      const Wide middle = Wide{low} * key_high + Wide{high} * key_low;
      const Wide shifted = middle << 64;
      // 2^128 is 2 modulo the prime.
      Wide sum = Wide{low} * key_low + block + 2 * (Wide{high} * key_high) + 2 * (middle >> 64);
      sum = (sum & prime) + (sum >> 127) + (shifted >> 127);
      sum = (sum & prime) + (sum >> 127);
      sum += shifted & prime;
      hash_ = (sum & prime) + (sum >> 127);
      if (hash_ >= prime) hash_ -= prime;
    }

    const RecordKey& key_;
    Wide hash_ = 1;
    uint64_t bytes_ = 0;
  };

  /// Returns the checksum of `bytes` bytes, a multiple of 8, at an address that is a multiple of 8.
  uint64_t check_of(const void* data, uint64_t bytes, Sealed what) const {
    Sum sum(*this);
    sum.add(data, bytes);
    return sum.result(what);
  }

 private:
  static constexpr uint64_t block_words = 32;
  static constexpr uint64_t polynomial_mask = (uint64_t{1} << 61) - 1;

  uint64_t blocks_[block_words] = {}, polynomial_[2] = {};
  MasterKey last_ = {};
};

}  // namespace tally::channel
