#include "tally/engine/models/core/operation.hpp"

namespace tally::models {

namespace {

// The mnemonics of a kind, each with a space before and after it.
struct Names {
  Operation operation;
  const char* names;
};

constexpr Names all_names[] = {
    {Operation::nop,
     " nop endbr64 endbr32 prefetchnta prefetcht0 prefetcht1 prefetcht2 prefetchw emms femms fnop wait "},
    {Operation::move, " mov movabs movnti movbe "},
    {Operation::extend, " movzx xlat cbw cwde cdqe cwd cdq cqo "},
    {Operation::extend_sign, " movsx movsxd "},
    {Operation::alu,
     " add sub and or xor not neg inc dec cmp test andn blsi blsr blsmsk bzhi stc clc cmc lahf sahf adcx adox "
     "cld std salc "},
    {Operation::carry, " adc sbb "},
    {Operation::select, " cmovb cmovnb cmovno cmovnp cmovns cmovnz cmovo cmovp cmovs cmovz "},
    {Operation::select_unsigned, " cmovbe cmovnbe "},
    {Operation::select_signed, " cmovl cmovle cmovnl cmovnle "},
    {Operation::set, " setb setbe setl setle setnb setnbe setnl setnle setno setnp setns setnz seto setp sets setz "},
    {Operation::lea, " lea "},
    {Operation::shift, " shl sal shr sar rol ror rorx sarx shlx shrx "},
    {Operation::rotate_carry, " rcl rcr "},
    {Operation::shift_double, " shld shrd "},
    {Operation::bit_test, " bt "},
    {Operation::bit_set, " bts btr btc "},
    {Operation::bit_count, " bsf bsr lzcnt tzcnt popcnt "},
    {Operation::bit_deposit, " crc32 pdep pext "},
    {Operation::bit_extract, " bextr "},
    {Operation::byte_swap, " bswap "},
    {Operation::multiply, " imul "},
    {Operation::multiply_wide, " mul mulx "},
    {Operation::divide, " div idiv "},
    {Operation::exchange, " xchg xadd cmpxchg "},
    {Operation::push, " push "},
    {Operation::pop, " pop "},
    {Operation::jump_always, " jmp "},
    {Operation::jump, " loop loope loopne jb jbe jl jle jnb jnbe jnl jnle jno jnp jns jnz jo jp js jz jrcxz jecxz "},
    {Operation::call, " call "},
    {Operation::ret, " ret "},
    {Operation::leave, " leave "},
    {Operation::vector_move,
     " movaps movapd movups movupd movdqa movdqu lddqu movntps movntpd movntdq movntdqa movq2dq movdq2q movhps movlps "
     "movhpd movlpd broadcastf128 broadcasti128 movdqu8 movdqu16 movdqu32 movdqu64 movdqa32 movdqa64 broadcasti32x2 "
     "broadcasti32x4 broadcasti64x2 broadcasti32x8 broadcasti64x4 broadcastf32x2 broadcastf32x4 broadcastf64x2 "
     "broadcastf32x8 broadcastf64x4 maskmovps maskmovpd pmaskmovd pmaskmovq "},
    {Operation::vector_integer,
     " paddb paddw paddd paddq paddsb paddsw paddusb paddusw psubb psubw psubd psubq psubsb psubsw psubusb psubusw "
     "pavgb "
     "pavgw pmaxsb pmaxsw pmaxsd pmaxub pmaxuw pmaxud pminsb pminsw pminsd pminub pminuw pminud pabsb pabsw pabsd "
     "psignb "
     "psignw psignd pcmpeqb pcmpeqw pcmpeqd pcmpeqq pcmpgtb pcmpgtw pcmpgtd pmaxsq pmaxuq pminsq pminuq pabsq prold "
     "prolq prord prorq prolvd prolvq prorvd prorvq "
     "pshldw pshldd pshldq pshrdw pshrdd pshrdq pshldvw pshldvd pshldvq pshrdvw pshrdvd pshrdvq gf2p8affineqb "
     "gf2p8affineinvqb gf2p8mulb "},
    {Operation::vector_logic,
     " pand pandn por pxor andps andpd andnps andnpd orps orpd xorps xorpd blendps blendpd pblendd pandd pandq pandnd "
     "pandnq pord porq pxord pxorq pblendmb "
     "pblendmw pblendmd pblendmq blendmps blendmpd "},
    {Operation::vector_blend_variable, " blendvps blendvpd pblendvb "},
    {Operation::vector_shuffle,
     " pshufd pshufhw pshuflw pshufw shufps shufpd unpcklps unpckhps unpcklpd unpckhpd punpcklbw punpcklwd "
     "punpckldq punpcklqdq punpckhbw punpckhwd punpckhdq punpckhqdq pblendw psraq movss movsd movshdup movsldup "
     "movddup "
     "movhlps movlhps insertps permilps permilpd psllw pslld psllq psrlw psrld psrlq psraw psrad "},
    {Operation::vector_shuffle_bytes,
     " pshufb packsswb packssdw packuswb packusdw palignr pslldq psrldq pmovsxbw pmovsxbd pmovsxbq pmovsxwd pmovsxwq "
     "pmovsxdq pmovzxbw pmovzxbd pmovzxbq pmovzxwd pmovzxwq pmovzxdq "},
    {Operation::vector_shuffle_lanes,
     " permd permq permps permpd perm2f128 perm2i128 extractf128 extracti128 alignd alignq extractf32x4 extractf64x2 "
     "extractf32x8 extractf64x4 extracti32x4 extracti64x2 extracti32x8 extracti64x4 shuff32x4 shuff64x2 shufi32x4 "
     "shufi64x2 "},
    {Operation::vector_insert_lane,
     " insertf128 inserti128 insertf32x4 insertf64x2 insertf32x8 insertf64x4 inserti32x4 inserti64x2 inserti32x8 "
     "inserti64x4 broadcastss broadcastsd pbroadcastb pbroadcastw pbroadcastd pbroadcastq "},
    {Operation::vector_horizontal, " phaddw phaddd phaddsw phsubw phsubd phsubsw "},
    {Operation::vector_shift_variable, " psllvd psllvq psrlvd psrlvq psravd psravq psllvw psrlvw psravw "},
    {Operation::vector_multiply,
     " pmullw pmulhw pmulhuw pmuludq pmuldq pmaddwd pmaddubsw pmulhrsw phminposuw pdpbusd "
     "pdpbusds pdpwssd pdpwssds pmadd52luq pmadd52huq "},
    {Operation::vector_multiply_32, " pmulld pmullq "},
    {Operation::vector_compare_64, " pcmpgtq "},
    {Operation::vector_sad, " psadbw dbpsadbw "},
    {Operation::vector_mpsad, " mpsadbw "},
    {Operation::vector_test, " ptest testps testpd "},
    {Operation::vector_mask, " pmovmskb movmskps movmskpd "},
    {Operation::vector_to_integer, " movd movq "},
    {Operation::vector_extract, " pextrb pextrw pextrd pextrq extractps "},
    {Operation::vector_insert, " pinsrb pinsrw pinsrd pinsrq "},
    {Operation::vector_string_explicit, " pcmpestri pcmpestrm "},
    {Operation::vector_string_implicit, " pcmpistri pcmpistrm "},
    {Operation::carryless_multiply, " pclmulqdq "},
    {Operation::aes, " aesenc aesenclast aesdec aesdeclast "},
    {Operation::aes_columns, " aesimc "},
    {Operation::aes_key, " aeskeygenassist "},
    {Operation::vector_ternary, " pternlogd pternlogq "},
    {Operation::vector_permute_bytes,
     " permb permw permi2b permi2w permi2d permi2q permi2ps permi2pd permt2b permt2w permt2d permt2q permt2ps permt2pd "
     "pmultishiftqb "},
    {Operation::vector_compress,
     " pcompressb pcompressw pcompressd pcompressq compressps compresspd pexpandb pexpandw pexpandd pexpandq expandps "
     "expandpd "},
    {Operation::vector_narrow,
     " pmovwb pmovdb pmovdw pmovqb pmovqw pmovqd pmovswb pmovsdb pmovsdw pmovsqb pmovsqw pmovsqd pmovuswb pmovusdb "
     "pmovusdw pmovusqb pmovusqw pmovusqd "},
    {Operation::vector_compare_mask,
     " pcmpb pcmpw pcmpd pcmpq pcmpub pcmpuw pcmpud pcmpuq ptestmb ptestmw ptestmd ptestmq ptestnmb ptestnmw ptestnmd "
     "ptestnmq pmovb2m pmovw2m pmovd2m pmovq2m fpclassps fpclasspd fpclassss fpclasssd "},
    {Operation::vector_count, " popcntb popcntw popcntd popcntq plzcntd plzcntq pshufbitqmb "},
    {Operation::vector_conflict, " pconflictd pconflictq "},
    {Operation::vector_zero_upper, " zeroupper zeroall "},
    {Operation::mask_logic,
     " kandb kandw kandd kandq kandnb kandnw kandnd kandnq korb korw kord korq kxorb kxorw kxord kxorq kxnorb kxnorw "
     "kxnord kxnorq knotb knotw knotd knotq pmovm2b pmovm2w pmovm2d pmovm2q "},
    {Operation::mask_arithmetic,
     " kaddb kaddw kaddd kaddq kshiftlb kshiftlw kshiftld kshiftlq kshiftrb kshiftrw kshiftrd kshiftrq kunpckbw "
     "kunpckwd kunpckdq "},
    {Operation::mask_test, " kortestb kortestw kortestd kortestq ktestb ktestw ktestd ktestq "},
    {Operation::mask_move, " kmovb kmovw kmovd kmovq "},
    {Operation::gather, " pgatherdd pgatherdq pgatherqd pgatherqq gatherdps gatherdpd gatherqps gatherqpd "},
    {Operation::scatter, " pscatterdd pscatterdq pscatterqd pscatterqq scatterdps scatterdpd scatterqps scatterqpd "},
    {Operation::sha1_rounds, " sha1rnds4 "},
    {Operation::sha256_rounds, " sha256rnds2 "},
    {Operation::sha_schedule, " sha1nexte sha1msg1 sha1msg2 sha256msg1 sha256msg2 "},
    {Operation::string_move, " movsb movsw movsq "},
    {Operation::string_store, " stosb stosw stosd stosq "},
    {Operation::string_compare, " lodsb lodsw lodsd lodsq scasb scasw scasd scasq cmpsb cmpsw cmpsq "},
    {Operation::fence, " lfence sfence "},
    {Operation::fence_full, " mfence serialize "},
    {Operation::pause, " pause tpause "},
    {Operation::time_stamp, " rdtsc rdtscp rdpmc rdpid "},
    {Operation::random, " rdrand rdseed "},
    {Operation::state_read, " stmxcsr xgetbv fnstcw fnstsw rdfsbase rdgsbase rdpkru pushf pushfq fxam "},
    {Operation::state_write, " ldmxcsr fldcw fnclex fninit wrfsbase wrgsbase wrpkru popf popfq "},
    {Operation::state_save,
     " xsave xsavec xsaveopt xrstor xsave64 xsavec64 xsaveopt64 xrstor64 fxsave fxrstor fxsave64 fxrstor64 fnstenv "
     "fldenv "},
    {Operation::serialize, " cpuid syscall "},
    {Operation::fp_add,
     " addps addpd addss addsd subps subpd subss subsd addsubps addsubpd cmpps cmppd cmpss cmpsd comiss comisd ucomiss "
     "ucomisd minps minpd minss minsd maxps maxpd maxss maxsd "},
    {Operation::fp_multiply, " mulps mulpd mulss mulsd "},
    {Operation::fp_fma,
     " fmadd132ps fmadd132pd fmadd132ss fmadd132sd fmadd213ps fmadd213pd fmadd213ss fmadd213sd fmadd231ps fmadd231pd "
     "fmadd231ss fmadd231sd fmsub132ps fmsub132pd fmsub132ss fmsub132sd fmsub213ps fmsub213pd fmsub213ss fmsub213sd "
     "fmsub231ps fmsub231pd fmsub231ss fmsub231sd fnmadd132ps fnmadd132pd fnmadd132ss fnmadd132sd fnmadd213ps "
     "fnmadd213pd fnmadd213ss fnmadd213sd fnmadd231ps fnmadd231pd fnmadd231ss fnmadd231sd fnmsub132ps fnmsub132pd "
     "fnmsub132ss fnmsub132sd fnmsub213ps fnmsub213pd fnmsub213ss fnmsub213sd fnmsub231ps fnmsub231pd fnmsub231ss "
     "fnmsub231sd fmaddsub132ps fmaddsub132pd fmaddsub213ps fmaddsub213pd fmaddsub231ps fmaddsub231pd fmsubadd132ps "
     "fmsubadd132pd fmsubadd213ps fmsubadd213pd fmsubadd231ps fmsubadd231pd "},
    {Operation::fp_convert,
     " cvtdq2ps cvtps2dq cvttps2dq cvtudq2ps cvtps2udq cvttps2udq cvtqq2pd cvtuqq2pd cvtpd2qq cvtpd2uqq cvttpd2qq "
     "cvttpd2uqq rangeps rangepd rangess rangesd getexpps getexppd getexpss getexpsd getmantps getmantpd getmantss "
     "getmantsd fixupimmps fixupimmpd fixupimmss fixupimmsd scalefps scalefpd scalefss scalefsd "},
    {Operation::fp_convert_width,
     " cvtpd2ps cvtps2pd cvtss2sd cvtsd2ss cvtdq2pd cvtpd2dq cvttpd2dq cvtsi2ss cvtsi2sd cvtss2si cvtsd2si cvttss2si "
     "cvttsd2si cvtph2ps cvtps2ph cvtpi2ps cvtpi2pd cvtps2pi cvttps2pi cvtpd2pi cvttpd2pi cvtusi2ss cvtusi2sd "
     "cvtss2usi cvtsd2usi cvttss2usi cvttsd2usi cvtudq2pd cvtpd2udq cvttpd2udq cvtqq2ps cvtuqq2ps cvtps2qq cvtps2uqq "
     "cvttps2qq cvttps2uqq "},
    {Operation::fp_round,
     " roundps roundpd roundss roundsd rndscaleps rndscalepd rndscaless rndscalesd reduceps reducepd reducess "
     "reducesd "},
    {Operation::fp_approximate,
     " rcpps rcpss rsqrtps rsqrtss rcp14ps rcp14pd rcp14ss rcp14sd rsqrt14ps rsqrt14pd rsqrt14ss rsqrt14sd "},
    {Operation::fp_divide_single, " divps divss "},
    {Operation::fp_divide_double, " divpd divsd "},
    {Operation::fp_root_single, " sqrtps sqrtss "},
    {Operation::fp_root_double, " sqrtpd sqrtsd "},
    {Operation::fp_horizontal, " haddps haddpd hsubps hsubpd "},
    {Operation::fp_dot_single, " dpps "},
    {Operation::fp_dot_double, " dppd "},
    {Operation::x87_move,
     " fld fld1 fldz fst fstp fabs fchs fxch ffree fincstp fdecstp fcmovb fcmovbe fcmove fcmovnb fcmovnbe fcmovne "
     "fcmovnu fcmovu "},
    {Operation::x87_add,
     " fadd faddp fsub fsubp fsubr fsubrp fcom fcomp fcompp fucom fucomp fucompp fcomi fcomip fucomi fucomip ftst "
     "fiadd fisub fisubr ficom ficomp "},
    {Operation::x87_multiply, " fmul fmulp fimul "},
    {Operation::x87_divide, " fdiv fdivp fdivr fdivrp fidiv fidivr "},
    {Operation::x87_root, " fsqrt "},
    {Operation::x87_integer, " fild fist fistp fisttp "},
    {Operation::x87_constant, " fldpi fldl2e fldl2t fldlg2 fldln2 "},
    {Operation::x87_round, " frndint fprem fprem1 fscale fxtract "},
    {Operation::x87_function, " fsin fcos fsincos fptan fpatan f2xm1 fyl2x fyl2xp1 fbld fbstp "},
    {Operation::tile_move, " tileloadd tileloaddt1 tilestored tilezero tilerelease ldtilecfg sttilecfg "},
    {Operation::tile_multiply, " tdpbssd tdpbsud tdpbusd tdpbuud tdpbf16ps tdpfp16ps "},
};

// Returns whether the list contains this word.
bool lists(const char* names, const char* word) {
  while (*names != 0) {
    ++names;  // the space before a name
    const char* w = word;
    while (*w != 0 && *w != ' ' && *w == *names) ++w, ++names;
    if (*w == 0 && *names == ' ') return true;
    while (*names != ' ' && *names != 0) ++names;
    if (*names != 0 && names[1] == 0) return false;
  }
  return false;
}

Operation named(const char* mnemonic) {
  for (const Names& row : all_names)
    if (lists(row.names, mnemonic)) return row.operation;
  return Operation::unknown;
}

// Returns the kind for 256 bits, which occupies the divider for twice as long.
Operation widened(Operation operation) {
  switch (operation) {
    case Operation::fp_divide_single: return Operation::fp_divide_single_wide;
    case Operation::fp_divide_double: return Operation::fp_divide_double_wide;
    case Operation::fp_root_single: return Operation::fp_root_single_wide;
    case Operation::fp_root_double: return Operation::fp_root_double_wide;
    default: return operation;
  }
}

bool is(const char* mnemonic, const char* name) {
  while (*name != 0 && *mnemonic == *name) ++mnemonic, ++name;
  return *name == 0 && *mnemonic == 0;
}

// Returns whether the instruction clears a register if both sources are that register.
bool clears(const char* mnemonic) {
  return lists(" xor sub pxor pxord pxorq xorps xorpd psubb psubw psubd psubq pcmpgtb pcmpgtw pcmpgtd ", mnemonic);
}

// Returns whether the instruction sets all bits if both sources are the same register.
bool sets_ones(const char* mnemonic) { return lists(" pcmpeqb pcmpeqw pcmpeqd pcmpeqq ", mnemonic); }

// A vector shift by a constant has the timing of a shuffle. A shift by a register needs one more micro-operation.
bool is_vector_shift(const char* mnemonic) {
  return lists(" psllw pslld psllq psrlw psrld psrlq psraw psrad ", mnemonic);
}

// Returns whether the instruction adds a constant to a 64-bit register, or subtracts one.
bool adds_constant(const char* mnemonic, const Form& form) {
  if (form.memory || form.bits != 64) return false;
  return lists(" inc dec ", mnemonic) || (form.immediate && lists(" add sub ", mnemonic));
}

Operation refined(Operation operation, const char* mnemonic, const Form& form) {
  switch (operation) {
    case Operation::alu: return adds_constant(mnemonic, form) ? Operation::add_constant : operation;
    case Operation::bit_test:
    case Operation::bit_set: return form.memory && !form.immediate ? Operation::bit_test_memory : operation;
    case Operation::fp_convert_width: return form.general ? Operation::fp_convert_general : operation;
    // Loads of an element for all places need no shuffle, except of bytes and words.
    case Operation::vector_insert_lane:
      return form.memory && lists(" broadcastss broadcastsd pbroadcastd pbroadcastq ", mnemonic)
                 ? Operation::vector_move
                 : operation;
    case Operation::string_move:
    case Operation::string_store:
    case Operation::string_compare: return form.repeated ? operation : Operation::string_step;
    case Operation::mask_move: return form.general ? Operation::mask_to_integer : operation;
    case Operation::move: return form.same_register ? Operation::move_self : operation;
    case Operation::extend:
      return form.low_byte && form.bits >= 32 && !form.same_register ? Operation::extend_byte : operation;
    case Operation::lea:
      if (form.relative) return Operation::lea_relative;
      if (form.scale == 0 && form.bits == 64) return Operation::lea_constant;
      if (form.scale > 1) return form.address_parts >= 3 ? Operation::lea_slow_scaled : Operation::lea_scaled;
      return form.address_parts >= 3 ? Operation::lea_slow : operation;
    case Operation::shift: return form.immediate || form.operands != 2 ? operation : Operation::shift_by_register;
    case Operation::byte_swap: return form.bits == 64 ? Operation::byte_swap_wide : operation;
    case Operation::multiply: return form.operands == 1 ? Operation::multiply_wide : operation;
    case Operation::divide:
      if (form.bits != 64) return operation;
      return is(mnemonic, "idiv") ? Operation::divide_wide_signed : Operation::divide_wide;
    case Operation::exchange: return is(mnemonic, "xchg") && form.memory ? Operation::locked : operation;
    case Operation::vector_shuffle:
      if (form.repeated && is(mnemonic, "movsd")) return Operation::string_move;
      if (is_vector_shift(mnemonic) && !form.immediate) return Operation::vector_shift_by_register;
      // movss and movsd between registers keep the upper elements of the destination. A load clears them.
      if (form.memory && (is(mnemonic, "movss") || is(mnemonic, "movsd"))) return Operation::vector_move;
      return operation;
    case Operation::vector_to_integer: return form.memory ? Operation::vector_move : operation;
    default: return form.bits >= 256 ? widened(operation) : operation;
  }
}

}  // namespace

Operation operation_of(const char* mnemonic, const Form& form) {
  if (form.locked) return Operation::locked;
  const char* plain = mnemonic;
  Operation operation = named(plain);
  if (operation == Operation::unknown && *plain == 'v') operation = named(++plain);
  if (form.same_register && clears(plain)) return Operation::zeroing;
  if (form.same_register && sets_ones(plain)) return Operation::vector_ones;
  return refined(operation, plain, form);
}

}  // namespace tally::models
