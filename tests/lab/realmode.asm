; A multiboot program that goes to real mode, as tests of hypervisors do: it copies one piece of code at a time to an
; address that it then runs, in segments with and without a base, with limits of 4 GiB, and with handlers of the interrupt
; vector table: an ELF file, written out by hand (nasm -f bin). It prints a line for each, and writes how many were not as
; the manual says to the exit port.
bits 32
org 8000h
base equ 8000h

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

start:
  mov esp, stack_top
  lgdt [gdt_pointer]
  lidt [idt_pointer]
  jmp 8:narrow
bits 16
narrow:
  mov ax, 10h
  mov ds, ax
  mov es, ax
  mov fs, ax
  mov gs, ax
  mov ss, ax
  mov eax, cr0
  and eax, ~1
  mov cr0, eax
  jmp 0:real
real:
  xor ax, ax
  mov ds, ax
  mov es, ax
  mov fs, ax
  mov ss, ax
  mov esp, stack_top          ; GS keeps its limit of 4 GiB
  mov word [0 * 4], on_division
  mov word [0 * 4 + 2], 0
  mov word [6 * 4], on_invalid - 4000h        ; the same handler by a segment with another base
  mov word [6 * 4 + 2], 400h
  mov word [20h * 4], on_call - 1000h
  mov word [20h * 4 + 2], 100h

; Copies the code to `place`, runs it, and compares AX.
%macro TRY 2+                 ; value of AX, code
  jmp %%after
%%code:
  %2
%%code_end:
%defstr shown %2
%%text: db shown, 10, 0
%%after:
  mov si, %%code
  mov cx, %%code_end - %%code
  mov bx, %1
  mov bp, %%text
  call try
%endmacro

  TRY 1234h, mov ax, 1234h
  TRY 5678h, mov eax, 12345678h
  TRY 2, inc ax
  TRY 0FFFEh, not ax
  TRY 1, pusha
  TRY 0BEEFh, mov ax, [gs:ebx + 8]
  TRY 1, push dword 12345678h
  TRY 11h, in al, 0E0h
  TRY 8, lea ax, [eax * 8]
  TRY 3, int 20h
  TRY 4, ud2
  TRY 5, div ch
  TRY 6, call 0:far_function
  TRY 7, call 100h:far_function_7 - 1000h
  TRY 1, rep stosb
  TRY 0, rep lodsb
  TRY 1, rep outsb
  TRY 2, db 0EBh, 0, 40h      ; a jump to the next instruction
  TRY 2, db 0E2h, 0, 40h      ; LOOP, taken or not
  TRY 1, o32 pusha
  TRY 2, call dword 0:far_function_32
; A loop of stores into the following code.
  mov dx, 300
.again:
  mov byte [.patch + 1], dl
.patch:
  mov al, 0
  cmp al, dl
  jne .stale
  dec dx
  jnz .again
  jmp .fresh
.stale:
  inc word [failures]
.fresh:
; In a segment with a base, with its own interrupts.
  jmp 200h:based - 2000h
based:
  mov ax, 7
  int 20h
  cmp ax, 3
  je .right
  inc word [cs:failures - 2000h]
.right:
  mov cx, 1000
  xor dx, dx
.count:
  inc dx
  loop .count
  cmp dx, 1000
  je .counted
  inc word [cs:failures - 2000h]
.counted:
  jmp 0:finish
finish:
  mov al, [failures]
  out 0F4h, al
  hlt

try:
  mov di, place
  mov dx, place + 32
.copy:
  mov al, [si]
  mov [di], al
  inc si
  inc di
  loop .copy
.fill:
  mov byte [di], 90h
  inc di
  cmp di, dx
  jb .fill
  mov si, bp
.print:
  lodsb
  out 0E9h, al
  cmp al, 10
  jne .print
  mov [wanted], bx
  lgdt [gdt_pointer]          ; GS gets its limit of 4 GiB again
  mov eax, cr0
  or al, 1
  mov cr0, eax
  mov cx, 10h
  mov gs, cx
  and al, ~1
  mov cr0, eax
  mov word [datum + 8], 0BEEFh
  mov byte [datum], 55h
  mov ebx, datum
  mov al, 11h
  out 0E0h, al
  mov [saved], sp
  mov eax, 1
  mov cx, 4
  mov si, datum
  mov di, datum + 16
  mov dx, 0E1h
  cld
place:
  times 32 nop
  mov sp, [saved]
  cmp ax, [wanted]
  je .right
  inc word [failures]
  mov al, '!'
  out 0E9h, al
  mov al, 10
  out 0E9h, al
.right:
  ret

on_division:
  mov ax, 5
  push bp
  mov bp, sp
  cmp word [bp + 4], 0        ; CS
  jne .wrong
  cmp word [bp + 2], place
  jne .wrong
  jmp .return
.wrong:
  mov ax, 505h
.return:
  add word [bp + 2], 2
  pop bp
  iret
on_invalid:
  mov ax, cs
  cmp ax, 400h
  mov ax, 4
  je .right
  mov ax, 404h
.right:
  push bp
  mov bp, sp
  add word [bp + 2], 2
  pop bp
  iret
on_call:
  mov ax, cs
  cmp ax, 100h
  mov ax, 3
  je .right
  mov ax, 303h
.right:
  iret
far_function:
  mov ax, 6
  retf
far_function_7:
  mov ax, 7
  retf
far_function_32:
  mov ax, 2
  o32 retf

align 8
gdt:
  dq 0, 00009B000000FFFFh, 00CF93000000FFFFh
gdt_pointer:
  dw 23
  dd gdt
idt_pointer:
  dw 3FFh
  dd 0
saved: dw 0
wanted: dw 0
failures: dw 0
file_end:

absolute 0A000h
datum: resb 400h
  resb 1000h
stack_top:
memory_end:
