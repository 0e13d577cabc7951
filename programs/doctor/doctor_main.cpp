// tally-doctor: the options of `tally doctor`, and its output.
#include "programs/doctor/diagnose.hpp"
#include "programs/doctor/doctor_text.hpp"
#include "tally/linux/files/terminal_width.hpp"
#include "tally/tools/command/command.hpp"
#include "tally/tools/command/command_page.hpp"
#include "tally/tools/command/own_provenance.hpp"
#include "tally/tools/command/program_main.hpp"

namespace tally::doctor {
namespace {

using namespace command;

struct DoctorOptions {
  bool json = false;
};

constexpr const char* doctor_footer =
    "The report starts with the answer. What to do, what can be counted without a PMU, the evidence, and facts about "
    "processor, kernel and permissions follow. tally doctor changes nothing on this machine.\n"
    "\n"
    "Exit code: 0 hardware events can be counted, 1 they cannot, 2 bad usage.\n"
    "\n"
    "Examples:\n"
    "  tally doctor\n"
    "  tally doctor --json | jq .cause\n";

void describe(Page& page, DoctorOptions& options) {
  page.head("Check whether hardware events can be counted here. If not, explain why and what to do.",
            "tally doctor [options]");
  page.add_flag("--json", options.json, "print one JSON object");
  page.footer(doctor_footer);
}

void describe_doctor(Page& page) {
  static DoctorOptions unused;
  describe(page, unused);
}

int run_doctor(const std::vector<std::string>& arguments) {
  DoctorOptions options;
  Page page;
  describe(page, options);
  if (const auto done = page.read(arguments)) return *done;
  Diagnosis diagnosis = diagnose(examine());
  diagnosis.provenance = provenance();
  const int printed = print(options.json ? doctor_json(diagnosis)
                                         : doctor_text(diagnosis, linux::terminal_columns(linux::Stream::output)));
  if (printed != exit_ok) return printed;
  return diagnosis.hardware ? exit_ok : exit_no;
}

}  // namespace
}  // namespace tally::doctor

int main(int argc, char** argv) {
  constexpr tally::command::Program doctor{"doctor", tally::doctor::describe_doctor, tally::doctor::run_doctor};
  return tally::command::run_program(doctor, argc, argv);
}
