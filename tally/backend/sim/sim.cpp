#include "tally/backend/sim/sim.hpp"

#include "tally/backend/sim/harvest.hpp"
#include "tally/backend/sim/run.hpp"
#include "tally/base/text.hpp"

namespace tally::backend::sim {
namespace {

// The engine's image: beside the command in a build tree, in libexec where it is installed.
Result<std::string> find_image() {
  const std::string folder = linux::own_folder();
  for (const std::string& path : {folder + "/tally-engine", folder + "/" TALLY_ENGINE_FOLDER "/tally-engine"}) {
    if (linux::exists(path)) return path;
  }
  if (folder.empty()) {
    return fail(Code::cannot_measure, "tally does not find its engine: there is no /proc that says where it lies",
                "mount /proc, or use `--backend none`");
  }
  return fail(Code::cannot_measure,
              "the engine of the simulated PMU is missing: no 'tally-engine' in " + printable(folder),
              "build or install tally again, or use `--backend none`");
}

class Sim final : public Backend {
 public:
  std::string_view name() const override { return "sim"; }

  Result<Outcome> run(const Request& request) override {
    const auto image = find_image();
    if (!image) return fail(image.error());
    auto shared = Channel::make();
    if (!shared) return fail(shared.error());
    const auto execution = execute(request, *image, *shared);
    if (!execution) return fail(execution.error());
    Outcome outcome;
    outcome.wait_status = execution->wait_status;
    outcome.ended = execution->ended;
    outcome.all_ended = execution->all_ended;
    outcome.usage = execution->figures.usage;
    outcome.duration = execution->figures.duration;
    harvest(request, *execution, *shared, outcome);
    return outcome;
  }

  Outlook outlook(const event::Event& event) const override { return outlook_of(event); }
};

}  // namespace

std::unique_ptr<Backend> make() { return std::make_unique<Sim>(); }

}  // namespace tally::backend::sim
