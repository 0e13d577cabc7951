#include "tests/engine/differential/extensions.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <sstream>

namespace tally::differential {
namespace {

/// Extensions that programs can use, with the kernel's names (arch/x86/include/asm/cpufeatures.h). The kernel hides
/// those that it has not enabled.
struct Extension {
  const char* name;
  const char* flag;
};
constexpr Extension extensions[] = {
    {"3DNow!", "3dnow"},
    {"SSE3", "pni"},
    {"SSSE3", "ssse3"},
    {"SSE4.1", "sse4_1"},
    {"SSE4.2", "sse4_2"},
    {"SSE4a", "sse4a"},
    {"POPCNT", "popcnt"},
    {"LZCNT", "abm"},
    {"MOVBE", "movbe"},
    {"AES", "aes"},
    {"PCLMULQDQ", "pclmulqdq"},
    {"SHA", "sha_ni"},
    {"SHA512", "sha512"},
    {"SM3", "sm3"},
    {"SM4", "sm4"},
    {"GFNI", "gfni"},
    {"BMI1", "bmi1"},
    {"BMI2", "bmi2"},
    {"TBM", "tbm"},
    {"ADX", "adx"},
    {"AVX", "avx"},
    {"AVX2", "avx2"},
    {"F16C", "f16c"},
    {"FMA", "fma"},
    {"FMA4", "fma4"},
    {"XOP", "xop"},
    {"LWP", "lwp"},
    {"VAES", "vaes"},
    {"VPCLMULQDQ", "vpclmulqdq"},
    {"AVX-VNNI", "avx_vnni"},
    {"AVX-VNNI-INT8", "avx_vnni_int8"},
    {"AVX-IFMA", "avx_ifma"},
    {"AVX-NE-CONVERT", "avx_ne_convert"},
    {"AVX-512F", "avx512f"},
    {"AVX-512BW", "avx512bw"},
    {"AVX-512DQ", "avx512dq"},
    {"AVX-512VL", "avx512vl"},
    {"AVX-512CD", "avx512cd"},
    {"AVX-512ER", "avx512er"},
    {"AVX-512PF", "avx512pf"},
    {"AVX-512-IFMA", "avx512ifma"},
    {"AVX-512-VBMI", "avx512vbmi"},
    {"AVX-512-VBMI2", "avx512_vbmi2"},
    {"AVX-512-VNNI", "avx512_vnni"},
    {"AVX-512-BITALG", "avx512_bitalg"},
    {"AVX-512-VPOPCNTDQ", "avx512_vpopcntdq"},
    {"AVX-512-BF16", "avx512_bf16"},
    {"AVX-512-FP16", "avx512_fp16"},
    {"AVX-512-VP2INTERSECT", "avx512_vp2intersect"},
    {"AVX-512-4FMAPS", "avx512_4fmaps"},
    {"AVX-512-4VNNIW", "avx512_4vnniw"},
    {"AMX-TILE", "amx_tile"},
    {"AMX-INT8", "amx_int8"},
    {"AMX-BF16", "amx_bf16"},
    {"CET shadow stacks", "user_shstk"},
    {"RTM (transactions that begin)", "rtm"},
    {"WAITPKG", "waitpkg"},
    {"MOVDIRI", "movdiri"},
    {"MOVDIR64B", "movdir64b"},
    {"ENQCMD", "enqcmd"},
    {"SERIALIZE", "serialize"},
    {"CLDEMOTE", "cldemote"},
    {"CLWB", "clwb"},
    {"CLZERO", "clzero"},
    {"RDPRU", "rdpru"},
    {"PTWRITE", "intel_pt"},
    {"MPX", "mpx"},
    {"protection keys", "ospke"},
    {"SGX", "sgx"},
    {"XSAVEC", "xsavec"},
};

}  // namespace

Processor parse_processor(const std::string& cpuinfo) {
  Processor result;
  std::istringstream lines(cpuinfo);
  for (std::string line; std::getline(lines, line);) {
    const size_t colon = line.find(": ");
    if (colon == std::string::npos) continue;
    const std::string value = line.substr(colon + 2);
    if (line.starts_with("model name") && result.name.empty()) result.name = value;
    if (!line.starts_with("flags") || !result.flags.empty()) continue;
    std::istringstream words(value);
    for (std::string word; words >> word;) result.flags.push_back(word);
  }
  return result;
}

std::vector<std::string> missing_extensions(const Processor& processor) {
  std::vector<std::string> missing;
  for (const Extension& one : extensions)
    if (std::find(processor.flags.begin(), processor.flags.end(), one.flag) == processor.flags.end())
      missing.emplace_back(one.name);
  return missing;
}

std::string untested_here() {
  std::ifstream file("/proc/cpuinfo");
  std::ostringstream text;
  text << file.rdbuf();
  const Processor processor = parse_processor(text.str());
  if (processor.flags.empty()) return "not known: what this processor has, for /proc/cpuinfo does not say\n";
  return fmt::format("not tested, since this processor ({}) lacks it: {}\n", processor.name,
                     fmt::join(missing_extensions(processor), ", "));
}

}  // namespace tally::differential
