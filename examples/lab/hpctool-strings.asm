; tally lab -q --max-instructions 200000000
; HPCTool's twenty benchmarks, after Weaver and McKee: a million string operations, as one instruction with REP or as a
; loop, in user mode. With the instructions around them 8 or 9 with REP, 2,000,007 or 2,000,008 with LOOP; a tool that
; reports a million for the first counts iterations, not instructions.
%include "lab.inc"
ONE equ 200000h
OTHER equ 500000h
ROUNDS equ 1000000

  mov esi, 2Eh
  mov edi, trap
  call set_user_handler
  WRITE_MSR IA32_FIXED_CTR_CTRL, 2
  WRITE_MSR IA32_PERF_GLOBAL_CTRL, 1 << 32
  mov ebp, programs
next:
  mov eax, [ebp]
  test eax, eax
  jz done
  mov [target], eax
  WRITE_MSR IA32_FIXED_CTR0, 0
  ENTER_USER [target]
trap:
  mov esi, [ebp + 4]
  call puts
  mov ecx, IA32_FIXED_CTR0
  rdmsr
  call put_number
  call put_line
  add ebp, 8
  jmp next
done:
  hlt

; %1: the operation, %2: its REP prefix, %3 and %4: its pointers.
%macro BENCH 3-4
rep_%1:
  xor ecx, ecx
  mov ecx, ROUNDS
  mov %3, ONE
%if %0 > 3
  mov %4, OTHER
%endif
  %2 %1
  xor ebx, ebx
  mov eax, 60
  nop
  int 2Eh
loop_%1:
  xor ecx, ecx
  mov ecx, ROUNDS
  mov %3, ONE
%if %0 > 3
  mov %4, OTHER
%endif
.again:
  %1
  loop .again
  xor ebx, ebx
  mov eax, 60
  nop
  int 2Eh
%defstr OPERATION %1
name_rep_%1: db 'rep ', OPERATION, ' ', 0
name_loop_%1: db 'loop ', OPERATION, ' ', 0
%endmacro

  BENCH lodsb, rep, esi
  BENCH stosb, rep, edi
  BENCH scasb, repe, edi
  BENCH movsb, rep, esi, edi
  BENCH cmpsb, repe, esi, edi
  BENCH lodsw, rep, esi
  BENCH stosw, rep, edi
  BENCH scasw, repe, edi
  BENCH movsw, rep, esi, edi
  BENCH cmpsw, repe, esi, edi

%macro ROW 1
  dd rep_%1, name_rep_%1, loop_%1, name_loop_%1
%endmacro
align 4
programs:
  ROW lodsb
  ROW stosb
  ROW scasb
  ROW movsb
  ROW cmpsb
  ROW lodsw
  ROW stosw
  ROW scasw
  ROW movsw
  ROW cmpsw
  dd 0
target: dd 0
