// `tally lab`: reads the options and starts tally-lab, which is a program of its own because of the GPL library in it.
#include <fmt/format.h>

#include "tally/cli/command.hpp"
#include "tally/cli/page.hpp"
#include "tally/core/base/text.hpp"
#include "tally/hardware/pmu/emulated/arm_profile.hpp"
#include "tally/hardware/pmu/emulated/profile.hpp"
#include "tally/hardware/pmu/model.hpp"
#include "tally/linux/files/memory_file.hpp"
#include "tally/linux/process/program.hpp"

namespace tally::cli {
namespace {

struct Options {
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

constexpr const char* footer =
    R"(A program runs at CPL 0 on an emulated processor whose performance monitoring registers do what the manuals say. Each
write of one is told with its meaning and with what is wrong with it, each overflow and interrupt with its exact place.

FILE is assembly (.asm, .s, .nasm), an ELF image, or a flat image. It is 32-bit unless it says `bits 16` or `bits 64`.
Names of registers are known (IA32_PERFEVTSEL0, APIC_BASE, LVT_PERFMON, ...); `%include "lab.inc"` brings helpers:

  puts                    prints the text at ESI
  dump_pmc, dump_perfmon  print the counters, or all registers
  dump_counter            prints one counter: its number in EAX
  set_interrupt_handler   vector ESI is handled at EDI
  write_counter_maximum   the largest value into the counter whose register is ESI
  RESET_COUNTER_OVERFLOW  clears all overflows; RESET_OVERFLOW N that of one
  STORE_CONTEXT, RESTORE_CONTEXT, ENTER_USER LABEL, WRITE_MSR REGISTER, VALUE, EXIT N

With an Arm core (--model armv8-pmuv3, apple-m1) FILE is for GNU's assembler; one that says `.arch armv8-a` takes such a
core by itself. `.include "lab.inc"` brings puts, put_hex, put_number (X0), dump_pmu, dump_counter,
set_interrupt_handler (X0), CLEAR_OVERFLOWS, CLEAR_INTERRUPT (Apple), WRITE_REGISTER REGISTER, VALUE, ENTER_USER LABEL,
STORE_CONTEXT, RESTORE_CONTEXT, EXIT N. The counters' line is the core's IRQ (Apple: FIQ); there is no interrupt
controller. A serial port (PL011) is at 9000000H, the end at 9100000H; WFI with nothing to wait for ends the program.

An ELF image with a multiboot header, as x86/pmu.elf of kvm-unit-tests, starts in 32 bits with 128 MiB and may go on to
64: page tables, x2APIC, QEMU's fw_cfg ports.

Memory is 0 to FFFFFFH, the program at 100000H, the stack below 80000H; the local APIC is at FEE00000H, a serial port at
3F8H. HLT ends the program, and so do RET and a write of the exit port F4H, whose value becomes the exit code.

-e takes statements in place of a file. For Arm: msr REGISTER, VALUE, msr REGISTER:FIELD=N,FIELD, mrs REGISTER. For
x86: wrmsr REGISTER VALUE, wrmsr REGISTER:FIELD=N,FIELD, rdmsr REGISTER, rdpmc N, rdpmc fixed N. For both: run N INSTRUCTION,
user (goes to CPL 3, or EL0), and any instruction, with ; between them. Each is told with what it added to the counters:
its own instructions too, as on a real processor.

All counts are emulated: instructions and branches are exact, cycles, caches and predictions come from a simple declared
model. Nothing is read from or written to a register of this machine.

Exit code: 0 the program ended; 1 it did not, and why is said; 2 bad usage, or the assembler's errors; what the program
wrote to the exit port.

Examples:
  tally lab -e 'wrmsr 0x186 0x5300c0; wrmsr 0x38f 1; run 100 nop; rdpmc 0'
  tally lab --dump -e 'wrmsr IA32_PERFEVTSEL0:event=0xc4,USR,EN; user; run 5 jmp $+2'
  tally lab examples/lab/15-3.asm
  tally lab --model skylake-v4 --trace mine.asm
  tally lab -e 'msr pmcr_el0:E,P,C; msr pmevtyper0_el0, 8; msr pmcntenset_el0, 1; run 100 nop; mrs pmevcntr0_el0'
)";

void describe(Page& page, Options& options) {
  page.head("Runs bare-metal code against an emulated PMU, register by register.",
            "tally lab [options] FILE | -e STATEMENTS | -i");
  std::vector<std::string> names;
  for (const std::string_view name : pmu::emulated::profile_names()) names.emplace_back(name);
  page.add_option("FILE", options.file, "the program: assembly, ELF or flat image");
  page.add_option("-e,--execute", options.statements, "statements in place of a file, with ; between them")
      .value_name("STATEMENTS")
      .one_value();
  page.add_flag("-i,--interactive", options.interactive, "a prompt for statements, with history and completion");
  page.add_option(
          "--model", options.model,
          fmt::format("the processor: {} (else the first; for a program of Arm's armv8-pmuv3)", join(names, ", ")))
      .value_name("NAME");
  page.add_option("--bits", options.bits, "16, 32 or 64: the mode it starts in")
      .value_name("N")
      .one_of({"16", "32", "64"});
  page.add_flag("--trace", options.trace, "each instruction, with what the counters hold before it");
  page.add_option("--break", options.breaks,
                  "registers and counters whenever the program stands at this line, label or address")
      .value_name("PLACE")
      .one_value();
  page.add_flag("--step", options.step, "as --trace, with the general registers that each instruction changed");
  page.add_option(
          "--time", options.time,
          "instructions, cycles and time stamps from one line, label or address to another, whenever both are passed")
      .value_name("FROM..TO");
  page.add_flag("--reads", options.reads, "tells each RDMSR of the PMU's registers as well");
  page.add_flag("--dump", options.dump, "draws all registers of the PMU at the end, bit by bit");
  page.add_flag("--explain", options.explain, "notes about values, beside cautions");
  page.add_flag("-q,--quiet", options.quiet, "only what the program prints");
  page.add_flag("--json", options.json, "for programs");
  page.add_option("--max-instructions", options.max_instructions,
                  "ends a program that goes on longer (else 100,000,000; a multiboot program 10,000,000,000)")
      .value_name("N");
  page.add_option("--skid", options.skid, "instructions between an overflow and its interrupt (else 0)")
      .value_name("N")
      .check(whole_number(0, 1000));
  page.add_option("--clock", options.clock, "base and current frequency, as 35/12: reference cycles go by their ratio")
      .value_name("BASE/NOW");
  page.add_option("--width", options.width, "instructions that retire in a cycle, multiplications in a chain (else 1)")
      .value_name("N")
      .check(whole_number(1, 16));
  page.add_option("--cache", options.cache,
                  "size of the line tags that references and misses come from (else 8M; 32M for a multiboot program)")
      .value_name("SIZE");
  page.add_option("-D,--define", options.defines, "for the assembler, as its own -D")
      .value_name("NAME=VALUE")
      .one_value();
  page.add_flag("--single", options.single, "never runs whole blocks at once: slower, and the same counts");
  page.add_flag("--barriers", options.barriers,
                "apple-m1: control registers take effect at an ISB, and read as rubbish before it");
  page.add_flag("--overcount", options.overcount, "an interrupt counts as an instruction, as by erratum HSD11");
  page.footer(footer);
}

Result<std::string> find_lab() {
  const std::string folder = linux::own_folder();
  for (const std::string& path : {folder + "/tally-lab", folder + "/" TALLY_LAB_FOLDER "/tally-lab"}) {
    if (linux::exists(path)) return path;
  }
  return fail(Code::cannot_measure, "the register lab is not built: no 'tally-lab' beside tally",
              "it needs the emulator Unicorn: sudo apt-get install libunicorn-dev libzydis-dev nasm, then build again");
}

Result<std::vector<std::string>> words_for_lab(const Options& options) {
  std::vector<std::string> words;
  const auto add = [&](std::string_view name, const auto& value) {
    words.push_back(fmt::format("--{}={}", name, value));
  };
  const int ways =
      (options.file.empty() ? 0 : 1) + (options.statements.empty() ? 0 : 1) + (options.interactive ? 1 : 0);
  if (ways != 1) {
    return fail(Code::bad_usage, ways == 0 ? "there is nothing to run" : "only one of FILE, -e and -i",
                "tally lab FILE, or tally lab -e 'wrmsr 0x186 0x5300c0; run 100 nop; rdpmc 0'");
  }
  if (!options.file.empty()) add("file", options.file);
  if (!options.statements.empty()) {
    const std::string statements = join(options.statements, ";");
    if (trimmed(statements).find_first_not_of("; ") == std::string::npos)
      return fail(Code::bad_usage, "-e has no statements: what it is given is empty",
                  "for example: tally lab -e 'run 100 nop; rdpmc 0'");
    add("statements", statements);
  }
  if (!options.model.empty() && !pmu::emulated::profile_of(options.model) &&
      !pmu::emulated::arm_profile_of(options.model)) {
    std::vector<std::string> names;
    for (const std::string_view name : pmu::emulated::profile_names()) names.emplace_back(name);
    return fail(Code::bad_usage, fmt::format("there is no model '{}'", printable(options.model)),
                "there are " + join(names, ", "));
  }
  if (!options.model.empty()) add("model", options.model);
  add("bits", options.bits);
  add("skid", options.skid);
  add("max-instructions", options.max_instructions);
  for (const std::string& place : options.breaks) add("break", place);
  if (!options.time.empty()) {
    if (options.time.find("..") == std::string::npos) {
      return fail(Code::bad_usage, fmt::format("'{}' is no pair of places", printable(options.time)),
                  "as 18..20, or foo..done");
    }
    add("time", options.time);
  }
  if (!options.clock.empty()) {
    const auto parts = split(options.clock, '/');
    const auto base = parse_integer(parts.front());
    const auto now = parse_integer(parts.back());
    if (parts.size() != 2 || !base || !now || *base <= 0 || *now <= 0 || *base > 1'000'000 || *now > 1'000'000) {
      return fail(Code::bad_usage, fmt::format("'{}' is no pair of frequencies", printable(options.clock)),
                  "as 35/12: base 3.5 GHz, running at 1.2 GHz");
    }
    add("base", *base);
    add("current", *now);
  }
  for (const std::string& one : options.defines) add("define", one);
  add("width", options.width);
  if (!options.cache.empty()) {
    const auto bytes = parse_bytes(options.cache);
    if (!bytes || *bytes < 64 || *bytes > 1U << 30) {
      return fail(Code::bad_usage, fmt::format("'{}' is no size of a cache", printable(options.cache)), "as 64K or 8M");
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
  static Options unused;
  describe(page, unused);
}

int run_lab(const std::vector<std::string>& arguments) {
  Options options;
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
