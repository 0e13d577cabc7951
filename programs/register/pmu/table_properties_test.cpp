// Tests the properties that all tables must have, in every model.
#include <gtest/gtest.h>

#include <bit>
#include <map>
#include <random>
#include <set>

#include "programs/register/pmu/codec.hpp"
#include "programs/register/pmu/draw.hpp"
#include "programs/register/pmu/spec.hpp"
#include "tally/hardware/pmu/apple/apple_events.hpp"
#include "tally/hardware/pmu/intel/intel_events.hpp"

namespace tally::pmu {
namespace {

// Each version of a model, and all versions at once.
std::vector<std::optional<int>> views(const Model& model) {
  std::vector<std::optional<int>> all{std::nullopt};
  for (const Version& version : model.versions) all.emplace_back(version.number);
  return all;
}

template <class Visit>
void for_each_register(Visit visit) {
  for (const Model* model : models()) {
    for (const Register& reg : model->registers) visit(*model, reg);
  }
}

TEST(Tables, every_register_has_a_source_and_a_text) {
  for_each_register([](const Model&, const Register& reg) {
    EXPECT_FALSE(reg.source.document.empty()) << reg.name;
    EXPECT_FALSE(reg.source.section.empty()) << reg.name;
    EXPECT_FALSE(reg.text.empty()) << reg.name;
    EXPECT_FALSE(reg.fields.empty()) << reg.name;
  });
}

TEST(Tables, fields_do_not_overlap_and_fit) {
  for_each_register([](const Model& model, const Register& reg) {
    for (const auto& version : views(model)) {
      std::uint64_t taken = 0;
      for (const Slot& slot : slots(reg, version)) {
        EXPECT_EQ(taken & slot.mask(), 0U) << reg.name << " " << slot.name();
        EXPECT_EQ(slot.mask() & ~low_ones(reg.width), 0U) << reg.name << " " << slot.name();
        EXPECT_EQ(std::popcount(slot.mask()), total_width(*slot.field)) << reg.name << " " << slot.name();
        taken |= slot.mask();
      }
    }
  });
}

TEST(Tables, names_of_fields_are_unique_in_their_register) {
  for_each_register([](const Model&, const Register& reg) {
    std::set<std::string> names;
    for (const Slot& slot : slots(reg)) EXPECT_TRUE(names.insert(slot.name()).second) << reg.name << " " << slot.name();
  });
}

TEST(Tables, names_of_repeated_fields_and_registers_have_an_index) {
  for_each_register([](const Model&, const Register& reg) {
    EXPECT_EQ(reg.count > 1, reg.name.find('#') != std::string_view::npos) << reg.name;
    for (const Field& field : reg.fields) {
      EXPECT_EQ(field.count > 1, field.name.find('#') != std::string_view::npos) << reg.name << " " << field.name;
    }
  });
}

TEST(Tables, fields_and_registers_use_versions_of_their_model) {
  for_each_register([](const Model& model, const Register& reg) {
    const auto known = [&](int number) {
      if (number == 0 || number == newest) return true;
      for (const Version& version : model.versions) {
        if (version.number == number) return true;
      }
      return false;
    };
    EXPECT_TRUE(known(reg.since) && known(reg.until)) << reg.name;
    for (const Field& field : reg.fields) {
      EXPECT_TRUE(known(field.since) && known(field.until)) << reg.name << " " << field.name;
      EXPECT_LE(field.since, field.until) << reg.name << " " << field.name;
    }
  });
}

TEST(Tables, names_and_addresses_are_unique_and_found) {
  std::map<std::string, std::string> addresses;
  std::set<std::string> names;
  for (const Model* model : models()) {
    for (const RegisterInstance& place : places(*model)) {
      EXPECT_TRUE(names.insert(name(place)).second) << name(place);
      const auto found = find_register(name(place));
      ASSERT_TRUE(found) << name(place);
      EXPECT_EQ(name(*found), name(place));
      if (place.reg->space != Space::msr && place.reg->space != Space::system_register) continue;
      const auto [at, fresh] = addresses.emplace(address(place), name(place));
      EXPECT_TRUE(fresh) << name(place) << " and " << at->second << " are both at " << address(place);
      const std::string number = address(place);
      const auto by_number = find_register(number.starts_with("MSR ") ? number.substr(4) : number);
      ASSERT_TRUE(by_number) << number;
      EXPECT_EQ(name(*by_number), name(place)) << number;
    }
  }
}

TEST(Tables, rules_name_registers_of_their_model) {
  for (const Model* model : models()) {
    for (const Rule& rule : model->rules) {
      bool found = false;
      for (const Register& reg : model->registers) found = found || reg.name == rule.register_name;
      EXPECT_TRUE(found) << rule.name << " " << rule.register_name;
    }
  }
}

// Random values, half of them with few bits set.
std::uint64_t some_value(std::mt19937_64& random, int width) {
  const std::uint64_t value = random() & low_ones(width);
  return random() % 2 == 0 ? value : value & random() & random();
}

TEST(Tables, a_decoded_value_encodes_to_itself) {
  std::mt19937_64 random(5);
  for_each_register([&](const Model& model, const Register& reg) {
    for (const auto& version : views(model)) {
      const RegisterInstance place{&model, &reg, reg.count - 1};
      for (int i = 0; i < 40; ++i) {
        const Value value{place, some_value(random, reg.width), version};
        std::vector<std::pair<std::string, std::optional<std::string>>> fields;
        for (const Slot& slot : slots(reg, version))
          fields.emplace_back(slot.name(), std::to_string(slot.of(value.bits)));
        // Starts from the complement, so that every bit of every field must be written.
        const auto encoded = encode(place, version, fields, ~value.bits & low_ones(reg.width));
        ASSERT_TRUE(encoded) << encoded.error().message;
        const std::uint64_t known = known_bits(reg, version);
        ASSERT_EQ(encoded->bits & known, value.bits & known) << name(place);
        ASSERT_EQ(encoded->bits & ~known, ~value.bits & low_ones(reg.width) & ~known) << name(place);
        ASSERT_EQ(unknown_bits(value), value.bits & ~known);
      }
    }
  });
}

TEST(Tables, every_value_can_be_explained_and_drawn) {
  std::mt19937_64 random(6);
  for_each_register([&](const Model& model, const Register& reg) {
    for (const auto& version : views(model)) {
      for (int i = 0; i < 20; ++i) {
        const Value value{{&model, &reg, 0},
                          i == 0   ? 0
                          : i == 1 ? low_ones(reg.width)
                                   : some_value(random, reg.width),
                          version};
        for (const Remark& remark : check(value)) {
          EXPECT_FALSE(remark.text.empty());
          EXPECT_FALSE(remark.source.document.empty()) << reg.name << ": " << remark.text;
        }
        for (const Slot& slot : slots(reg, version)) (void)reading(value, slot);
        if (reg.summary) {
          EXPECT_FALSE(reg.summary(value).empty()) << reg.name;
        }
        std::string line;
        for (const char c : draw(value, Lines::ascii, i % 2 == 0)) {
          if (c != '\n') {
            line += c;
            continue;
          }
          EXPECT_LE(line.size(), 68U) << line;
          line.clear();
        }
      }
    }
  });
}

TEST(Tables, events_of_the_m1_with_both_names) {
  std::set<int> codes;
  int linux_names = 0, framework_names = 0;
  for (const apple::Event& event : apple::events()) {
    EXPECT_TRUE(codes.insert(event.code).second) << int{event.code};
    EXPECT_FALSE(event.linux_name.empty() && event.framework_name.empty()) << int{event.code};
    EXPECT_NE(event.counters, 0);
    linux_names += event.linux_name.empty() ? 0 : 1;
    framework_names += event.framework_name.empty() ? 0 : 1;
  }
  // The numbers of events in the driver and in the framework's two tables.
  EXPECT_EQ(linux_names, 65);
  EXPECT_EQ(framework_names, 39 + 17);
  EXPECT_EQ(apple::find_event(0xC6)->framework_name, "indirect_branch_misprediction");
  EXPECT_EQ(apple::find_event(0xCA)->framework_name, "indirect_branch_misprediction");
  EXPECT_EQ(apple::find_event(0x53)->framework_name, "uops_int int_unit_uops");
  EXPECT_EQ(apple::find_event(0x96)->counters, 1 << 7);
  EXPECT_EQ(apple::find_event(0x96)->observed, 1 << 5 | 1 << 6 | 1 << 7);
  EXPECT_EQ(apple::find_event(0x02)->counters, 0x3FD);
  EXPECT_EQ(apple::find_event(0x00), nullptr);
}

TEST(Tables, event_codes_are_unique) {
  std::set<int> codes;
  for (const intel::EventCode& code : intel::event_codes()) {
    EXPECT_TRUE(codes.insert(code.event << 8 | code.umask).second) << code.name;
    EXPECT_FALSE(code.source.document.empty()) << code.name;
  }
}

}  // namespace
}  // namespace tally::pmu
