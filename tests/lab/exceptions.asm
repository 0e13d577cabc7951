; Exceptions and interrupts of a 64-bit multiboot program with its own GDT, IDT and TSS, from CPL 3 and from CPL 0, with
; and without an error code, on stacks of the TSS and of its interrupt stack table: an ELF file, written out by hand
; (nasm -f bin). It prints a line for each, and writes how many were not as the manual says to the exit port.
bits 32
org 400000h
base equ 400000h

header:
  db 7Fh, "ELF", 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0
  dw 2, 3
  dd 1, start, program_header - header, 0, 0
  dw 52, 32, 1, 0, 0, 0
program_header:
  dd 1, 0, base, base, file_end - base, memory_end - base, 7, 4096

align 4
multiboot:
  dd 1BADB002h, 0, -1BADB002h

user_code equ 23h
user_data equ 1Bh
user_flags equ 202h

start:
  mov esp, stack_top
  ; The first 8 MiB as they are: by pages of 2 MiB for CPL 0, but the second 2 MiB by pages of 4 KiB for CPL 3.
  mov dword [level_4], level_3 + 7
  mov dword [level_3], level_2 + 7
  mov dword [level_2], 83h
  mov dword [level_2 + 8], 200083h
  mov dword [level_2 + 16], level_1 + 7
  mov dword [level_2 + 24], 600083h
  mov edi, level_1
  mov eax, 400007h
  mov ecx, 512
.page:
  mov [edi], eax
  add eax, 1000h
  add edi, 8
  loop .page
  and dword [level_1 + 8 * 100h], ~1      ; 500000H is missing
  and dword [level_1 + 8 * 101h], ~2      ; 501000H is read-only
  and dword [level_1 + 8 * 102h], ~4      ; 502000H is for CPL 0
  lgdt [gdt_pointer]
  mov eax, cr4
  or eax, 220h                            ; PAE, OSFXSR
  mov cr4, eax
  mov eax, level_4
  mov cr3, eax
  mov ecx, 0C0000080h
  rdmsr
  bts eax, 8
  wrmsr
  mov eax, cr0
  or eax, 80010001h                       ; PG, WP, PE
  mov cr0, eax
  jmp 8:wide

bits 64
wide:
  mov ax, 10h
  mov ds, ax
  mov es, ax
  mov ss, ax
  mov qword [tss + 4], kernel_stack       ; RSP0
  mov qword [tss + 24h], first_stack      ; IST1
  mov qword [tss + 2Ch], 500800h          ; IST2: a page that is missing
  mov eax, tss
  mov [gdt + 28h + 2], ax
  shr eax, 16
  mov [gdt + 28h + 4], al
  mov ax, 28h
  ltr ax
  xor ecx, ecx
  mov rsi, stubs
.gate:
  mov rdi, rcx
  shl rdi, 4
  add rdi, idt
  mov rax, rsi
  mov [rdi], ax
  mov word [rdi + 2], 8
  mov word [rdi + 4], 8E00h
  shr rax, 16
  mov [rdi + 6], ax
  add rsi, stub_size
  inc ecx
  cmp ecx, 34h
  jb .gate
  mov byte [idt + 3 * 16 + 5], 0EEh       ; INT3 and INT 20H are for CPL 3
  mov byte [idt + 20h * 16 + 5], 0EEh
  mov word [idt + 30h * 16 + 4], 0EE01h   ; INT 30H on IST1
  mov word [idt + 31h * 16 + 4], 0EE02h   ; INT 31H on IST2
  mov word [idt + 32h * 16 + 4], 6E00h    ; INT 32H is not present
  mov word [idt + 33h * 16 + 4], 0E500h   ; INT 33H is a task gate
  mov byte [idt + 8 * 16 + 4], 1          ; a double fault on IST1
  lidt [idt_pointer]

; A test: from this level, at this instruction, this vector arrives with this error code and return address (relative to
; the instruction), on this stack.
%macro TRY 6+                 ; level, vector, error or -1, offset of the return address, stack, code
  lea r12, [%2]
  mov r13, %3
  mov r14, %%code + %4
  mov r15, %5
  mov rbx, %%code
  mov rsi, %%text
  mov byte [level], %1
  call try
  jmp %%done
%defstr shown %6
%%text: db '0' + %1, " ", shown, 10, 0
%%code:
  %6
  ud2
%%done:
%endmacro

%macro STUB 1
%%begin:
  %if %1 == 8 || (%1 >= 10 && %1 <= 14) || %1 == 17
  %else
    push -1
  %endif
  push %1
  jmp near arrived
  times stub_size - ($ - %%begin) nop
%endmacro
stub_size equ 16

  TRY 3, 20h, -1, 2, kernel_stack, int 20h
  TRY 3, 6, -1, 0, kernel_stack, ud2
  TRY 3, 13, 0, 0, kernel_stack, mov rax, cr0
  TRY 3, 13, 0, 0, kernel_stack, hlt
  TRY 3, 13, 0, 0, kernel_stack, rdmsr
  TRY 3, 13, 0, 0, kernel_stack, wrmsr
  TRY 3, 13, 21h * 8 + 2, 0, kernel_stack, int 21h
  TRY 3, 3, -1, 1, kernel_stack, int3
  TRY 3, 0, -1, 0, kernel_stack, div r11
  TRY 3, 0, -1, 0, kernel_stack, div r11
  TRY 3, 14, 4, 0, kernel_stack, mov eax, [500000h]
  TRY 3, 14, 6, 0, kernel_stack, mov [500004h], eax
  TRY 3, 14, 7, 0, kernel_stack, mov [501000h], eax
  TRY 3, 14, 7, 0, kernel_stack, inc dword [501000h]
  TRY 3, 14, 5, 0, kernel_stack, mov eax, [502000h]
  TRY 3, 14, 6, 0, kernel_stack, push qword [level]
  TRY 3, 30h, -1, 2, first_stack, int 30h
  TRY 3, 14, 2, 0, kernel_stack, int 31h
  mov byte [idt + 14 * 16 + 4], 2
  TRY 3, 8, 0, 0, first_stack, mov eax, [500000h]
  TRY 0, 8, 0, 0, first_stack, mov eax, [500000h]
  mov byte [idt + 14 * 16 + 4], 0
  TRY 3, 11, 32h * 8 + 2, 0, kernel_stack, int 32h
  TRY 3, 13, 33h * 8 + 2, 0, kernel_stack, int 33h
  TRY 3, 13, 40h * 8 + 2, 0, kernel_stack, int 40h
  TRY 0, 20h, -1, 2, stack_top - 16, int 20h
  TRY 0, 6, -1, 0, stack_top - 16, ud2
  TRY 0, 0, -1, 0, stack_top - 16, div r11
  TRY 0, 0, -1, 0, stack_top - 16, div r11
  TRY 0, 14, 0, 0, stack_top - 16, mov eax, [500000h]
  TRY 0, 14, 3, 0, stack_top - 16, mov [501000h], eax
  TRY 0, 13, 0, 0, stack_top - 16, div qword [r10]
  TRY 0, 13, 0, 0, stack_top - 16, mov cr4, r10
  TRY 0, 13, 0, 0, stack_top - 16, mov cr4, r11
  TRY 0, 13, 0, 0, stack_top - 16, mov cr0, r10
  TRY 0, 30h, -1, 2, first_stack, int 30h
  TRY 0, 11, 32h * 8 + 2, 0, stack_top - 16, int 32h

; A fetch from a page that is missing, after a jump: the address of the fault is the target.
  mov byte [level], 3
  mov r12, 14
  mov r13, 4
  mov r14, 500010h
  mov r15, kernel_stack
  mov rbx, jump
  mov rsi, jump_text
  call try
; Single steps: after an instruction, and after a jump.
  mov r12, 1
  mov r13, -1
  mov r14, stepped
  mov rbx, step
  mov rsi, step_text
  mov qword [flags], user_flags | 100h
  call try
  mov r14, jumped
  mov rbx, step_jump
  mov rsi, step_jump_text
  call try
  mov qword [flags], user_flags
; What CPL 3 has in its registers stays there.
  mov ecx, 0C0000100h
  mov eax, 12345678h
  xor edx, edx
  wrmsr
  mov r12, 20h
  mov r14, registers_end
  mov rbx, registers
  mov rsi, registers_text
  call try
  mov ecx, 0C0000100h
  rdmsr
  cmp eax, 12345678h
  jne .differs
  movq rax, xmm15
  cmp rax, 55h
  jne .differs
  fistp qword [number]
  cmp qword [number], 1
  jne .differs
  cmp r8, 8888h
  je .same
.differs:
  inc dword [failures]
.same:
  mov eax, [failures]
  out 0F4h, eax
  hlt

jump_text: db "3 fetch from a missing page", 10, 0
jump:
  mov rax, 500010h
  jmp rax
step_text: db "3 single step", 10, 0
step:
  nop
stepped:
  ud2
step_jump_text: db "3 single step of a jump", 10, 0
step_jump:
  jmp jumped
  ud2
jumped:
  nop
  ud2
registers_text: db "3 registers", 10, 0
registers:
  mov eax, 55h
  movq xmm15, rax
  fld1
  mov r8, 8888h
  int 20h
registers_end:

; Runs the code at RBX at [level]. The handler continues after the call.
try:
  pop qword [resume]
  call print
  xor r11, r11
  mov r10, 8000000000000000h  ; not canonical
  cmp byte [level], 0
  jne .user
  mov rsp, stack_top - 16
  jmp rbx
.user:
  push user_data
  mov rax, user_stack
  cmp r12, 14
  jne .stack
  cmp r13, 6
  jne .stack
  mov rax, 500008h            ; so that a push is to the missing page
.stack:
  mov [pointer], rax
  push rax
  push qword [flags]
  push user_code
  push rbx
  iretq

arrived:
  ; [RSP]: the vector, the error code or -1, RIP, CS, RFLAGS, RSP, SS
  mov eax, cs
  cmp eax, 8
  jne .wrong
  cmp [rsp], r12
  jne .wrong
  movsx rax, dword [rsp + 8]
  cmp rax, r13
  jne .wrong
  cmp [rsp + 16], r14
  jne .wrong
  test byte [rsp + 33], 2     ; IF of the code before
  mov rax, rsp
  add rax, 7 * 8
  cmp rax, r15
  jne .wrong
  mov rax, [rsp + 24]
  mov rdx, [rsp + 48]
  cmp byte [level], 0
  je .kernel
  cmp rax, user_code
  jne .wrong
  cmp rdx, user_data
  jne .wrong
  mov rax, [rsp + 40]
  cmp rax, [pointer]
  jne .wrong
  mov eax, ss
  test eax, eax
  jne .wrong
  jmp .right
.kernel:
  cmp rax, 8
  jne .wrong
  cmp rdx, 10h
  jne .wrong
  mov rax, [rsp + 40]
  cmp rax, stack_top - 16
  jne .wrong
.right:
  pushfq
  pop rax
  test eax, 300h              ; IF and TF are clear
  jnz .wrong
  jmp .done
.wrong:
  inc dword [failures]
  mov rsi, failed
  call print
.done:
  mov ax, 10h
  mov ss, ax
  mov rsp, stack_top
  jmp [resume]

print:
  lodsb
  test al, al
  jz .done
  out 0E9h, al
  jmp print
.done:
  ret

failed: db "not so", 10, 0
align 16
stubs:
%assign vector 0
%rep 34h
  STUB vector
  %assign vector vector + 1
%endrep
align 8
gdt:
  dq 0, 00AF9B000000FFFFh, 00CF93000000FFFFh, 00CFF3000000FFFFh, 00AFFB000000FFFFh, 0000890000000067h, 0
gdt_pointer:
  dw 55
  dq gdt
idt_pointer:
  dw 34h * 16 - 1
  dq idt
flags: dq user_flags
failures: dd 0
level: db 3
file_end:

absolute 410000h
level_4: resb 1000h
level_3: resb 1000h
level_2: resb 1000h
level_1: resb 1000h
idt: resb 1000h
tss: resb 80h
resume: resq 1
pointer: resq 1
number: resq 1
  alignb 16
  resb 1000h
kernel_stack:
  resb 1000h
first_stack:
  resb 1000h
user_stack:
  resb 1000h
stack_top:
memory_end:
