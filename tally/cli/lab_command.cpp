// `tally lab`: parses the options and starts tally-lab, a separate program because it links a GPL library.
#include <fmt/format.h>

#include "programs/lab/pmu/arm_profile.hpp"
#include "programs/lab/pmu/core_profile.hpp"
#include "tally/cli/commands.hpp"
#include "tally/core/base/json_text.hpp"
#include "tally/core/base/text.hpp"
#include "tally/hardware/pmu/model.hpp"
#include "tally/linux/files/memory_file.hpp"
#include "tally/linux/process/program_file.hpp"
#include "tally/output/kit/json_document.hpp"
#include "tally/tools/command/command_page.hpp"
#include "tally/tools/command/own_provenance.hpp"

namespace tally::cli {
namespace {

struct LabOptions {
  std::string file;
  std::vector<std::string> statements;
  std::string model;
  int bits = 0;
  std::vector<std::string> breaks;
  std::string time;
  bool step = false;
  std::uint64_t max_instructions = 0;
  std::uint64_t skid = 0;
  std::string clock;
  int width = 1;
  std::string cache;
  std::vector<std::string> defines;
  bool single = false;
  bool overcount = false;
  bool trace = false;
  bool reads = false;
  bool dump = false;
  bool explain = false;
  bool quiet = false;
  bool json = false;
  bool interactive = false;
  bool barriers = false;
};

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
  tally lab examples/lab/15-3.asm
  tally lab --model skylake-v4 --trace mine.asm
  tally lab -e 'msr pmcr_el0:E; msr pmcntenset_el0, 1; mrs pmevcntr0_el0'
)";

void describe(Page& page, LabOptions& options) {
  page.head("Run bare-metal code on an emulated processor, and report what its PMU registers do.",
            "tally lab [options] FILE | -e STATEMENTS | -i");
  std::vector<std::string> names;
  for (const std::string_view name : pmu::emulated::profile_names()) names.emplace_back(name);
  page.add_option("FILE", options.file, "assembly, ELF image or flat image");
  page.add_option("-e,--execute", options.statements, "run these statements, separated by ;, instead of a file")
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
      .check(whole_number(0, 1000));
  page.add_option("--clock", options.clock,
                  "base and current frequency, such as 35/12; determines the rate of reference cycles")
      .value_name("BASE/NOW");
  page.add_option("--width", options.width, "instructions retired per cycle (default: 1)")
      .value_name("N")
      .check(whole_number(1, 16));
  page.add_option("--cache", options.cache,
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

Result<std::string> find_lab() {
  const std::string folder = linux::own_folder();
  for (const std::string& path : {folder + "/tally-lab", folder + "/" TALLY_LAB_FOLDER "/tally-lab"}) {
    if (linux::exists(path)) return path;
  }
  return fail(Code::cannot_measure, "the register lab is not installed",
              "install the package tally-lab; if you build tally yourself, install the emulator Unicorn (sudo apt-get "
              "install libunicorn-dev libzydis-dev nasm) and build again");
}

Result<std::vector<std::string>> words_for_lab(const LabOptions& options) {
  std::vector<std::string> words;
  const auto add = [&](std::string_view name, const auto& value) {
    words.push_back(fmt::format("--{}={}", name, value));
  };
  const int ways =
      (options.file.empty() ? 0 : 1) + (options.statements.empty() ? 0 : 1) + (options.interactive ? 1 : 0);
  if (ways != 1) {
    return fail(Code::bad_usage, ways == 0 ? "missing FILE, -e or -i" : "FILE, -e and -i cannot be used together",
                "tally lab FILE, or tally lab -e 'wrmsr 0x186 0x5300c0; run 100 nop; rdpmc 0'");
  }
  if (!options.file.empty()) add("file", options.file);
  if (!options.statements.empty()) {
    const std::string statements = join(options.statements, ";");
    if (trimmed(statements).find_first_not_of("; ") == std::string::npos)
      return fail(Code::bad_usage, "-e: the statements are empty", "for example: tally lab -e 'run 100 nop; rdpmc 0'");
    add("statements", statements);
  }
  if (!options.model.empty() && !pmu::emulated::profile_of(options.model) &&
      !pmu::emulated::arm_profile_of(options.model)) {
    std::vector<std::string> names;
    for (const std::string_view name : pmu::emulated::profile_names()) names.emplace_back(name);
    return fail(Code::bad_usage, fmt::format("unknown model '{}'", printable(options.model)),
                "there are " + join(names, ", "));
  }
  if (!options.model.empty()) add("model", options.model);
  add("bits", options.bits);
  add("skid", options.skid);
  add("max-instructions", options.max_instructions);
  for (const std::string& place : options.breaks) add("break", place);
  if (!options.time.empty()) {
    if (options.time.find("..") == std::string::npos) {
      return fail(Code::bad_usage, fmt::format("'{}' is not a pair of locations", printable(options.time)),
                  "for example: 18..20, or foo..done");
    }
    add("time", options.time);
  }
  if (!options.clock.empty()) {
    const auto parts = split(options.clock, '/');
    const auto base = parse_integer(parts.front());
    const auto now = parse_integer(parts.back());
    if (parts.size() != 2 || !base || !now || *base <= 0 || *now <= 0 || *base > 1'000'000 || *now > 1'000'000) {
      return fail(Code::bad_usage, fmt::format("'{}' is not a pair of frequencies", printable(options.clock)),
                  "for example: 35/12, base 3.5 GHz and running at 1.2 GHz");
    }
    add("base", *base);
    add("current", *now);
  }
  for (const std::string& one : options.defines) add("define", one);
  add("width", options.width);
  if (options.json) add("provenance", json_text(output::provenance_json(provenance())));
  if (!options.cache.empty()) {
    const auto bytes = parse_bytes(options.cache);
    if (!bytes || *bytes < 64 || *bytes > 1U << 30) {
      return fail(Code::bad_usage, fmt::format("'{}' is not a cache size", printable(options.cache)), "as 64K or 8M");
    }
    add("cache", *bytes);
  }
  const std::pair<bool, const char*> flags[] = {
      {options.overcount, "--overcount"}, {options.single, "--single"}, {options.trace, "--trace"},
      {options.reads, "--reads"},         {options.dump, "--dump"},     {options.explain, "--explain"},
      {options.quiet, "--quiet"},         {options.json, "--json"},     {options.interactive, "--interactive"},
      {options.barriers, "--barriers"},   {options.step, "--step"}};
  for (const auto& [is_set, word] : flags) {
    if (is_set) words.emplace_back(word);
  }
  return words;
}

}  // namespace

void describe_lab(Page& page) {
  static LabOptions unused;
  describe(page, unused);
}

int run_lab(const std::vector<std::string>& arguments) {
  LabOptions options;
  Page page;
  describe(page, options);
  if (const auto done = page.read(arguments)) return *done;
  const auto words = words_for_lab(options);
  if (!words) return report_error(words.error());
  const auto lab = find_lab();
  if (!lab) return report_error(lab.error());
  return report_error(linux::become(*lab, *words));
}

}  // namespace tally::cli
