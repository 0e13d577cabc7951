// tally-register: the options of `tally register`, and its output.
#include <fmt/format.h>

#include <utility>

#include "programs/linux/msr.hpp"
#include "programs/register/pmu/spec.hpp"
#include "programs/register/register_text.hpp"
#include "tally/core/base/text.hpp"
#include "tally/linux/machine/execute_cpuid.hpp"
#include "tally/tools/command/command.hpp"
#include "tally/tools/command/command_page.hpp"
#include "tally/tools/command/own_provenance.hpp"
#include "tally/tools/command/program_main.hpp"

namespace tally::registers {
namespace {

using namespace command;

struct RegisterOptions {
  std::vector<std::string> requests;
  std::string model;
  std::string version;
  bool list = false;
  bool json = false;
  bool ascii = false;
  bool value_only = false;
  bool reference = false;
  std::optional<int> processor;
  std::string root = "/";
};

constexpr const char* text =
    "Each REQUEST names a register by name or number:\n"
    "\n"
    "  REGISTER                    print its layout\n"
    "  REGISTER=VALUE              decode a value\n"
    "  REGISTER:FIELD=N,FIELD,...  encode fields; FIELD alone sets it to 1\n"
    "  REGISTER=VALUE:FIELD=N,...  change fields of a value\n"
    "  CPUID.0AH                   decode a CPUID leaf of this machine\n"
    "  CPUID.0AH=EAX,EBX,ECX,EDX   decode a CPUID leaf of another machine\n"
    "\n"
    "Numbers are written as 0x38D, 38DH or 909, with _ between digits if you like. -1000 is the counter value that "
    "overflows after 1000 events. Fields have the names that layouts show, EN7..0=0xff sets a range of them. Case is "
    "ignored, and so are the prefix IA32_ and the suffix _EL0. tally writes no register, and reads only CPUID unless "
    "you use --cpu, which needs root and the msr driver (modprobe msr).\n"
    "\n"
    "Examples:\n"
    "  tally register 0x38D=0x22A\n"
    "  tally register PMCR0_EL1=0x3003400ff4ff\n"
    "  tally register 'IA32_PERFEVTSEL0:event=0xc4,usr,en'\n"
    "  tally register --list cpuid\n"
    "  sudo tally register 0x38D --cpu 0\n";

void describe(Page& page, RegisterOptions& options) {
  page.head("Decode, encode, draw and check values of PMU registers.", "tally register [options] REQUEST...");
  page.add_option("REQUEST", options.requests, "registers and values, see below");
  page.add_flag("--list", options.list,
                "list registers: all, those of --model, or those whose name, address or description contains REQUEST "
                "or matches it as a pattern with * and ?");
  page.add_option("--model", options.model, "use only registers of intel, amd, x86, arm or apple").value_name("NAME");
  page.add_option("--version", options.version, "show the fields of this PMU version (default: all versions)")
      .value_name("VERSION");
  page.add_option("--cpu", options.processor, "x86 only: read the register on this CPU and decode its value")
      .value_name("CPU")
      .check(whole_number(0, 65535));
  page.add_option("--root", options.root, "the directory that contains dev/").value_name("FOLDER").hidden();
  page.add_flag("--value", options.value_only, "print only the value, in hexadecimal");
  page.add_flag("--json", options.json, "for programs");
  page.add_flag("--ascii", options.ascii, "draw with + - | only");
  page.add_flag("--reference", options.reference, "print all tables in Markdown").hidden();
  page.footer(text);
}

Result<pmu::Choice> choice_of(const RegisterOptions& options) {
  pmu::Choice choice;
  if (options.model.empty()) return choice;
  choice.model = pmu::model_of(options.model);
  if (choice.model) return choice;
  std::vector<std::string> names;
  for (const pmu::Model* model : pmu::models()) names.emplace_back(model->name);
  return fail(Code::bad_usage, fmt::format("unknown model '{}'", printable(options.model)),
              "the models are: " + join(names, ", "));
}

// Parses a request. --version is checked against the register's model, which is known only after parsing.
Result<pmu::Request> request_of(const std::string& word, const RegisterOptions& options, pmu::Choice choice) {
  if (options.version.empty()) return pmu::parse_request(word, choice);
  const auto place = pmu::register_named(word, choice);
  if (!place) return fail(place.error());
  const auto version = pmu::version_of(*place->model, options.version);
  if (!version) return fail(version.error());
  choice.version = *version;
  return pmu::parse_request(word, choice);
}

Result<pmu::Request> with_this_machine(pmu::Request request) {
  const auto leaf = static_cast<std::uint32_t>(*request.leaf >> 32);
  const auto subleaf = static_cast<std::uint32_t>(*request.leaf >> 8 & 0xFFFFFF);
  const auto highest = linux::cpuid(leaf & 0x8000'0000);
  const auto outputs = linux::cpuid(leaf, subleaf);
  if (!highest || !outputs) {
    return fail(Code::cannot_measure, "this processor has no CPUID instruction", "add the values of another machine");
  }
  if (leaf > highest->eax) {
    return fail(Code::cannot_measure,
                fmt::format("this processor has no CPUID leaf {:#x}; the highest is {:#x}", leaf, highest->eax),
                "add the values of another machine: =EAX,EBX,ECX,EDX");
  }
  return pmu::with_leaf(std::move(request), {outputs->eax, outputs->ebx, outputs->ecx, outputs->edx});
}

// Replaces the value by the register's value on a CPU of this machine.
Result<pmu::Request> with_live_value(pmu::Request request, const RegisterOptions& options) {
  for (pmu::Value& value : request.values) {
    const pmu::Register& reg = *value.place.reg;
    if (reg.space != pmu::Space::msr || request.leaf) {
      return fail(
          Code::bad_usage,
          fmt::format("--cpu reads only model-specific registers (MSR), but this is {}", pmu::address(value.place)),
          "`tally register --list --model intel` lists some");
    }
    const std::uint64_t number =
        reg.number + static_cast<std::uint64_t>(value.place.index) * static_cast<std::uint64_t>(reg.stride);
    const auto held = linux::read_msr(*options.processor, static_cast<std::uint32_t>(number), options.root);
    if (!held) return fail(held.error());
    value.bits = *held;
  }
  request.has_value = true;
  return request;
}

int list(const RegisterOptions& options, const pmu::Choice& choice) {
  std::vector<std::string> patterns = options.requests;
  if (patterns.empty()) patterns.emplace_back();
  std::vector<pmu::RegisterInstance> places;
  for (const std::string& pattern : patterns) {
    const auto some = pmu::matching(pattern, choice.model);
    if (some.empty()) {
      return report_error({Code::bad_usage, fmt::format("no register matches '{}'", printable(pattern)),
                           "`tally register --list` lists all registers", 0});
    }
    places.insert(places.end(), some.begin(), some.end());
  }
  if (!options.json) return print(register_list(places));
  std::vector<ShownRegister> shown;
  for (const pmu::RegisterInstance& place : places) shown.push_back({{place, 0, std::nullopt}, false});
  return print(register_json(shown, provenance()));
}

std::string answer(const std::vector<ShownRegister>& shown, const RegisterOptions& options) {
  const auto lines = options.ascii ? pmu::Lines::ascii : pmu::Lines::unicode;
  std::string all;
  for (const ShownRegister& one : shown) {
    if (!all.empty() && !options.value_only) all += "\n";
    all += options.value_only ? fmt::format("{:#x}\n", one.value.bits) : register_text(one, lines);
  }
  return all;
}

void describe_register(Page& page) {
  static RegisterOptions unused;
  describe(page, unused);
}

int run_register(const std::vector<std::string>& arguments) {
  RegisterOptions options;
  Page page;
  describe(page, options);
  if (const auto code = page.read(arguments)) return *code;
  if (options.reference) return print(register_reference());

  const auto choice = choice_of(options);
  if (!choice) return report_error(choice.error());
  if (options.list) return list(options, *choice);
  if (options.requests.empty()) {
    return report_error({Code::bad_usage, "missing REQUEST",
                         "for example: tally register 0x38D=0x22A; `tally register --list` lists all registers", 0});
  }

  std::vector<ShownRegister> shown;
  for (const std::string& word : options.requests) {
    auto request = request_of(word, options, *choice);
    if (request && request->leaf && !request->has_value && !options.processor)
      request = with_this_machine(std::move(*request));
    if (request && options.processor && request->has_value) {
      return report_error({Code::bad_usage, fmt::format("'{}' already has a value", printable(word)),
                           "omit the value: --cpu reads it", 0});
    }
    if (request && options.processor) request = with_live_value(std::move(*request), options);
    if (!request) return report_error(request.error());
    if (options.value_only && !request->has_value) {
      return report_error({Code::bad_usage, fmt::format("'{}' has no value to print", printable(word)),
                           "--value needs REGISTER=VALUE or REGISTER:FIELD,...", 0});
    }
    for (const pmu::Value& value : request->values) shown.push_back({value, request->has_value});
  }
  return print(options.json ? register_json(shown, provenance()) : answer(shown, options));
}

}  // namespace
}  // namespace tally::registers

int main(int argc, char** argv) {
  using namespace tally::registers;
  constexpr tally::command::Program program{"register", describe_register, run_register};
  return tally::command::run_program(program, argc, argv);
}
