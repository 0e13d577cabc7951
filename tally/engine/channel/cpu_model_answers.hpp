/// The processor that programs see instead of the real one (`--cpu-model`): its features and its answers to CPUID.
///
/// Freestanding: included by channel.hpp.
#pragma once
#include <stdint.h>

namespace tally::channel {

/// A feature of x86-64 processors, in addition to those that all of them have. Names: engine/cpus/cpuid_features.cpp.
enum class Feature : uint8_t {
  none,
  sse3,
  pclmulqdq,
  ssse3,
  fma,
  cx16,
  sse4_1,
  sse4_2,
  movbe,
  popcnt,
  aes,
  xsave,
  avx,
  f16c,
  rdrand,
  fsgsbase,
  bmi1,
  avx2,
  bmi2,
  erms,
  avx512f,
  avx512dq,
  rdseed,
  adx,
  avx512ifma,
  clflushopt,
  clwb,
  avx512cd,
  sha,
  avx512bw,
  avx512vl,
  avx512vbmi,
  waitpkg,
  avx512vbmi2,
  gfni,
  vaes,
  vpclmulqdq,
  avx512vnni,
  avx512bitalg,
  avx512vpopcntdq,
  rdpid,
  movdiri,
  movdir64b,
  fsrm,
  avx512vp2intersect,
  serialize,
  avx512fp16,
  avxvnni,
  avx512bf16,
  xsaveopt,
  xsavec,
  xgetbv1,
  lahf,
  lzcnt,
  sse4a,
  prefetchw,
  rdtscp,
  clzero,
  count
};

struct FeatureSet {
  uint64_t bits = 0;

  constexpr bool has(Feature feature) const { return (bits >> static_cast<uint32_t>(feature) & 1) != 0; }
  constexpr FeatureSet with(Feature feature) const { return {bits | uint64_t{1} << static_cast<uint32_t>(feature)}; }
  constexpr FeatureSet with(FeatureSet others) const { return {bits | others.bits}; }
  constexpr FeatureSet without(FeatureSet others) const { return {bits & ~others.bits}; }
  constexpr bool operator==(const FeatureSet&) const = default;
};
static_assert(static_cast<uint32_t>(Feature::count) <= 64);

/// The answer of CPUID to a leaf and sub-leaf.
struct CpuidAnswer {
  uint32_t eax, ebx, ecx, edx;
};

struct CpuidLeaf {
  uint32_t leaf;
  uint32_t subleaf;  ///< any_subleaf if the leaf ignores it
  CpuidAnswer answer;
};
inline constexpr uint32_t any_subleaf = ~0u;
inline constexpr uint32_t cpuid_leaf_limit = 64;

/// Components of the extended processor state, as in XCR0.
inline constexpr uint64_t state_x87_sse = 3, state_avx = 4, state_avx512 = 0xe0;

/// A CPU model as the engine needs it. Programs see the real processor if it has no leaves.
struct PresentedCpu {
  uint32_t leaf_count;
  uint32_t returns_highest;  ///< 1: CPUID answers unknown leaves with the highest basic one, as Intel's processors do
  uint64_t key;              ///< differs between models whose translated code differs
  uint64_t components;       ///< XCR0
  uint64_t state_bytes;      ///< of the XSAVE area for these components, in the standard form
  FeatureSet features;
  CpuidLeaf leaf[cpuid_leaf_limit];

  bool any() const { return leaf_count != 0; }
};

/// Answers CPUID as the model does. Pure.
inline CpuidAnswer answer_cpuid(const PresentedCpu& cpu, uint32_t leaf, uint32_t subleaf) {
  constexpr uint32_t topology = 0xb, topology_of_dies = 0x1f, extended = 0x80000000;
  const uint32_t highest_basic = cpu.leaf[0].answer.eax;
  uint32_t highest = highest_basic;
  for (uint32_t i = 0; i < cpu.leaf_count; i++)
    if (cpu.leaf[i].leaf == extended && leaf >= extended) highest = cpu.leaf[i].answer.eax;
  if (leaf > highest) {
    if (cpu.returns_highest == 0) return {};
    leaf = highest_basic;
  }
  for (uint32_t i = 0; i < cpu.leaf_count; i++) {
    const CpuidLeaf& known = cpu.leaf[i];
    if (known.leaf == leaf && (known.subleaf == any_subleaf || known.subleaf == subleaf)) return known.answer;
  }
  if (leaf == topology || leaf == topology_of_dies) return {0, 0, subleaf & 0xff, 0};
  return {};
}

}  // namespace tally::channel
