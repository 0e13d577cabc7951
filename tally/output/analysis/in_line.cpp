#include "tally/output/analysis/in_line.hpp"

#include <algorithm>
#include <string>

#include "tally/core/base/foreign_text.hpp"

namespace tally::output {
namespace {

/// Calls `each` for every text of the profile that may come from outside of tally. Returns false as soon as `each`
/// does.
template <class Profile, class Each>
bool all_texts(Profile& profile, Each&& each) {
  const auto all = [&](auto& list, auto... members) {
    return std::all_of(list.begin(), list.end(), [&](auto& one) { return (each(one.*members) && ...); });
  };
  const auto all_words = [&](auto& words) { return std::all_of(words.begin(), words.end(), each); };
  const auto all_events = [&](auto& events) {
    return std::all_of(events.begin(), events.end(), [&](auto& event) {
      return each(event.total.name.base) && each(event.total.count.reason) && each(event.total.count.model);
    });
  };
  return all_words(profile.stat.command) && each(profile.stat.target) && all_events(profile.stat.events) &&
         all(profile.owners, &result::CodeOwner::command, &result::CodeOwner::thread) &&
         all(profile.objects, &result::ProfileObject::name, &result::ProfileObject::why_nameless,
             &result::ProfileObject::build_id) &&
         all_words(profile.sources) &&
         all(profile.functions, &result::ProfileFunction::name, &result::ProfileFunction::linker_name);
}

}  // namespace

InLineProfile::InLineProfile(const result::Profile& profile) : profile_(profile) {
  if (all_texts(profile, [](const std::string& text) { return ForeignText(text).is_plain(); })) return;
  copy_ = profile;
  all_texts(*copy_, [](std::string& text) {
    text = ForeignText(text).in_line();
    return true;
  });
}

}  // namespace tally::output
