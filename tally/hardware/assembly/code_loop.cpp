#include "tally/hardware/assembly/code_loop.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "tally/core/base/text.hpp"
#include "tally/linux/files/input.hpp"
#include "tally/linux/process/scratch_folder.hpp"
#include "tally/linux/process/tool.hpp"

namespace tally::assembly {
namespace {

namespace fs = std::filesystem;

// A `struct itimerval` that expires once.
std::string timer_value(Nanoseconds limit) {
  const auto microseconds = std::max<std::int64_t>(1, limit / std::chrono::microseconds(1));
  return fmt::format("        .balign 8\ntally_limit: .quad 0, 0, {}, {}\n", microseconds / 1'000'000,
                     microseconds % 1'000'000);
}

#if defined(__aarch64__)
constexpr const char* syntax = "";
// setitimer(ITIMER_REAL, tally_limit, NULL); clears the registers that it uses.
constexpr const char* start_timer =
    "        ldr x1, =tally_limit\n        mov x8, #103\n        svc #0\n        mov x0, #0\n        mov x1, #0\n"
    "        mov x8, #0\n";
// Always counts rounds in a register: a counter in memory would need a register for its address.
std::string skeleton(const Loop& loop, const std::string& body) {
  return fmt::format(
      "        .text\n        .globl _start\n_start:\n{}        ldr x27, =tally_memory\n        str x27, [x27]\n{}\n"
      "        ldr x28, ={}\n        .balign 64\ntally_round:\n{}\n        subs x28, x28, #1\n        b.eq tally_end\n"
      "        b tally_round\ntally_end:\n        mov x0, #0\n        mov x8, #93\n        svc #0\n        .ltorg\n"
      "        .data\n{}        .bss\n        .balign 4096\ntally_memory: .skip {}\n",
      loop.limit ? start_timer : "", loop.init, loop.rounds, body, loop.limit ? timer_value(*loop.limit) : "",
      loop.memory_bytes);
}
#else
constexpr const char* syntax = "        .intel_syntax noprefix\n";
// setitimer(ITIMER_REAL, tally_limit, NULL); clears the registers that it uses and keeps the flags.
constexpr const char* start_timer =
    "        lea rsi, [rip + tally_limit]\n        mov eax, 38\n        syscall\n        mov eax, 0\n"
    "        mov ecx, 0\n        mov esi, 0\n        mov r11d, 0\n";
// Counts rounds in memory by default, so that the code can use all registers. A round must take longer than the
// counter's chain of loads and stores, about six cycles.
std::string skeleton(const Loop& loop, const std::string& body) {
  const std::string begin = loop.register_counts
                                ? fmt::format("        movabs r15, {}\n        .balign 64\n", loop.rounds)
                                : "        .balign 64\n";
  const char* const counter = loop.register_counts ? "r15" : "qword ptr [rip + tally_rounds]";
  return fmt::format(
      "{}        .text\n        .globl _start\n_start:\n{}        lea r14, [rip + tally_memory]\n        mov [r14], "
      "r14\n{}\n{}"
      "{}tally_round:\n{}\n{}        dec {}\n        jnz tally_round\n"
      "        xor edi, edi\n        mov eax, 60\n        syscall\n"
      "        .data\n        .balign 64\ntally_rounds: .quad {}\n        .skip 56\n{}"
      "        .bss\n        .balign 4096\ntally_memory: .skip {}\n",
      syntax, loop.limit ? start_timer : "", loop.init, syntax, begin, body, syntax, counter, loop.rounds,
      loop.limit ? timer_value(*loop.limit) : "", loop.memory_bytes);
}
#endif

Error not_here(Error error, std::string_view tool) {
  if (error.code != Code::not_found) return error;
  return {Code::not_found, fmt::format("assembly needs the program {}, which is not installed", tool),
          "install it: sudo apt-get install binutils", 0};
}

// Rewrites "x.s:3: Error: no such instruction: `foo'" to a message about line 3 of the user's code.
std::string assembler_errors(const std::string& output, const std::string& text, std::string_view origin) {
  const std::vector<std::string> lines = split(text, '\n');
  std::vector<std::string> parts;
  for (const std::string& row : split(output, '\n')) {
    const std::size_t error = row.find(": Error: ");
    if (error == std::string::npos) continue;
    const std::size_t colon = row.rfind(':', error - 1);
    const auto number =
        colon == std::string::npos ? std::nullopt : parse_integer(row.substr(colon + 1, error - colon - 1));
    const std::string what = row.substr(error + 9);
    const bool known = number && *number >= 1 && static_cast<std::size_t>(*number) <= lines.size() && lines.size() > 1;
    parts.push_back(known ? fmt::format("line {}, {}: {}", *number,
                                        printable(trimmed(lines[static_cast<std::size_t>(*number) - 1])), what)
                          : what);
    if (parts.size() == 5) break;
  }
  if (parts.empty()) parts.push_back(printable(trimmed(output)));
  return fmt::format("{} cannot be assembled: {}", origin, join(parts, "\n       "));
}

Result<void> assemble(const std::string& text, const std::string& object, const std::string& users,
                      std::string_view origin) {
  const std::string source = object + ".s";
  if (auto written = linux::write_scratch_file(source, text); !written) return written;
  const auto end = linux::run_tool({"as", "-o", object, source});
  if (!end) return fail(not_here(end.error(), "as"));
  if (end->exit_code == 0) return {};
  return fail(Code::bad_usage, assembler_errors(end->output, users, origin),
              *syntax ? "write Intel syntax for GNU as: mov rax, qword ptr [r14 + 8]; separate instructions with `;`"
                      : "write instructions for GNU as, and separate them with `;`");
}

// Returns the first statement with a register in AT&T syntax, such as "mov %eax, %ebx". GNU as accepts it in Intel
// mode, and reads its operands in Intel's order. Empty if there is none.
std::string att_statement(const std::string& text) {
  if (*syntax == '\0' || text.find(".att_syntax") != std::string::npos) return {};
  for (const std::string& line : split(text, '\n')) {
    for (const std::string& statement : split(line.substr(0, line.find('#')), ';')) {
      const std::size_t percent = statement.find('%');
      if (percent == std::string::npos || statement.find('"') < percent) continue;
      if (percent + 1 < statement.size() && std::isalpha(static_cast<unsigned char>(statement[percent + 1])) != 0)
        return trimmed(statement);
    }
  }
  return {};
}

Result<void> run(const std::vector<std::string>& command) {
  const auto end = linux::run_tool(command);
  if (!end) return fail(not_here(end.error(), command.front()));
  if (end->exit_code == 0) return {};
  return fail(Code::bad_usage, fmt::format("{} failed: {}", command.front(), printable(trimmed(end->output))));
}

}  // namespace

Nanoseconds usual_limit(std::uint64_t executed_copies) {
  constexpr std::uint64_t copies_per_minute = 400'000;  // 150 µs each: instructions that trap to a hypervisor take 70
  const std::uint64_t minutes = std::max<std::uint64_t>(1, executed_copies / copies_per_minute);
  return std::chrono::minutes(std::min<std::uint64_t>(minutes, 1'000'000));
}

std::string why_not_repeated(std::string_view code) {
  for (const std::string& line : split(std::string(code), '\n')) {
    for (const std::string& statement : split(line, ';')) {
      const std::string text = trimmed(statement);
      const std::size_t colon = text.find(':');
      if (colon == std::string::npos || colon == 0) continue;
      const std::string label = text.substr(0, colon);
      bool name = std::isdigit(static_cast<unsigned char>(label[0])) == 0;
      for (const char c : label) name = name && (std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.');
      if (name) return fmt::format("each copy of the code would define the label '{}' again", printable(label));
    }
  }
  return {};
}

Result<std::string> code_of(const std::string& text_or_file) {
  if (!text_or_file.ends_with(".s") && !text_or_file.ends_with(".S")) return text_or_file;
  auto text = linux::read_file(text_or_file);
  if (text) return text;
  return fail(Code::bad_usage, text.error().message, "code is an assembly file that ends in .s, or instructions");
}

Result<std::string> machine_code(const std::string& text, std::string_view origin) {
  if (const std::string statement = att_statement(text); !statement.empty()) {
    return fail(Code::bad_usage,
                fmt::format("{} cannot be assembled: '{}' is AT&T syntax", origin, printable(statement)),
                "write Intel syntax: destination first, and no %; or start the code with `.att_syntax;`");
  }
  const auto folder = linux::ScratchFolder::make();
  if (!folder) return fail(folder.error());
  const std::string object = folder->path() + "/code";
  // The directive is in the user's first line, so that the assembler's line numbers are those of the user's code.
  const std::string head = *syntax ? ".intel_syntax noprefix; " : "";
  if (const auto done = assemble(head + text + "\n", object, text, origin); !done) return fail(done.error());
  const std::string bytes = object + ".bin";
  if (const auto done = run({"objcopy", "-O", "binary", "-j", ".text", object, bytes}); !done) {
    return fail(done.error());
  }
  return linux::read_file(bytes);
}

Result<std::string> make_program(const Loop& loop, const std::string& folder, const std::string& name) {
  std::string body;
  body += fmt::format("        .rept {}\n", loop.copies / loop.texts.size());
  for (const std::string& text : loop.texts) body += text + "\n";
  body += "        .endr";
  const std::string object = folder + "/" + name + ".o";
  const std::string program = folder + "/" + name;
  const auto assembled = assemble(skeleton(loop, body), object, "", "the code");
  if (!assembled) return fail(assembled.error());
  if (const auto linked = run({"ld", "-static", "-nostdlib", "-o", program, object}); !linked) {
    return fail(linked.error());
  }
  std::error_code ignored;
  fs::remove(object, ignored);
  fs::remove(object + ".s", ignored);
  return program;
}

}  // namespace tally::assembly
