// The text format of machine models: one item per line, a keyword and its settings.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <set>

#include "tally/core/base/parse_text.hpp"
#include "tally/core/base/text.hpp"
#include "tally/engine/machines/machine_model.hpp"

namespace tally::machines {

namespace {

// More than any machine has: its table would take 8 GiB.
constexpr std::uint64_t most_bytes = std::uint64_t{64} << 30;

using Settings = std::map<std::string, std::string>;

// "32K" → 32768; nullopt if it is not a number, or too large.
std::optional<std::uint64_t> size_of(std::string_view text) {
  unsigned shift = 0;
  const auto suffix = std::string_view("KMG").find(text.empty() ? ' ' : text.back());
  if (suffix != std::string_view::npos) {
    shift = 10 * static_cast<unsigned>(suffix + 1);
    text.remove_suffix(1);
  }
  const auto value = parse_digits<std::uint64_t>(text);
  if (!value || *value > most_bytes >> shift) return std::nullopt;
  return *value << shift;
}

class Parser {
 public:
  Parser(std::string_view text, std::string_view origin) : text_(text), origin_(origin) {}

  Result<MachineModel> parse() {
    for (const std::string& line : split(text_, '\n')) {
      ++line_;
      const std::string plain = trimmed(line.substr(0, line.find('#')));
      if (plain.empty()) continue;
      if (auto status = take(plain); !status) return fail(status.error());
    }
    line_ = 0;
    if (auto status = check_whole(); !status) return fail(status.error());
    if (const auto* core = core_named(machine_.core); core != nullptr && !has_mispredict_)
      machine_.latencies.mispredict = core->mispredict;
    return std::move(machine_);
  }

 private:
  using Status = Result<void>;

  tl::unexpected<Error> error_here(const std::string& what, std::string hint) const {
    const std::string where = line_ > 0 ? fmt::format("{}, line {}", origin_, line_) : std::string(origin_);
    return fail(Code::bad_usage, fmt::format("{}: {}", where, printable(what)), std::move(hint));
  }

  Status take(const std::string& line) {
    std::vector<std::string> words = split_words(line);
    const std::string head = words.front();
    const std::string rest = trimmed(line.substr(head.size()));
    words.erase(words.begin());
    if (head == "source") {
      machine_.sources.push_back(rest);
      return {};
    }
    if (!seen_.insert(head).second) return error_here(fmt::format("a second line '{}'", head), "remove one of the two");
    if (head == "title") return take_title(rest);
    if (head == "model") return take_name(words);
    if (head == "core") return take_core(words);
    if (head == "prefetch") return take_prefetch(words);
    if (head == "latency") return take_latency(words);
    if (head == "line-time") return take_line_time(words);
    if (head == "parallel") return take_parallel(words);
    if (head == "crowded") return take_crowded(words);
    if (const auto level = caches_.find(head); level != caches_.end()) return take_cache(*level->second, words);
    if (const auto level = tlbs_.find(head); level != tlbs_.end()) return take_tlb(*level->second, words);
    return unknown_word(head, {"model", "title", "source", "l1i", "l1d", "l2", "llc", "itlb", "dtlb", "stlb",
                               "prefetch", "core", "latency", "line-time", "parallel", "crowded"});
  }

  tl::unexpected<Error> unknown_word(const std::string& word, const std::vector<std::string>& known) const {
    const auto near = nearest(word, known, 1);
    return error_here(fmt::format("'{}' is unknown here", word), near.empty()
                                                                     ? "write one of: " + join(known, ", ")
                                                                     : fmt::format("do you mean '{}'?", near.front()));
  }

  Status take_title(const std::string& rest) {
    machine_.title = rest;
    return {};
  }

  Status take_name(const std::vector<std::string>& words) {
    if (words.size() != 1 || words.front().find('/') != std::string::npos)
      return error_here("a model's name is one word without a slash", "for instance: model mine");
    machine_.name = words.front();
    return {};
  }

  Status take_core(const std::vector<std::string>& words) {
    if (words.size() != 1 || core_named(words.front()) == nullptr)
      return error_here(fmt::format("unknown core '{}'", join(words, " ")), "cores are " + join(core_names(), ", "));
    machine_.core = words.front();
    return {};
  }

  Status take_prefetch(const std::vector<std::string>& words) {
    for (const std::string& word : words) {
      if (word == "next-line") {
        machine_.caches.prefetch.next_line = true;
      } else if (word == "streamer") {
        machine_.caches.prefetch.streamer = true;
      } else {
        return unknown_word(word, {"next-line", "streamer"});
      }
    }
    return {};
  }

  Result<Settings> settings(const std::vector<std::string>& words, const std::vector<std::string>& known) const {
    Settings result;
    for (const std::string& word : words) {
      const std::size_t equals = word.find('=');
      const std::string key = word.substr(0, equals);
      if (std::find(known.begin(), known.end(), key) == known.end()) return unknown_word(key, known);
      if (equals == std::string::npos || equals + 1 == word.size())
        return error_here(fmt::format("'{}' has no value", key), fmt::format("write {}=VALUE, without spaces", key));
      if (!result.emplace(key, word.substr(equals + 1)).second)
        return error_here(fmt::format("'{}' is there twice", key), "remove one of the two");
    }
    return result;
  }

  // Returns a number in [low, high]; `standard` if the setting is missing.
  Result<std::uint64_t> number(const Settings& settings, const std::string& key, std::uint64_t low, std::uint64_t high,
                               std::optional<std::uint64_t> standard = {}) const {
    const auto at = settings.find(key);
    if (at == settings.end()) {
      if (standard) return *standard;
      return error_here(fmt::format("'{}' is missing", key), fmt::format("add {}=NUMBER", key));
    }
    const auto value = size_of(at->second);
    if (!value || *value < low || *value > high) {
      return error_here(fmt::format("{}={}", key, at->second),
                        fmt::format("a number from {} to {} is needed; K, M and G mean 2^10, 2^20, 2^30", low, high));
    }
    return *value;
  }

  Result<bool> flag(const Settings& settings, const std::string& key, bool standard) const {
    const auto at = settings.find(key);
    if (at == settings.end()) return standard;
    if (at->second != "yes" && at->second != "no")
      return error_here(fmt::format("{}={}", key, at->second), "yes or no is needed");
    return at->second == "yes";
  }

  // Sets the shape for `units` lines or entries, which must fill whole sets.
  Status set_geometry(models::CacheShape& shape, std::uint64_t units, std::uint64_t ways, std::uint64_t unit_bytes,
                      const std::string& what) const {
    if (units == 0 || units % ways != 0) {
      return error_here(fmt::format("{} cannot be divided into sets of {} ways", what, ways),
                        fmt::format("it must be a multiple of ways × {}", unit_bytes == 1 ? "1" : "line"));
    }
    shape.sets = static_cast<std::uint32_t>(units / ways);
    shape.ways = static_cast<std::uint32_t>(ways);
    return {};
  }

  Status take_cache(models::CacheShape& shape, const std::vector<std::string>& words) {
    const auto all = settings(words, {"size", "ways", "line", "replacement", "write-allocate", "inclusive"});
    if (!all) return fail(all.error());
    const auto size = number(*all, "size", 1, most_bytes);
    const auto ways = number(*all, "ways", 1, models::most_ways);
    const auto line = number(*all, "line", 64, 4096, 64);
    const auto write_allocate = flag(*all, "write-allocate", true);
    const auto inclusive = flag(*all, "inclusive", false);
    for (const auto* value : {&size, &ways, &line})
      if (!*value) return fail(value->error());
    for (const auto* value : {&write_allocate, &inclusive})
      if (!*value) return fail(value->error());
    if (!std::has_single_bit(*line)) return error_here(fmt::format("line={}", *line), "a power of two is needed");
    if (*size % *line != 0)
      return error_here(fmt::format("a size of {} bytes is not a whole number of lines", *size),
                        "make it a multiple of the line length");
    shape.line_bits = static_cast<std::uint8_t>(std::countr_zero(*line));
    shape.write_allocate = *write_allocate;
    shape.inclusive = *inclusive;
    if (const auto at = all->find("replacement"); at != all->end()) {
      if (at->second != "lru" && at->second != "plru")
        return error_here("replacement=" + at->second, "lru or plru (a tree of bits) is needed");
      shape.replacement = at->second == "lru" ? models::Replacement::lru : models::Replacement::tree_plru;
    }
    return set_geometry(shape, *size / *line, *ways, *line, fmt::format("a size of {} bytes", *size));
  }

  Status take_tlb(models::CacheShape& shape, const std::vector<std::string>& words) {
    const auto all = settings(words, {"entries", "ways", "page"});
    if (!all) return fail(all.error());
    const auto entries = number(*all, "entries", 1, 1 << 20);
    const auto ways = number(*all, "ways", 1, models::most_ways);
    const auto page = number(*all, "page", 4096, 1 << 30, 4096);
    for (const auto* value : {&entries, &ways, &page})
      if (!*value) return fail(value->error());
    if (!std::has_single_bit(*page)) return error_here(fmt::format("page={}", *page), "a power of two is needed");
    shape.line_bits = static_cast<std::uint8_t>(std::countr_zero(*page));
    return set_geometry(shape, *entries, *ways, 1, fmt::format("{} entries", *entries));
  }

  using Fields = std::vector<std::pair<std::string, std::uint16_t*>>;

  Status take_latency(const std::vector<std::string>& words) {
    models::Latencies& latencies = machine_.latencies;
    const auto names = take_cycles(words, {{"l2", &latencies.l2},
                                           {"llc", &latencies.llc},
                                           {"memory", &latencies.memory},
                                           {"stlb", &latencies.stlb},
                                           {"walk", &latencies.walk},
                                           {"mispredict", &latencies.mispredict}});
    if (!names) return fail(names.error());
    has_mispredict_ = names->contains("mispredict");
    return {};
  }

  Status take_line_time(const std::vector<std::string>& words) {
    models::Latencies& latencies = machine_.latencies;
    const auto names = take_cycles(
        words, {{"l2", &latencies.l2_line}, {"llc", &latencies.llc_line}, {"memory", &latencies.memory_line}});
    return names ? Status{} : fail(names.error());
  }

  Status take_parallel(const std::vector<std::string>& words) {
    const auto names = take_cycles(words, {{"memory", &machine_.latencies.memory_parallel}});
    return names ? Status{} : fail(names.error());
  }

  Status take_crowded(const std::vector<std::string>& words) {
    models::CrowdTimes& times = machine_.latencies.crowd;
    const auto names = take_cycles(words, {{"load", &times.load}, {"store", &times.store}});
    return names ? Status{} : fail(names.error());
  }

  // Sets fields to numbers of cycles, those that the line does not name to 0. Returns the named ones.
  Result<Settings> take_cycles(const std::vector<std::string>& words, const Fields& fields) {
    std::vector<std::string> known;
    for (const auto& [name, field] : fields) known.push_back(name);
    const auto all = settings(words, known);
    if (!all) return fail(all.error());
    for (const auto& [name, field] : fields) {
      const auto cycles = number(*all, name, 0, 10'000, 0);
      if (!cycles) return fail(cycles.error());
      *field = static_cast<std::uint16_t>(*cycles);
    }
    return *all;
  }

  // Checks what no single line shows.
  Status check_whole() const {
    for (const char* needed : {"model", "l1d"})
      if (!seen_.contains(needed))
        return error_here(fmt::format("there is no line '{}'", needed), "every model needs one");
    if (auto status = check_same(caches_, "lines"); !status) return status;
    return check_same(tlbs_, "pages");
  }

  Status check_same(const std::map<std::string, models::CacheShape*>& levels, const char* what) const {
    std::set<unsigned> bits;
    for (const auto& [name, shape] : levels)
      if (shape->sets != 0) bits.insert(shape->line_bits);
    if (bits.size() <= 1) return {};
    return error_here(
        fmt::format("{} of {} and {} bytes in one machine", what, 1U << *bits.begin(), 1U << *bits.rbegin()),
        fmt::format("all levels must have {} of the same length", what));
  }

  std::string_view text_, origin_;
  int line_ = 0;
  MachineModel machine_;
  bool has_mispredict_ = false;
  std::set<std::string> seen_;
  std::map<std::string, models::CacheShape*> caches_{{"l1i", &machine_.caches.l1i},
                                                     {"l1d", &machine_.caches.l1d},
                                                     {"l2", &machine_.caches.l2},
                                                     {"llc", &machine_.caches.llc}};
  std::map<std::string, models::CacheShape*> tlbs_{
      {"itlb", &machine_.tlbs.itlb}, {"dtlb", &machine_.tlbs.dtlb}, {"stlb", &machine_.tlbs.stlb}};
};

}  // namespace

Result<MachineModel> parse(std::string_view text, std::string_view origin) { return Parser(text, origin).parse(); }

}  // namespace tally::machines
