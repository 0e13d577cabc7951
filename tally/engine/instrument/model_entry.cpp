// The ways from generated code into the model and back.
#include "tally/engine/instrument/models.hpp"

// Offsets as models.hpp asserts them. The flags are kept without pushf, which takes ten times as long.
asm(R"(
.text
.globl enter_model, enter_lookup, model_leave_begin, model_leave_end, lookup_leave_begin, lookup_leave_end, model_pad
.hidden enter_model, enter_lookup, model_leave_begin, model_leave_end, lookup_leave_begin, lookup_leave_end, model_pad
# A look at a first level that generated code could not settle. Whoever looks has saved the flags, or needs none. The
# function saves what it uses.
enter_lookup:
  mov %rdi, %gs:0x1118
  mov %rsi, %gs:0x1110
  mov %rdx, %gs:0x1108
  mov %rsp, %gs:0x10f0
  mov %gs:0xc0, %rdi
  mov %gs:0x1098, %rsi
  mov %gs:0x10a0, %edx
  mov %gs:0xa8, %rsp
  movl $1, %gs:0x10b0
  call model_lookup
lookup_leave_begin:
  movl $0, %gs:0x10b0
  cmpl $0, %gs:0xb8
  mov %gs:0x10f0, %rsp
  mov %gs:0x1118, %rdi
  mov %gs:0x1110, %rsi
  mov %gs:0x1108, %rdx
  jne model_pad
  jmp *%gs:0x10a8
lookup_leave_end:
# The flags stay as they are.
enter_model:
  mov %rax, %gs:0x1140
  lahf
  seto %al
  mov %rax, %gs:0x10f8
  mov %rcx, %gs:0x1100
  mov %rdx, %gs:0x1108
  mov %rsi, %gs:0x1110
  mov %rdi, %gs:0x1118
  mov %r8, %gs:0x1120
  mov %r9, %gs:0x1128
  mov %r10, %gs:0x1130
  mov %r11, %gs:0x1138
  mov %rsp, %gs:0x10f0
  movq $1, %gs:0x10b0
  mov %gs:0xc0, %rdi
  mov %gs:0x1098, %rsi
  mov %gs:0x10a0, %rdx
  mov %gs:0xa8, %rsp
  pushfq
  popq %gs:0x1148
  testl $0x40400, %gs:0x1148  # direction and alignment check: compilers take them to be clear
  jz 3f
  pushfq
  andl $~0x40400, (%rsp)
  popfq
3:call model_asked
model_leave_begin:
  movq $0, %gs:0x10b0
  testl $0x40400, %gs:0x1148
  jz 4f
  mov %gs:0xa8, %rsp          # begun again, it may be the program's
  mov %gs:0x1148, %eax
  and $0x40400, %eax
  pushfq
  or %eax, (%rsp)
  popfq
4:mov %gs:0x10f8, %rax
  add $0x7f, %al
  sahf
  mov %gs:0x1108, %rdx
  mov %gs:0x1110, %rsi
  mov %gs:0x1118, %rdi
  mov %gs:0x1120, %r8
  mov %gs:0x1128, %r9
  mov %gs:0x1130, %r10
  mov %gs:0x1138, %r11
  mov %gs:0x10f0, %rsp
  mov %gs:0xb8, %rcx      # does something wait? The flags must stay as they are
  jrcxz 1f
  jmp 2f
1:mov %gs:0x1100, %rcx
  mov %gs:0x1140, %rax
  jmp *%gs:0x10a8
2:mov %gs:0x1100, %rcx
  mov %gs:0x1140, %rax
model_leave_end:
model_pad:
  int3
  ud2
)");

namespace tally::engine::instrument {

static_assert(models_at == 0x1080);

}  // namespace tally::engine::instrument
