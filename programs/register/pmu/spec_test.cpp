#include "programs/register/pmu/spec.hpp"

#include <gtest/gtest.h>

#include <random>

#include "programs/register/pmu/any_request_testing.hpp"
#include "programs/register/pmu/draw.hpp"
#include "tally/core/base/holds_testing.hpp"

namespace tally::pmu {
namespace {

std::uint64_t bits(const std::string& text) {
  const auto request = parse_request(text);
  EXPECT_TRUE(request) << text << ": " << (request ? "" : request.error().message);
  return request ? request->values.front().bits : 0;
}

// "message | hint" of a refused request.
std::string refusal(const std::string& text, const Choice& choice = {}) {
  const auto request = parse_request(text, choice);
  if (request) return "accepted";
  EXPECT_EQ(request.error().code, Code::bad_usage);
  return request.error().message + " | " + request.error().hint;
}

TEST(Number, parses_every_notation) {
  EXPECT_EQ(parse_number("0x38D"), 0x38DU);
  EXPECT_EQ(parse_number("0X38d"), 0x38DU);
  EXPECT_EQ(parse_number("38DH"), 0x38DU);
  EXPECT_EQ(parse_number("0C4h"), 0xC4U);
  EXPECT_EQ(parse_number("FFFF_FFF83000H"), 0xFFFFFFF83000U);
  EXPECT_EQ(parse_number("909"), 909U);
  EXPECT_EQ(parse_number("0b101"), 5U);
  EXPECT_EQ(parse_number("0B1H"), 0xB1U);
  EXPECT_EQ(parse_number("1'000"), 1000U);
  EXPECT_EQ(parse_number("0xffffffffffffffff"), ~0ULL);
  for (const char* none : {"", "H", "0x", "x", "-1", "+1", "1 ", "0x10000000000000000", "18446744073709551616", "12G",
                           "_1", "1_", "0b2", "0x1H2", "PMC0"}) {
    EXPECT_EQ(parse_number(none), std::nullopt) << none;
  }
}

TEST(Request, names_and_numbers) {
  for (const char* same : {"IA32_PERFEVTSEL0", "ia32_perfevtsel0", "PERFEVTSEL0", "EVTSEL0", "0x186", "186H", "390"}) {
    const auto request = parse_request(same);
    ASSERT_TRUE(request) << same;
    EXPECT_EQ(name(request->values.front().place), "IA32_PERFEVTSEL0") << same;
    EXPECT_FALSE(request->has_value);
  }
  EXPECT_EQ(name(parse_request("s3_3_c9_c12_0")->values.front().place), "PMCR_EL0");
  EXPECT_EQ(name(parse_request("pmcr")->values.front().place), "PMCR_EL0");
}

TEST(Request, values_made_of_fields) {
  EXPECT_EQ(bits("IA32_PERFEVTSEL0:event=0xc0,umask=1,usr,en"), 0x4101C0U);
  EXPECT_EQ(bits("0x186: event=0C4H , USR=1, en"), 0x4100C4U);
  EXPECT_EQ(bits("0x186=0x4100C4:usr=0,os"), 0x4200C4U);
  EXPECT_EQ(bits("0x38D:USR0,PMI0,USR1,USR2"), 0x22AU);
  EXPECT_EQ(bits("PMCR0:EN9,mode=fiq,EL0"), 0x2'4000'0400U);
  EXPECT_EQ(bits("CPUID.0AH:EAX:version=3,counters=4,width=48,events=7"), 0x07300403U);
  EXPECT_EQ(bits("RDPMC:type=fixed,index=2"), 0x40000002U);
  EXPECT_EQ(bits("RDPMC:ECX:type=0x4000"), 0x40000000U);
  EXPECT_TRUE(parse_request("0x186:en")->encoded);
}

TEST(Request, fields_have_the_names_that_are_shown) {
  EXPECT_EQ(bits("PMCR0_EL1:EN7..0=0xff"), 0xFFu);
  EXPECT_EQ(bits("PMCR0_EL1:en7..0=0xf0,EN9..8=3,MODE=FIQ"), 0x3000004F0u);
  EXPECT_EQ(bits("PMCR0_EL1=0xff:EN3..2=0"), 0xF3u);
  for (const Model* model : models()) {
    for (const RegisterInstance& place : places(*model)) {
      for (const Field& field : place.reg->fields) {
        const std::string shown = is_run(field) ? run_name(field) : Slot{&field, 0}.name();
        const auto made = encode(place, {}, {{shown, "1"}});
        ASSERT_TRUE(made) << name(place) << " " << shown << ": " << made.error().message;
        EXPECT_EQ(made->bits, std::uint64_t{1} << field.lsb) << name(place) << " " << shown;
      }
    }
  }
  EXPECT_TRUE(holds(refusal("PMCR0_EL1:EN7..0"), "EN7..0 has 8 bits and needs a value"));
  EXPECT_TRUE(holds(refusal("PMCR0_EL1:EN7..0=0x100"), "does not fit"));
  EXPECT_TRUE(holds(refusal("PMCR0_EL1:EN7..0=1,EN3"), "named twice"));
  EXPECT_TRUE(holds(refusal("PMCR0_EL1:EN9..0=1"), "has no field"));
}

TEST(Request, negative_numbers_are_a_distance_below_the_overflow) {
  EXPECT_EQ(bits("IA32_PMC0=-1000"), (1ULL << 48) - 1000);
  EXPECT_EQ(bits("IA32_FIXED_CTR1=-1"), (1ULL << 48) - 1);
  EXPECT_EQ(bits("IA32_PERFEVTSEL0:cmask=-1"), 0xFF000000u);
  EXPECT_EQ(bits("PMEVCNTR0_EL0=-2"), ~1ULL);
  EXPECT_TRUE(holds(refusal("IA32_PMC0=-0x1000000000000"), "does not fit IA32_PMC0, which counts with 48 bits"));
  EXPECT_TRUE(holds(refusal("IA32_PERFEVTSEL0:cmask=-256"), "does not fit"));
  EXPECT_TRUE(holds(refusal("IA32_PERFEVTSEL0:en=-1"), "EN"));
}

TEST(Request, a_leaf_has_four_values) {
  const auto request = parse_request("CPUID.0AH=0x07300403,0,0,0x603");
  ASSERT_TRUE(request);
  ASSERT_EQ(request->values.size(), 4U);
  EXPECT_EQ(request->values[0].bits, 0x07300403U);
  EXPECT_EQ(request->values[3].bits, 0x603U);
  const auto some = parse_request("cpuid.0x80000022=1,6,7,8");
  ASSERT_TRUE(some);
  ASSERT_EQ(some->values.size(), 2U);
  EXPECT_EQ(some->values[1].bits, 6U);
  const auto own = parse_request("CPUID.23H.1");
  ASSERT_TRUE(own);
  EXPECT_FALSE(own->has_value);
  EXPECT_EQ(own->leaf, cpuid_output(0x23, 1, 0));
  EXPECT_EQ(with_leaf(*own, {1, 2, 3, 4}).values[1].bits, 2U);
}

TEST(Request, mistakes_are_named) {
  EXPECT_TRUE(holds(refusal("IA32_PERFEVTSEL9"), "no register is called 'IA32_PERFEVTSEL9'"));
  EXPECT_TRUE(holds(refusal("IA32_PERFEVTSLE0"), "did you mean IA32_PERFEVTSEL0"));
  EXPECT_TRUE(holds(refusal("PMCR0_EL2"), "PMCR0_EL1"));
  EXPECT_TRUE(holds(refusal("186=0x4100C4"), "did you mean 186H (IA32_PERFEVTSEL0)?"));
  EXPECT_TRUE(holds(refusal("38D"), "did you mean 38DH (IA32_FIXED_CTR_CTRL)?"));
  EXPECT_TRUE(holds(refusal("0x38D=22A"), "in hexadecimal it is 0x22A"));
  EXPECT_TRUE(holds(refusal("0x999"), "no register has the number 0x999"));
  EXPECT_TRUE(holds(refusal("=5"), "a register's name or number is missing"));
  EXPECT_TRUE(holds(refusal(""), "a register's name or number is missing"));
  EXPECT_TRUE(holds(refusal("0x186="), "'' is not a number of up to 64 bits"));
  EXPECT_TRUE(holds(refusal("0x186=zebra"), "'zebra' is not a number"));
  EXPECT_TRUE(holds(refusal("0x186=0x10000000000000000"), "is not a number of up to 64 bits"));
  EXPECT_TRUE(holds(refusal("LVT=0x100000000"), "0x100000000 does not fit LVT_PERFMON, which has 32 bits"));
  EXPECT_TRUE(holds(refusal("CPUID.0AH:EAX=0x100000000"), "which has 32 bits"));
  EXPECT_TRUE(holds(refusal("0x186:"), "a field's name is missing"));
  EXPECT_TRUE(holds(refusal("0x186:usr,,en"), "a field's name is missing"));
  EXPECT_TRUE(holds(refusal("0x186:usrr"), "IA32_PERFEVTSEL0 has no field 'usrr' | did you mean usr?"));
  EXPECT_TRUE(holds(refusal("0x186:usr,usr=0"), "the field USR is named twice"));
  EXPECT_TRUE(holds(refusal("0x186:event"), "the field event has 8 bits and needs a value"));
  EXPECT_TRUE(holds(refusal("0x186:event=0x1c4"), "event has 8 bits: 0x1c4 does not fit | its largest value is 0xff"));
  EXPECT_TRUE(holds(refusal("0x186:usr=2"), "USR has 1 bit: 2 does not fit"));
  EXPECT_TRUE(holds(refusal("0x186:event=zebra"), "'zebra' is not a number for event"));
  EXPECT_TRUE(holds(refusal("0x186:any", {nullptr, 5}), "IA32_PERFEVTSEL0 has no field 'ANY' in the version chosen"));
  EXPECT_TRUE(holds(refusal("0x186:adaptive", {nullptr, 3}), "has no field 'ADAPTIVE' in the version chosen"));
  EXPECT_TRUE(holds(refusal("0x186:br_cntr", {nullptr, 5}), "has no field 'BR_CNTR' in the version chosen"));
  EXPECT_TRUE(holds(refusal("CPUID.0AH:EBX:no_slots", {nullptr, 3}), "has no field 'no_slots' in the version chosen"));
  EXPECT_TRUE(holds(refusal("0x38D=1", {model_of("arm")}), "no register has the number 0x38D"));
  EXPECT_TRUE(holds(refusal("CPUID.0AH=1,2,3"), "a leaf has four values: CPUID.0AH=EAX,EBX,ECX,EDX"));
  EXPECT_TRUE(holds(refusal("CPUID.0AH:usr"), "a leaf has four values"));
  EXPECT_TRUE(holds(refusal("CPUID.77H"), "unknown leaf CPUID.77H"));
  EXPECT_TRUE(holds(refusal("CPUID.0AH:EAD"), "a leaf has four values"));
}

TEST(Request, versions_by_name_and_number) {
  EXPECT_EQ(version_of(intel_model, "3"), 3);
  EXPECT_EQ(version_of(x86_model, "3"), 3) << "of the monitoring that CPUID.0AH describes";
  EXPECT_EQ(version_of(arm_model, "PMUv3p5"), 6);
  EXPECT_EQ(version_of(arm_model, "pmuv3P5"), 6);
  EXPECT_EQ(version_of(amd_model, "v2"), 2);
  EXPECT_FALSE(version_of(intel_model, "7"));
  EXPECT_TRUE(holds(version_of(intel_model, "7").error().hint, "1, 2, 3, 4, 5, 6"));
}

TEST(Match, a_model_by_its_name) {
  std::size_t apples = 0;
  for (const RegisterInstance& place : matching("apple", nullptr)) apples += place.model->name == "apple" ? 1 : 0;
  EXPECT_EQ(apples, places(*model_of("apple")).size());
  EXPECT_EQ(matching("M1", nullptr).size(), apples);
}

TEST(Match, parts_patterns_and_numbers) {
  EXPECT_EQ(matching("IA32_PERFEVTSEL?").size(), 8U);
  EXPECT_EQ(matching("ia32_fixed_ctr*").size(), 8U);
  EXPECT_EQ(matching("0x38D").size(), 1U);
  EXPECT_EQ(matching("38dh").size(), 1U);
  EXPECT_EQ(matching("no such thing").size(), 0U);
  EXPECT_EQ(matching("", &apple_model).size(), places(apple_model).size());
  EXPECT_EQ(matching("*", &intel_model).size(), places(intel_model).size());
}

TEST(Draw, a_register_of_one_row) {
  EXPECT_EQ(draw(parse_request("0x186=0x4100C4")->values.front()),
            "  3 3 2 2 2 2 2 2 2 2 2 2 1 1 1 1 1 1 1 1 1 1\n"
            "  1 0 9 8 7 6 5 4 3 2 1 0 9 8 7 6 5 4 3 2 1 0 9 8 7 6 5 4 3 2 1 0\n"
            " ┌───────────────┬─┬─┬─┬─┬─┬─┬─┬─┬───────────────┬───────────────┐\n"
            " │0 0 0 0 0 0 0 0│0│1│0│0│0│0│0│1│0 0 0 0 0 0 0 0│1 1 0 0 0 1 0 0│\n"
            " └─────CMASK─────┴─┴─┴─┴─┴─┴─┴─┴─┴─────umask─────┴─────event─────┘\n"
            "                  I E A I P E O U\n"
            "                  N N N N C   S S\n"
            "                  V   Y T       R\n");
}

TEST(Draw, plain_characters_and_bits_in_no_field) {
  EXPECT_EQ(draw(parse_request("LVT=0x80010033")->values.front(), Lines::ascii),
            "  3 3 2 2 2 2 2 2 2 2 2 2 1 1 1 1 1 1 1 1 1 1\n"
            "  1 0 9 8 7 6 5 4 3 2 1 0 9 8 7 6 5 4 3 2 1 0 9 8 7 6 5 4 3 2 1 0\n"
            " +-----------------------------+-+-----+-+-+-----+---------------+\n"
            " |1 . . . . . . . . . . . . . .|1|. . .|0|.|0 0 0|0 0 1 1 0 0 1 1|\n"
            " +-----------------------------+-+-----+-+-+mode-+----vector-----+\n"
            "                                m       s\n"
            "                                a       t\n"
            "                                s       a\n"
            "                                k       t\n"
            "                                        u\n"
            "                                        s\n");
}

TEST(Draw, omits_an_upper_half_without_content) {
  const auto rows = [](const std::string& request, bool layout) {
    const std::string text = draw(parse_request(request)->values.front(), Lines::ascii, layout);
    return holds(text, "  6 6 6 6 5 5") ? 2 : 1;
  };
  EXPECT_EQ(rows("0x38F=0xF", false), 1);
  EXPECT_EQ(rows("0x38F=0x10000000F", false), 2);
  EXPECT_EQ(rows("0x38F", true), 2);
  EXPECT_EQ(rows("PMSELR=1", true), 1);
}

// Any text is parsed or refused, without a crash. Made of fragments of requests, so that many parse.
TEST(Fuzz, any_text_is_parsed_or_refused) {
  std::mt19937_64 random(7);
  const std::vector<std::string> fragments{
      "IA32_", "PERFEVTSEL", "0",     "1",     "=",      ":",        ",",        "0x",  "H",
      "186",   "usr",        "event", "=0xc4", "CPUID.", "0AH",      "EAX",      ".",   "_EL0",
      "PMCR",  "S3_",        "RDPMC", "ECX",   " ",      "-",        "\xff",     "\n",  "FFFFFFFFFFFFFFFFFF",
      "_",     "'",          "#",     "*",     "?",      "80000022", "mode=FIQ", "LVT", "PMESR1",
      "é"};
  int accepted = 0;
  for (int i = 0; i < 8'000; ++i) {
    std::string text;
    for (std::uint64_t n = random() % 9; n > 0; --n) {
      if (random() % 8 == 0) {
        text += static_cast<char>(random());
      } else {
        text += fragments[random() % fragments.size()];
      }
    }
    if (check_any_text(text)) ++accepted;
  }
  EXPECT_GT(accepted, 100);
  for (int i = 0; i < 200; ++i) {
    std::string pattern;
    for (std::uint64_t n = random() % 6; n > 0; --n) pattern += fragments[random() % fragments.size()];
    (void)matching(pattern);
  }
}

}  // namespace
}  // namespace tally::pmu
