#include "programs/settings/machine_settings.hpp"

#include "tally/tools/command/command.hpp"
#include "tally/tools/command/command_page.hpp"

namespace tally::settings {

void add_setting_options(command::Page& page, SettingOptions& options) {
  page.add_flag("--fix-frequency", options.fix_frequency,
                "run all CPUs at their base frequency, without turbo, as root; restored at the end");
  page.add_option("--prefetchers", options.prefetchers,
                  "switch the hardware prefetchers off, on Intel, as root; restored at the end")
      .value_name("off")
      .one_of({"off"});
}

Result<std::optional<ScopedSettings>> apply_settings(const SettingOptions& options, const std::string& root) {
  if (const auto messages = repair(root); !messages.empty()) command::say(messages);
  const SettingsRequest asked{options.fix_frequency, options.prefetchers == "off"};
  if (!asked.any()) return std::optional<ScopedSettings>{};
  auto held = ScopedSettings::change(asked, root);
  if (!held) return fail(held.error());
  return std::optional<ScopedSettings>(std::move(*held));
}

void restore_settings(std::optional<ScopedSettings>& held) {
  if (!held) return;
  if (const auto messages = held->put_back(); !messages.empty()) command::say(messages);
  held.reset();
}

}  // namespace tally::settings
