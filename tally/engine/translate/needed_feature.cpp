// The feature of the processor that an instruction needs.
#include "tally/engine/translate/decode.hpp"

namespace tally::engine::translate {

using channel::Feature;

Feature feature_of(const ZydisDecodedInstruction& raw) {
  // A processor without BMI1 executes tzcnt as bsf, with the same result unless the operand is 0: compilers use it for
  // every processor.
  if (raw.mnemonic == ZYDIS_MNEMONIC_TZCNT) return Feature::none;
  if (raw.meta.isa_set == ZYDIS_ISA_SET_MOVDIR)
    return raw.mnemonic == ZYDIS_MNEMONIC_MOVDIRI ? Feature::movdiri : Feature::movdir64b;
  switch (raw.meta.isa_set) {
    case ZYDIS_ISA_SET_SSE3:
    case ZYDIS_ISA_SET_SSE3X87: return Feature::sse3;
    case ZYDIS_ISA_SET_PCLMULQDQ: return Feature::pclmulqdq;
    case ZYDIS_ISA_SET_SSSE3:
    case ZYDIS_ISA_SET_SSSE3MMX: return Feature::ssse3;
    case ZYDIS_ISA_SET_FMA: return Feature::fma;
    case ZYDIS_ISA_SET_CMPXCHG16B: return Feature::cx16;
    case ZYDIS_ISA_SET_SSE4: return Feature::sse4_1;
    case ZYDIS_ISA_SET_SSE42: return Feature::sse4_2;
    case ZYDIS_ISA_SET_MOVBE: return Feature::movbe;
    case ZYDIS_ISA_SET_POPCNT: return Feature::popcnt;
    case ZYDIS_ISA_SET_AES: return Feature::aes;
    case ZYDIS_ISA_SET_XSAVE: return Feature::xsave;
    case ZYDIS_ISA_SET_AVX:
    case ZYDIS_ISA_SET_AVXAES: return Feature::avx;
    case ZYDIS_ISA_SET_F16C: return Feature::f16c;
    case ZYDIS_ISA_SET_RDRAND: return Feature::rdrand;
    case ZYDIS_ISA_SET_RDWRFSGS: return Feature::fsgsbase;
    case ZYDIS_ISA_SET_BMI1: return Feature::bmi1;
    case ZYDIS_ISA_SET_AVX2:
    case ZYDIS_ISA_SET_AVX2GATHER: return Feature::avx2;
    case ZYDIS_ISA_SET_BMI2: return Feature::bmi2;
    case ZYDIS_ISA_SET_AVX512F_128N:
    case ZYDIS_ISA_SET_AVX512F_512:
    case ZYDIS_ISA_SET_AVX512F_KOP:
    case ZYDIS_ISA_SET_AVX512F_SCALAR: return Feature::avx512f;
    case ZYDIS_ISA_SET_AVX512F_128:
    case ZYDIS_ISA_SET_AVX512F_256: return Feature::avx512vl;
    case ZYDIS_ISA_SET_AVX512DQ_128:
    case ZYDIS_ISA_SET_AVX512DQ_128N:
    case ZYDIS_ISA_SET_AVX512DQ_256:
    case ZYDIS_ISA_SET_AVX512DQ_512:
    case ZYDIS_ISA_SET_AVX512DQ_KOP:
    case ZYDIS_ISA_SET_AVX512DQ_SCALAR: return Feature::avx512dq;
    case ZYDIS_ISA_SET_RDSEED: return Feature::rdseed;
    case ZYDIS_ISA_SET_ADOX_ADCX: return Feature::adx;
    case ZYDIS_ISA_SET_AVX512_IFMA_128:
    case ZYDIS_ISA_SET_AVX512_IFMA_256:
    case ZYDIS_ISA_SET_AVX512_IFMA_512: return Feature::avx512ifma;
    case ZYDIS_ISA_SET_CLFLUSHOPT: return Feature::clflushopt;
    case ZYDIS_ISA_SET_CLWB: return Feature::clwb;
    case ZYDIS_ISA_SET_AVX512CD_128:
    case ZYDIS_ISA_SET_AVX512CD_256:
    case ZYDIS_ISA_SET_AVX512CD_512: return Feature::avx512cd;
    case ZYDIS_ISA_SET_SHA: return Feature::sha;
    case ZYDIS_ISA_SET_AVX512BW_128:
    case ZYDIS_ISA_SET_AVX512BW_128N:
    case ZYDIS_ISA_SET_AVX512BW_256:
    case ZYDIS_ISA_SET_AVX512BW_512:
    case ZYDIS_ISA_SET_AVX512BW_KOP: return Feature::avx512bw;
    case ZYDIS_ISA_SET_AVX512_VBMI_128:
    case ZYDIS_ISA_SET_AVX512_VBMI_256:
    case ZYDIS_ISA_SET_AVX512_VBMI_512: return Feature::avx512vbmi;
    case ZYDIS_ISA_SET_WAITPKG: return Feature::waitpkg;
    case ZYDIS_ISA_SET_AVX512_VBMI2_128:
    case ZYDIS_ISA_SET_AVX512_VBMI2_256:
    case ZYDIS_ISA_SET_AVX512_VBMI2_512: return Feature::avx512vbmi2;
    case ZYDIS_ISA_SET_GFNI:
    case ZYDIS_ISA_SET_AVX_GFNI:
    case ZYDIS_ISA_SET_AVX512_GFNI_128:
    case ZYDIS_ISA_SET_AVX512_GFNI_256:
    case ZYDIS_ISA_SET_AVX512_GFNI_512: return Feature::gfni;
    case ZYDIS_ISA_SET_VAES:
    case ZYDIS_ISA_SET_AVX512_VAES_128:
    case ZYDIS_ISA_SET_AVX512_VAES_256:
    case ZYDIS_ISA_SET_AVX512_VAES_512: return Feature::vaes;
    case ZYDIS_ISA_SET_VPCLMULQDQ:
    case ZYDIS_ISA_SET_AVX512_VPCLMULQDQ_128:
    case ZYDIS_ISA_SET_AVX512_VPCLMULQDQ_256:
    case ZYDIS_ISA_SET_AVX512_VPCLMULQDQ_512: return Feature::vpclmulqdq;
    case ZYDIS_ISA_SET_AVX512_VNNI_128:
    case ZYDIS_ISA_SET_AVX512_VNNI_256:
    case ZYDIS_ISA_SET_AVX512_VNNI_512: return Feature::avx512vnni;
    case ZYDIS_ISA_SET_AVX512_BITALG_128:
    case ZYDIS_ISA_SET_AVX512_BITALG_256:
    case ZYDIS_ISA_SET_AVX512_BITALG_512: return Feature::avx512bitalg;
    case ZYDIS_ISA_SET_AVX512_VPOPCNTDQ_128:
    case ZYDIS_ISA_SET_AVX512_VPOPCNTDQ_256:
    case ZYDIS_ISA_SET_AVX512_VPOPCNTDQ_512: return Feature::avx512vpopcntdq;
    case ZYDIS_ISA_SET_RDPID: return Feature::rdpid;
    case ZYDIS_ISA_SET_AVX512_VP2INTERSECT_128:
    case ZYDIS_ISA_SET_AVX512_VP2INTERSECT_256:
    case ZYDIS_ISA_SET_AVX512_VP2INTERSECT_512: return Feature::avx512vp2intersect;
    case ZYDIS_ISA_SET_SERIALIZE: return Feature::serialize;
    case ZYDIS_ISA_SET_AVX_VNNI: return Feature::avxvnni;
    case ZYDIS_ISA_SET_AVX512_FP16_128:
    case ZYDIS_ISA_SET_AVX512_FP16_128N:
    case ZYDIS_ISA_SET_AVX512_FP16_256:
    case ZYDIS_ISA_SET_AVX512_FP16_512:
    case ZYDIS_ISA_SET_AVX512_FP16_SCALAR: return Feature::avx512fp16;
    case ZYDIS_ISA_SET_AVX512_BF16_128:
    case ZYDIS_ISA_SET_AVX512_BF16_256:
    case ZYDIS_ISA_SET_AVX512_BF16_512: return Feature::avx512bf16;
    case ZYDIS_ISA_SET_XSAVEOPT: return Feature::xsaveopt;
    case ZYDIS_ISA_SET_XSAVEC: return Feature::xsavec;
    case ZYDIS_ISA_SET_LAHF: return Feature::lahf;
    case ZYDIS_ISA_SET_LZCNT: return Feature::lzcnt;
    case ZYDIS_ISA_SET_SSE4A: return Feature::sse4a;
    case ZYDIS_ISA_SET_RDTSCP: return Feature::rdtscp;
    case ZYDIS_ISA_SET_CLZERO: return Feature::clzero;
    default: return Feature::none;
  }
}

}  // namespace tally::engine::translate
