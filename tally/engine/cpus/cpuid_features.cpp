#include "tally/engine/cpus/cpuid_features.hpp"

#include "tally/engine/cpus/cpu_model.hpp"
#include "tally/linux/machine/execute_cpuid.hpp"

namespace tally::cpus {
namespace {

using enum Register;

// Sources: Intel SDM volume 2A, CPUID; AMD APM volume 3, appendix E. Names: the kernel's.
constexpr FeatureBit all_bits[] = {
    {Feature::sse3, "sse3", 1, 0, ecx, 0},
    {Feature::pclmulqdq, "pclmulqdq", 1, 0, ecx, 1},
    {Feature::ssse3, "ssse3", 1, 0, ecx, 9},
    {Feature::fma, "fma", 1, 0, ecx, 12},
    {Feature::cx16, "cx16", 1, 0, ecx, 13},
    {Feature::sse4_1, "sse4_1", 1, 0, ecx, 19},
    {Feature::sse4_2, "sse4_2", 1, 0, ecx, 20},
    {Feature::movbe, "movbe", 1, 0, ecx, 22},
    {Feature::popcnt, "popcnt", 1, 0, ecx, 23},
    {Feature::aes, "aes", 1, 0, ecx, 25},
    {Feature::xsave, "xsave", 1, 0, ecx, 26},
    {Feature::avx, "avx", 1, 0, ecx, 28},
    {Feature::f16c, "f16c", 1, 0, ecx, 29},
    {Feature::rdrand, "rdrand", 1, 0, ecx, 30},
    {Feature::fsgsbase, "fsgsbase", 7, 0, ebx, 0},
    {Feature::bmi1, "bmi1", 7, 0, ebx, 3},
    {Feature::avx2, "avx2", 7, 0, ebx, 5},
    {Feature::bmi2, "bmi2", 7, 0, ebx, 8},
    {Feature::erms, "erms", 7, 0, ebx, 9, only_speed},
    {Feature::avx512f, "avx512f", 7, 0, ebx, 16},
    {Feature::avx512dq, "avx512dq", 7, 0, ebx, 17},
    {Feature::rdseed, "rdseed", 7, 0, ebx, 18},
    {Feature::adx, "adx", 7, 0, ebx, 19},
    {Feature::avx512ifma, "avx512ifma", 7, 0, ebx, 21},
    {Feature::clflushopt, "clflushopt", 7, 0, ebx, 23},
    {Feature::clwb, "clwb", 7, 0, ebx, 24},
    {Feature::avx512cd, "avx512cd", 7, 0, ebx, 28},
    {Feature::sha, "sha_ni", 7, 0, ebx, 29},
    {Feature::avx512bw, "avx512bw", 7, 0, ebx, 30},
    {Feature::avx512vl, "avx512vl", 7, 0, ebx, 31},
    {Feature::avx512vbmi, "avx512vbmi", 7, 0, ecx, 1},
    {Feature::waitpkg, "waitpkg", 7, 0, ecx, 5},
    {Feature::avx512vbmi2, "avx512_vbmi2", 7, 0, ecx, 6},
    {Feature::gfni, "gfni", 7, 0, ecx, 8},
    {Feature::vaes, "vaes", 7, 0, ecx, 9},
    {Feature::vpclmulqdq, "vpclmulqdq", 7, 0, ecx, 10},
    {Feature::avx512vnni, "avx512_vnni", 7, 0, ecx, 11},
    {Feature::avx512bitalg, "avx512_bitalg", 7, 0, ecx, 12},
    {Feature::avx512vpopcntdq, "avx512_vpopcntdq", 7, 0, ecx, 14},
    {Feature::rdpid, "rdpid", 7, 0, ecx, 22},
    {Feature::movdiri, "movdiri", 7, 0, ecx, 27},
    {Feature::movdir64b, "movdir64b", 7, 0, ecx, 28},
    {Feature::fsrm, "fsrm", 7, 0, edx, 4, only_speed},
    {Feature::avx512vp2intersect, "avx512_vp2intersect", 7, 0, edx, 8},
    {Feature::serialize, "serialize", 7, 0, edx, 14},
    {Feature::avx512fp16, "avx512_fp16", 7, 0, edx, 23},
    {Feature::avxvnni, "avx_vnni", 7, 1, eax, 4},
    {Feature::avx512bf16, "avx512_bf16", 7, 1, eax, 5},
    {Feature::xsaveopt, "xsaveopt", 0xd, 1, eax, 0},
    {Feature::xsavec, "xsavec", 0xd, 1, eax, 1},
    {Feature::xgetbv1, "xgetbv1", 0xd, 1, eax, 2},
    {Feature::lahf, "lahf_lm", 0x80000001, 0, ecx, 0},
    {Feature::lzcnt, "abm", 0x80000001, 0, ecx, 5},
    {Feature::sse4a, "sse4a", 0x80000001, 0, ecx, 6},
    {Feature::prefetchw, "3dnowprefetch", 0x80000001, 0, ecx, 8, only_speed},
    {Feature::rdtscp, "rdtscp", 0x80000001, 0, edx, 27},
    {Feature::clzero, "clzero", 0x80000008, 0, ebx, 0},
};

}  // namespace

std::span<const FeatureBit> feature_bits() { return all_bits; }

std::string_view name_of(Feature feature) {
  for (const FeatureBit& bit : all_bits)
    if (bit.feature == feature) return bit.name;
  return "";
}

FeatureSet usable_features(FeatureSet features, std::uint64_t enabled_state) {
  const auto drop = [&](auto... some) { ((features = features.without(FeatureSet{}.with(some))), ...); };
  using enum Feature;
  constexpr std::uint64_t for_avx = channel::state_x87_sse | channel::state_avx;
  constexpr std::uint64_t for_avx512 = for_avx | channel::state_avx512;
  if (enabled_state == 0) drop(xsave, xsaveopt, xsavec, xgetbv1);
  if ((enabled_state & for_avx) != for_avx) drop(avx, fma, f16c, avx2, vaes, vpclmulqdq, avxvnni);
  if ((enabled_state & for_avx512) != for_avx512)
    drop(avx512f, avx512dq, avx512ifma, avx512cd, avx512bw, avx512vl, avx512vbmi, avx512vbmi2, avx512vnni, avx512bitalg,
         avx512vpopcntdq, avx512vp2intersect, avx512fp16, avx512bf16);
  return features;
}

FeatureSet host_features() {
  FeatureSet found;
  std::uint32_t leaf = 0, subleaf = 0;
  linux::CpuidRegisters answer;
  const std::uint32_t highest = linux::cpuid(0).value_or(answer).eax;
  const std::uint32_t highest_extended = linux::cpuid(0x80000000).value_or(answer).eax;
  for (const FeatureBit& feature_bit : all_bits) {
    if (feature_bit.leaf > (feature_bit.leaf < 0x80000000 ? highest : highest_extended)) continue;
    if (feature_bit.leaf != leaf || feature_bit.subleaf != subleaf) {
      leaf = feature_bit.leaf, subleaf = feature_bit.subleaf;
      answer = linux::cpuid(leaf, subleaf).value_or(linux::CpuidRegisters{});
    }
    const std::uint32_t registers[] = {answer.eax, answer.ebx, answer.ecx, answer.edx};
    if ((registers[static_cast<int>(feature_bit.in)] >> feature_bit.bit & 1) != 0)
      found = found.with(feature_bit.feature);
  }
  return usable_features(found, linux::enabled_state());
}

std::vector<std::string> missing_features(const CpuModel& model, FeatureSet host) {
  std::vector<std::string> missing;
  for (const FeatureBit& bit : all_bits)
    if (!bit.speed && model.features.has(bit.feature) && !host.has(bit.feature)) missing.emplace_back(bit.name);
  return missing;
}

}  // namespace tally::cpus
