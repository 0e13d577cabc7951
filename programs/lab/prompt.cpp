#include "programs/lab/prompt.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <vector>

#include "programs/register/pmu/codec.hpp"
#include "programs/register/pmu/model.hpp"
#include "tally/core/base/text.hpp"

#if TALLY_HAS_LIBEDIT
#include <editline/readline.h>
#endif

namespace tally::lab {

#if TALLY_HAS_LIBEDIT
namespace {

// The library's callbacks have no argument for this.
const pmu::Model* model = &pmu::intel_model;

bool is_x86() { return model == &pmu::intel_model; }

std::vector<std::string> statement_words() {
  if (!is_x86()) return {"msr", "mrs", "run", "user", "isb", "svc", "wfi", "nop", "dump", "reset", "quit"};
  return {"wrmsr", "rdmsr", "rdpmc", "run", "user", "dump", "reset", "quit", "sti", "cli", "nop"};
}

// Completes "IA32_PERFEVTSEL0:event=0xc0,O": the fields of the register after its colon.
std::vector<std::string> field_words(const std::string& name, const std::string& before) {
  std::vector<std::string> words;
  const auto place = pmu::find_register(name, model);
  if (!place) return words;
  for (const pmu::Slot& slot : pmu::slots(*place->reg)) words.push_back(before + slot.name());
  return words;
}

std::vector<std::string> words_for(const std::string& text, bool is_first) {
  if (is_first) return statement_words();
  if (const std::size_t colon = text.find(':'); colon != std::string::npos) {
    const std::size_t last = text.find_last_of(":,");
    return field_words(text.substr(0, colon), text.substr(0, last + 1));
  }
  std::vector<std::string> words;
  for (const pmu::RegisterInstance& place : pmu::places(*model)) {
    if (place.reg->space == (is_x86() ? pmu::Space::msr : pmu::Space::system_register))
      words.push_back(pmu::name(place));
  }
  return words;
}

std::vector<std::string> candidates;

char* next_candidate(const char* text, int state) {
  static std::size_t at = 0;
  if (state == 0) at = 0;
  const std::string start = lower(text);
  while (at < candidates.size()) {
    const std::string& one = candidates[at++];
    if (lower(one).starts_with(start)) return strdup(one.c_str());
  }
  return nullptr;
}

char** complete(const char* text, int begin, int) {
  const std::string before = trimmed(std::string(rl_line_buffer).substr(0, static_cast<std::size_t>(begin)));
  candidates = words_for(text, before.empty() || before.ends_with(';'));
  rl_attempted_completion_over = 1;
  rl_completion_append_character = 0;
  return rl_completion_matches(text, next_candidate);
}

}  // namespace

Prompt::Prompt(const pmu::Model& registers) {
  model = &registers;
  rl_attempted_completion_function = complete;
  static char breaks[] = " \t;";  // some versions of the library do not accept const
  rl_completer_word_break_characters = breaks;
}

std::optional<std::string> Prompt::read() {
  char* const line = readline("lab> ");
  if (!line) return std::nullopt;
  std::string text = line;
  std::free(line);
  if (!trimmed(text).empty()) add_history(text.c_str());
  return text;
}

#else

Prompt::Prompt(const pmu::Model&) {}

std::optional<std::string> Prompt::read() {
  std::fputs("lab> ", stdout);
  std::fflush(stdout);
  std::string line;
  if (!std::getline(std::cin, line)) return std::nullopt;
  return line;
}

#endif

}  // namespace tally::lab
