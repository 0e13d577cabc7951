#include "programs/lab/lab_arguments.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "programs/lab/pmu/arm_profile.hpp"
#include "programs/lab/pmu/core_profile.hpp"
#include "tally/core/base/text.hpp"
#include "tally/linux/files/files.hpp"
#include "tally/linux/files/memory_file.hpp"
#include "tally/tools/command/command_page.hpp"

namespace tally::lab {
namespace {

constexpr const char* lab_footer =
    R"(The program runs at CPL 0 on an emulated processor whose performance monitoring registers behave as the manuals
describe. tally explains each write to such a register and what is wrong with it, and reports the exact location of each
overflow and interrupt.

FILE is NASM assembly (.asm, .s, .nasm), an ELF image, or a flat image. It is 32-bit unless it says `bits 16` or
`bits 64`. For Arm cores, see below, it is GNU assembly.
Register names are predefined (IA32_PERFEVTSEL0, APIC_BASE, LVT_PERFMON, ...). `%include "lab.inc"` defines helpers:

  puts                    print the text at ESI
  dump_pmc, dump_perfmon  print the counters, or all registers
  dump_counter            print counter number EAX
  set_interrupt_handler   handle vector ESI at EDI
  write_counter_maximum   write the largest value to counter register ESI
  RESET_COUNTER_OVERFLOW  clear all overflows; RESET_OVERFLOW N clears one
  STORE_CONTEXT, RESTORE_CONTEXT, ENTER_USER LABEL, EXIT N
  WRITE_MSR REGISTER, VALUE

For Arm cores (--model armv8-pmuv3, apple-m1) FILE is GNU assembly; `.arch armv8-a` in the file selects an Arm core.
`.include "lab.inc"` defines puts, put_hex, put_number (X0), dump_pmu, dump_counter, set_interrupt_handler (X0),
CLEAR_OVERFLOWS, CLEAR_INTERRUPT (Apple), WRITE_REGISTER REGISTER, VALUE, ENTER_USER LABEL, STORE_CONTEXT,
RESTORE_CONTEXT, EXIT N. The counters raise the core's IRQ (Apple: FIQ); there is no interrupt controller. A serial port
(PL011) is at 9000000H, the exit register at 9100000H; WFI without a pending event ends the program.

ELF images with a multiboot header, such as x86/pmu.elf of kvm-unit-tests, start in 32-bit mode with 128 MiB and can
switch to 64-bit mode. Page tables, x2APIC and QEMU's fw_cfg ports are supported.

Memory is 0 to FFFFFFH, the program is at 100000H, the stack below 80000H, the local APIC at FEE00000H, and a serial
port at 3F8H. HLT and RET end the program. A write to the exit port F4H also ends it, with that value as exit code.

Statements of -e, for Arm: msr REGISTER, VALUE, msr REGISTER:FIELD=N,FIELD, mrs REGISTER. For x86: wrmsr REGISTER VALUE,
wrmsr REGISTER:FIELD=N,FIELD, rdmsr REGISTER, rdpmc N, rdpmc fixed N. For both: run N INSTRUCTION, user (enters CPL 3 or
EL0), and any instruction. tally reports what each statement added to the counters, including its own instructions, as
on a real processor.

All counts are emulated: instructions and branches are exact; cycles, caches and branch prediction follow a simple
model. No register of this machine is read or written.

Exit code: that of the program, 0 if it ended without one; 1 the program did not end; 2 bad usage, or assembler errors.

Examples:
  tally lab -e 'wrmsr 0x186 0x5300c0; wrmsr 0x38f 1; run 100 nop; rdpmc 0'
  tally lab --dump -e 'wrmsr IA32_PERFEVTSEL0:event=0xc4,USR,EN; user'
  tally lab examples/lab/15-3.asm                 an installed example
  tally lab --model skylake-v4 --trace mine.asm
  tally lab -e 'msr pmcr_el0:E; msr pmcntenset_el0, 1; mrs pmevcntr0_el0'
)";

// Returns the file, or the example with this name of the installed documents or of the source tree if it is missing.
std::string file_or_example(const std::string& file) {
  const std::filesystem::path path = file;
  if (linux::exists(file) || (path.has_parent_path() && path.parent_path() != "examples/lab")) return file;
  for (const char* const folder : {"/" TALLY_EXAMPLES_FOLDER "/lab/", "/../../examples/lab/"})
    if (const std::string example = linux::own_folder() + folder + path.filename().string(); linux::exists(example))
      return std::filesystem::path(example).lexically_normal().string();
  return file;
}

// Checks that exactly one of FILE, -e and -i was given.
Result<void> check_program(const Arguments& arguments) {
  const Options& options = arguments.options;
  const int ways =
      (options.file.empty() ? 0 : 1) + (arguments.statements.empty() ? 0 : 1) + (options.interactive ? 1 : 0);
  if (ways != 1) {
    return fail(Code::bad_usage, ways == 0 ? "missing FILE, -e or -i" : "FILE, -e and -i cannot be used together",
                "tally lab FILE, or tally lab -e 'wrmsr 0x186 0x5300c0; run 100 nop; rdpmc 0'");
  }
  const bool shows_instructions = options.trace || options.step || !options.time.empty() || !options.breaks.empty();
  if (options.file.empty() && shows_instructions)
    return fail(Code::bad_usage, "--trace, --step, --time and --break need FILE: statements print what they do",
                "put the instructions into a file, such as mine.asm");
  return {};
}

Result<void> check_model(const std::string& model) {
  if (model.empty() || pmu::emulated::profile_of(model) || pmu::emulated::arm_profile_of(model)) return {};
  std::vector<std::string> names;
  for (const std::string_view name : pmu::emulated::profile_names()) names.emplace_back(name);
  return fail(Code::bad_usage, fmt::format("unknown model '{}'", printable(model)), "there are " + join(names, ", "));
}

Result<void> set_clock(const std::string& clock, Options& options) {
  const auto parts = split(clock, '/');
  const auto base = parse_integer(parts.front());
  const auto now = parse_integer(parts.back());
  if (parts.size() != 2 || !base || !now || *base <= 0 || *now <= 0 || *base > 1'000'000 || *now > 1'000'000) {
    return fail(Code::bad_usage, fmt::format("'{}' is not a pair of frequencies", printable(clock)),
                "for example: 35/12, base 3.5 GHz and running at 1.2 GHz");
  }
  options.base = static_cast<std::uint64_t>(*base);
  options.current = static_cast<std::uint64_t>(*now);
  return {};
}

}  // namespace

void describe(command::Page& page, Arguments& arguments) {
  Options& options = arguments.options;
  page.head("Run bare-metal code on an emulated processor, and report what its PMU registers do.",
            "tally lab [options] FILE | -e STATEMENTS | -i");
  std::vector<std::string> names;
  for (const std::string_view name : pmu::emulated::profile_names()) names.emplace_back(name);
  page.add_option("FILE", options.file, "assembly, ELF image or flat image");
  page.add_option("-e,--execute", arguments.statements, "run these statements, separated by ;, instead of a file")
      .value_name("STATEMENTS")
      .one_value();
  page.add_flag("-i,--interactive", options.interactive, "read statements from a prompt, with history and completion");
  page.add_option(
          "--model", options.model,
          fmt::format("emulated processor: {} (default: the first; for Arm programs armv8-pmuv3)", join(names, ", ")))
      .value_name("NAME");
  page.add_option("--bits", options.bits, "start in 16, 32 or 64-bit mode").value_name("N").one_of({"16", "32", "64"});
  page.add_flag("--trace", options.trace, "print each instruction, with the counter values before it");
  page.add_option("--break", options.breaks,
                  "print registers and counters whenever execution reaches this line, label or address")
      .value_name("LOCATION")
      .one_value();
  page.add_flag("--step", options.step, "like --trace, with the general registers that each instruction changed");
  page.add_option("--time", options.time,
                  "report instructions, cycles and time stamps between two lines, labels or addresses, each time")
      .value_name("FROM..TO");
  page.add_flag("--reads", options.reads, "also report each RDMSR of a PMU register");
  page.add_flag("--dump", options.dump, "draw all PMU registers at the end");
  page.add_flag("--explain", options.explain, "print notes about values as well as warnings");
  page.add_flag("-q,--quiet", options.quiet, "print only the output of the program");
  page.add_flag("--json", options.json, "print JSON");
  page.add_option("--max-instructions", options.max_instructions,
                  "stop the program after N instructions (default: 100,000,000; for multiboot programs 10,000,000,000)")
      .value_name("N");
  page.add_option("--skid", options.skid, "instructions between an overflow and its interrupt (default: 0)")
      .value_name("N")
      .check(command::whole_number(0, 1000));
  page.add_option("--clock", arguments.clock,
                  "base and current frequency, such as 35/12; determines the rate of reference cycles")
      .value_name("BASE/NOW");
  page.add_option("--width", options.width, "instructions retired per cycle (default: 1)")
      .value_name("N")
      .check(command::whole_number(1, 16));
  page.add_option("--cache", arguments.cache,
                  "size of the cache that counts references and misses (default: 8M; for multiboot programs 32M)")
      .value_name("SIZE");
  page.add_option("-D,--define", options.defines, "define NAME for the assembler").value_name("NAME=VALUE").one_value();
  page.add_flag("--single", options.single,
                "execute instruction by instruction instead of in blocks: slower, same counts");
  page.add_flag("--barriers", options.barriers,
                "apple-m1: control registers take effect at the next ISB, and read as garbage before");
  page.add_flag("--overcount", options.overcount,
                "count the end of each return to user mode there as one instruction and branch, as many processors do");
  page.footer(lab_footer);
}

Result<Options> check(Arguments arguments) {
  Options& options = arguments.options;
  if (!options.file.empty()) options.file = file_or_example(options.file);
  if (auto is_one = check_program(arguments); !is_one) return fail(is_one.error());
  options.statements = join(arguments.statements, ";");
  if (!arguments.statements.empty() && trimmed(options.statements).find_first_not_of("; ") == std::string::npos)
    return fail(Code::bad_usage, "-e: the statements are empty", "for example: tally lab -e 'run 100 nop; rdpmc 0'");
  if (auto known = check_model(options.model); !known) return fail(known.error());
  if (!options.time.empty() && options.time.find("..") == std::string::npos) {
    return fail(Code::bad_usage, fmt::format("'{}' is not a pair of locations", printable(options.time)),
                "for example: 18..20, or foo..done");
  }
  if (!arguments.clock.empty()) {
    if (auto set = set_clock(arguments.clock, options); !set) return fail(set.error());
  }
  if (!arguments.cache.empty()) {
    const auto bytes = parse_bytes(arguments.cache);
    if (!bytes || *bytes < 64 || *bytes > 1U << 30) {
      return fail(Code::bad_usage, fmt::format("'{}' is not a cache size", printable(arguments.cache)), "as 64K or 8M");
    }
    options.cache = *bytes;
  }
  return std::move(options);
}

}  // namespace tally::lab
