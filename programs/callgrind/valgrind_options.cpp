#include "programs/callgrind/valgrind_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <utility>

#include "tally/core/base/text.hpp"

namespace tally::callgrind {
namespace {

using enum OptionUse;

constexpr std::string_view yes_no = "yes|no";

// To support another option, add a row here and read it in Reader::set().
constexpr ValgrindOption valgrind_table[] = {
    {"tool", "TOOL", used, "callgrind or cachegrind"},
    {"callgrind-out-file", "FILE", used,
     "write the profile of each process to FILE (default: callgrind.out.%p): %p is the process ID, %q{NAME} an "
     "environment variable"},
    {"cachegrind-out-file", "FILE", used, "the same for cachegrind (default: cachegrind.out.%p)"},
    {"log-file", "FILE", used, "write messages to FILE instead of standard error; %p and %q{NAME} as above"},
    {"log-fd", "N", used, "write messages to this file descriptor (default: 2)"},
    {"quiet", "", used, "print only errors and warnings"},
    {"verbose", "", used, "also print notes about the measurement"},
    {"trace-children", yes_no, used, "also profile programs that the program executes (default: no)"},
    {"trace-children-skip", "PATTERNS", used, "except programs with these names; * and ? as in a shell"},
    {"cache-sim", yes_no, used, "simulate caches (default: no for callgrind, yes for cachegrind)"},
    {"simulate-cache", yes_no, used, "an older name of --cache-sim"},
    {"branch-sim", yes_no, used, "simulate the prediction of branches (default: no)"},
    {"I1", "SIZE,WAYS,LINE", used, "the first-level instruction cache (default: that of this machine)"},
    {"D1", "SIZE,WAYS,LINE", used, "the first-level data cache"},
    {"LL", "SIZE,WAYS,LINE", used, "the last-level cache"},
    {"instr-atstart", yes_no, used, "count from the start (default: yes); no: from a mark in the program on"},
    {"collect-atstart", yes_no, used, "collect from the start (default: yes, with --toggle-collect no)"},
    {"toggle-collect", "FUNCTION", used,
     "collect only in calls of this function; a pattern with * and ?; may be repeated"},
    {"fn-skip", "FUNCTION", used,
     "add the counts of this function to its callers; a pattern with * and ?; may be repeated"},
    {"obj-skip", "FILE", used, "the same for all functions of this program or library; may be repeated"},
    {"dump-instr", yes_no, used, "write the counts of each instruction (default: no)"},
    {"dump-line", yes_no, used, "write the counts of each source line (default: yes)"},
    {"compress-strings", yes_no, used, "write names once and then by number (default: yes)"},
    {"combine-dumps", yes_no, used, "write all dumps of a process to one file (default: no)"},
    {"separate-threads", yes_no, used, "write a file for each thread: FILE-01, FILE-02 (default: no)"},
    {"help", "", used, "print this help; also -h"},
    {"version", "", used, "print the version"},
    // Debuggers, memory checkers, translation, debug information: none of it changes a count or the file.
    {"vgdb", "MODE", harmless, ""},
    {"vgdb-error", "N", harmless, ""},
    {"vgdb-poll", "N", harmless, ""},
    {"vgdb-prefix", "PREFIX", harmless, ""},
    {"vgdb-shadow-registers", yes_no, harmless, ""},
    {"vgdb-stop-at", "EVENTS", harmless, ""},
    {"fair-sched", "yes|no|try", harmless, ""},
    {"error-exitcode", "N", harmless, ""},
    {"error-limit", yes_no, harmless, ""},
    {"error-markers", "BEGIN,END", harmless, ""},
    {"exit-on-first-error", yes_no, harmless, ""},
    {"show-error-list", yes_no, harmless, ""},
    {"s", "", harmless, ""},
    {"num-callers", "N", harmless, ""},
    {"default-suppressions", yes_no, harmless, ""},
    {"suppressions", "FILE", harmless, ""},
    {"gen-suppressions", "yes|no|all", harmless, ""},
    {"show-below-main", yes_no, harmless, ""},
    {"show-emwarns", yes_no, harmless, ""},
    {"sigill-diagnostics", yes_no, harmless, ""},
    {"child-silent-after-fork", yes_no, harmless, ""},
    {"smc-check", "MODE", harmless, ""},
    {"read-inline-info", yes_no, harmless, ""},
    {"read-var-info", yes_no, harmless, ""},
    {"keep-debuginfo", yes_no, harmless, ""},
    {"extra-debuginfo-path", "PATH", harmless, ""},
    {"allow-mismatched-debuginfo", yes_no, harmless, ""},
    {"dsymutil", yes_no, harmless, ""},
    {"sim-hints", "HINTS", harmless, ""},
    {"kernel-variant", "VARIANTS", harmless, ""},
    {"merge-recursive-frames", "N", harmless, ""},
    {"num-transtab-sectors", "N", harmless, ""},
    {"avg-transtab-entry-size", "N", harmless, ""},
    {"aspace-minaddr", "ADDRESS", harmless, ""},
    {"valgrind-stacksize", "N", harmless, ""},
    {"main-stacksize", "N", harmless, ""},
    {"max-stackframe", "N", harmless, ""},
    {"max-threads", "N", harmless, ""},
    {"resync-filter", "MODE", harmless, ""},
    {"require-text-symbol", "SYMBOL", harmless, ""},
    {"soname-synonyms", "NAMES", harmless, ""},
    {"input-fd", "N", harmless, ""},
    {"alignment", "N", harmless, ""},
    {"redzone-size", "N", harmless, ""},
    {"run-libc-freeres", yes_no, harmless, ""},
    {"run-cxx-freeres", yes_no, harmless, ""},
    {"compress-pos", yes_no, harmless, ""},
    {"skip-direct-rec", yes_no, harmless, ""},
    {"demangle", yes_no, ignored, "names of C++ and Rust functions stay demangled"},
    {"time-stamp", yes_no, ignored, "messages have no time"},
    {"track-fds", "yes|no|all", ignored, "open files are not listed"},
    {"log-socket", "ADDRESS", ignored, "messages go to standard error"},
    {"xml", yes_no, ignored, "messages are text"},
    {"xml-fd", "N", ignored, "messages are text"},
    {"xml-file", "FILE", ignored, "messages are text"},
    {"xml-socket", "ADDRESS", ignored, "messages are text"},
    {"xml-user-comment", "TEXT", ignored, "messages are text"},
    {"xtree-memory", "MODE", ignored, "memory is not profiled"},
    {"xtree-memory-file", "FILE", ignored, "memory is not profiled"},
    {"fullpath-after", "PATH", ignored, "paths are whole"},
    {"debuginfo-server", "ADDRESS", ignored, "DEBUGINFOD_URLS and `tally profile --debuginfod` name servers"},
    {"skip-plt", yes_no, ignored, "stubs of the linkage table are functions of their own"},
    {"separate-recs", "N", ignored, "recursion is one function"},
    {"collect-jumps", yes_no, ignored, "the file has no jumps"},
    {"collect-systime", "UNIT", ignored, "the file has no system calls and their time (sysCount, sysTime, sysCpuTime)"},
    {"collect-bus", yes_no, ignored, "the file has no global bus events (Ge)"},
    {"separate-callers", "N", ignored, "functions are not separated by their callers"},
    {"cycle-estimation", yes_no, ignored, "the file has no estimated cycles; `tally profile -e cycles` has them"},
    {"trace-children-skip-by-arg", "PATTERNS", refused, "use --trace-children-skip"},
    {"dump-every-bb", "N", refused, "use marks in the program, or `tally sample --every N`"},
    {"dump-before", "FUNCTION", refused, "use --toggle-collect, or marks in the program"},
    {"dump-after", "FUNCTION", refused, "use --toggle-collect, or marks in the program"},
    {"zero-before", "FUNCTION", refused, "use --toggle-collect, or marks in the program"},
    {"simulate-wb", yes_no, refused, "tally does not count write-backs"},
    {"simulate-hwpref", yes_no, refused, "use `tally profile --prefetch on`"},
    {"cacheuse", yes_no, refused, "tally does not record how much of a cache line is used"},
};

/// The row of an option; null if tally does not know it. Options such as --separate-callers2=f end with a number.
const ValgrindOption* row_of(std::string_view name) {
  const auto find = [](std::string_view text) {
    const auto* const found = std::find_if(std::begin(valgrind_table), std::end(valgrind_table),
                                           [&](const auto& r) { return r.name == text; });
    return found == std::end(valgrind_table) ? nullptr : found;
  };
  if (const ValgrindOption* const row = find(name)) return row;
  if (!name.starts_with("separate-")) return nullptr;
  return find(name.substr(0, name.find_last_not_of("0123456789") + 1));
}

Error bad_value(std::string_view name, std::string_view value, const std::string& why) {
  return {Code::bad_usage, fmt::format("--{}={}: {}", name, printable(value), why), "", 0};
}

Result<bool> yes_or_no(std::string_view name, std::string_view value) {
  if (value == "yes" || value == "no") return value == "yes";
  return fail(bad_value(name, value, "'yes' or 'no' is needed"));
}

Result<CacheGeometry> geometry(std::string_view name, std::string_view value) {
  const std::vector<std::string> parts = split(std::string(value), ',');
  CacheGeometry made;
  if (parts.size() != 3) return fail(bad_value(name, value, "size, ways and line size are needed: 32768,8,64"));
  for (const auto& [text, number] :
       {std::pair{&parts[0], &made.bytes}, std::pair{&parts[1], &made.ways}, std::pair{&parts[2], &made.line}}) {
    const auto read = parse_integer(*text);
    if (!read || *read < 1 || *read > std::int64_t{1} << 30)
      return fail(bad_value(name, value, fmt::format("'{}' is not a size", printable(*text))));
    *number = static_cast<std::uint64_t>(*read);
  }
  if (made.bytes % (made.ways * made.line) != 0)
    return fail(bad_value(name, value, "the size is no multiple of ways and line size"));
  return made;
}

class Reader {
 public:
  explicit Reader(ValgrindOptions defaults) : options_(std::move(defaults)) {}

  Result<ValgrindOptions> read(const std::vector<std::string>& words) {
    std::size_t at = 0;
    for (; at < words.size() && words[at].size() > 1 && words[at].front() == '-'; ++at) {
      if (words[at] == "--") {
        ++at;
        break;
      }
      if (auto known = option(words, at); !known) return fail(known.error());
    }
    options_.command.assign(words.begin() + static_cast<std::ptrdiff_t>(at), words.end());
    return std::move(options_);
  }

 private:
  /// Reads the option at index `at`, and moves to its value if that is a word of its own.
  Result<void> option(const std::vector<std::string>& words, std::size_t& at) {
    const std::string& word = words[at];
    if (!word.starts_with("--")) return short_option(word);
    const std::size_t equals = std::min(word.find('='), word.size());
    std::string name = word.substr(2, equals - 2);
    // An option of one tool may begin with its name: --callgrind:cache-sim=yes.
    for (const std::string_view tool : {"callgrind:", "cachegrind:", "memcheck:"})
      if (name.starts_with(tool)) name.erase(0, tool.size());
    const ValgrindOption* const row = row_of(name);
    if (row == nullptr) {
      options_.notes.push_back(fmt::format("{} is unknown, and ignored", printable(word)));
      return {};
    }
    bool has_value = equals < word.size();
    std::string value = has_value ? word.substr(equals + 1) : "";
    // valgrind needs "="; completion and habit may leave it out.
    if (!has_value && !row->value.empty() && row->use == used && at + 1 < words.size()) {
      value = words[++at];
      has_value = true;
    }
    if (has_value == row->value.empty() && row->use == used)
      return fail(Code::bad_usage, has_value ? fmt::format("--{} has no value", name)
                                             : fmt::format("missing value: --{}={}", name, row->value));
    switch (row->use) {
      case used: return set(row->name, value);
      case harmless: return {};
      case ignored:
        if (is_asked(*row, value))
          options_.notes.push_back(fmt::format("{} is ignored: {}", printable(word), row->text));
        return {};
      case refused: break;
    }
    if (!is_asked(*row, value)) return {};
    return fail(Code::bad_usage, fmt::format("tally cannot do what {} does, which changes counts", printable(word)),
                std::string(row->text));
  }

  /// Whether an option with this value asks for something: most are off with `no`.
  static bool is_asked(const ValgrindOption& row, const std::string& value) {
    return row.name == "demangle" ? value == "no" : value != "no" && value != "0";
  }

  Result<void> short_option(const std::string& word) {
    if (word == "-q") return set("quiet", "");
    if (word == "-v") return set("verbose", "");
    if (word == "-h") return set("help", "");
    if (word == "-s" || word == "-d") return {};
    return fail(Code::bad_usage, fmt::format("unknown option '{}'", printable(word)));
  }

  Result<void> set(std::string_view name, const std::string& value) {
    using Tool = ValgrindOptions::Tool;
    if (name == "tool") {
      for (const auto& [word, tool] :
           {std::pair{"callgrind", Tool::callgrind}, {"cachegrind", Tool::cachegrind}, {"memcheck", Tool::memcheck}})
        if (value == word) {
          options_.tool = tool;
          return {};
        }
      return fail(bad_value(name, value, "tally has callgrind and cachegrind"));
    }
    for (const auto& [of, text] : {std::pair{"callgrind-out-file", &options_.output},
                                   {"cachegrind-out-file", &options_.output},
                                   {"log-file", &options_.log_file}})
      if (name == of) {
        if (value.empty()) return fail(bad_value(name, value, "the file name is empty"));
        *text = value;
        return {};
      }
    for (const auto& [of, flag] : {std::pair{"quiet", &options_.quiet},
                                   {"verbose", &options_.verbose},
                                   {"help", &options_.wants_help},
                                   {"version", &options_.wants_version}})
      if (name == of) {
        *flag = true;
        return {};
      }
    for (const auto& [of, cache] : {std::pair{"I1", &options_.i1}, {"D1", &options_.d1}, {"LL", &options_.ll}})
      if (name == of) {
        const auto read = geometry(name, value);
        if (!read) return fail(read.error());
        *cache = *read;
        options_.models_caches = options_.models_caches.value_or(true);
        return {};
      }
    if (name == "log-fd") {
      const auto number = parse_integer(value);
      if (!number || *number < 0 || *number > INT_MAX) return fail(bad_value(name, value, "a descriptor is needed"));
      options_.log_fd = static_cast<int>(*number);
      return {};
    }
    if (name == "trace-children-skip") {
      for (std::string& pattern : split(value, ',')) options_.skipped_children.push_back(std::move(pattern));
      return {};
    }
    for (const auto& [of, names] : {std::pair{"toggle-collect", &options_.toggles},
                                    {"fn-skip", &options_.skipped_functions},
                                    {"obj-skip", &options_.skipped_objects}})
      if (name == of) {
        names->push_back(value);
        return {};
      }
    return set_switch(name, value);
  }

  Result<void> set_switch(std::string_view name, const std::string& value) {
    const auto on = yes_or_no(name, value);
    if (!on) return fail(on.error());
    for (const auto& [of, flag] : {std::pair{"trace-children", &options_.traces_children},
                                   {"branch-sim", &options_.models_branches},
                                   {"dump-instr", &options_.dump_instructions},
                                   {"dump-line", &options_.dump_lines},
                                   {"compress-strings", &options_.compresses_names},
                                   {"combine-dumps", &options_.combines_dumps},
                                   {"separate-threads", &options_.separates_threads}})
      if (name == of) *flag = *on;
    for (const auto& [of, flag] : {std::pair{"cache-sim", &options_.models_caches},
                                   {"simulate-cache", &options_.models_caches},
                                   {"instr-atstart", &options_.instruments_at_start},
                                   {"collect-atstart", &options_.collects_at_start}})
      if (name == of) *flag = *on;
    return {};
  }

  ValgrindOptions options_;
};

}  // namespace

std::span<const ValgrindOption> valgrind_options() { return valgrind_table; }

Result<ValgrindOptions> parse_valgrind_options(const std::vector<std::string>& words, ValgrindOptions defaults) {
  return Reader(std::move(defaults)).read(words);
}

}  // namespace tally::callgrind
