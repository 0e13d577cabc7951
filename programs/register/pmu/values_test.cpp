// Tests register values from well-known documents, and their common mistakes.
#include <gtest/gtest.h>

#include "programs/register/pmu/codec.hpp"
#include "programs/register/pmu/spec.hpp"

namespace tally::pmu {
namespace {

Value value_of(const std::string& request, std::optional<int> version = {}) {
  const auto read = parse_request(request, {nullptr, version});
  EXPECT_TRUE(read) << request << ": " << (read ? "" : read.error().message);
  return read ? read->values.front() : Value{};
}

std::string summary(const std::string& request) {
  const Value value = value_of(request);
  return value.place.reg && value.place.reg->summary ? value.place.reg->summary(value) : "";
}

std::uint64_t field(const std::string& request, const std::string& name) {
  const Value value = value_of(request);
  for (const Slot& slot : slots(*value.place.reg)) {
    if (slot.name() == name) return slot.of(value.bits);
  }
  ADD_FAILURE() << request << " has no field " << name;
  return 0;
}

std::string reading_of(const std::string& request, const std::string& name) {
  const Value value = value_of(request);
  for (const Slot& slot : slots(*value.place.reg)) {
    if (slot.name() == name) return reading(value, slot);
  }
  ADD_FAILURE() << request << " has no field " << name;
  return {};
}

// Whether a remark of this severity contains the words.
bool remarked(const std::string& request, Severity severity, const std::string& words,
              std::optional<int> version = {}) {
  for (const Remark& remark : check(value_of(request, version))) {
    if (remark.severity == severity && remark.text.find(words) != std::string::npos) return true;
  }
  return false;
}

bool silent(const std::string& request, const std::string& words) {
  for (const Remark& remark : check(value_of(request))) {
    if (remark.text.find(words) != std::string::npos) return false;
  }
  return true;
}

constexpr auto wrong = Severity::wrong;
constexpr auto caution = Severity::caution;
constexpr auto note = Severity::note;

// The HPCTool document.

TEST(HpcTool, fixed_counters_in_user_mode) {
  EXPECT_EQ(summary("0x38D=0x222"),
            "instructions in user mode; core cycles in user mode; reference cycles in user mode");
  EXPECT_EQ(summary("0x38D=0x22A"),
            "instructions in user mode with PMI; core cycles in user mode; reference cycles in user mode");
  EXPECT_EQ(field("0x38D=0x22A", "PMI0"), 1U);
  EXPECT_EQ(field("0x38D=0x222", "PMI0"), 0U);
}

TEST(HpcTool, its_four_events) {
  EXPECT_EQ(summary("186H=4100C4H"), "counts branches retired, in user mode");
  EXPECT_EQ(summary("187H=4100C5H"), "counts branch mispredictions retired, in user mode");
  EXPECT_EQ(summary("188H=414F2EH"), "counts last level cache references, in user mode");
  EXPECT_EQ(summary("189H=41412EH"), "counts last level cache misses, in user mode");
  EXPECT_EQ(summary("186H=4200C4H"), "counts branches retired, in kernel mode");
  EXPECT_EQ(summary("188H=4181D0H"), "counts MEM_UOPS_RETIRED.ALL_LOADS, in user mode");
  EXPECT_EQ(summary("189H=4182D0H"), "counts MEM_UOPS_RETIRED.ALL_STORES, in user mode");
}

TEST(HpcTool, all_seven_counters_at_once) {
  EXPECT_EQ(summary("38FH=7_0000000FH"), "counters 0–3 and fixed counters 0–2 may count");
  EXPECT_EQ(summary("390H=1_00000000H"), "clears the overflow of fixed counter 0");
}

TEST(HpcTool, thresholds_below_the_overflow) {
  EXPECT_EQ(reading_of("309H=0000FFFF_FFFF3CB0H", "count"), "2^48 - 50000: overflows after 50,000 events more");
  EXPECT_EQ(reading_of("309H=FFFF_FFF83000H", "count"), "2^48 - 512000: overflows after 512,000 events more");
}

TEST(HpcTool, a_label_that_is_wrong) {
  EXPECT_EQ(summary("0x186=0x4101C2"), "counts UOPS_RETIRED.ALL, in user mode");
  EXPECT_TRUE(remarked("0x186=0x4101C2", caution, "it is not an L3 cache miss"));
  EXPECT_TRUE(remarked("0x186=0x4101C2", caution, "2EH, umask 41H"));
  EXPECT_TRUE(silent("0x186=0x41412E", "no L3 cache miss"));
}

TEST(HpcTool, fixed_counter_2_does_not_count_core_cycles) {
  EXPECT_TRUE(remarked("0x38D=0x22A", note, "core cycles are fixed counter 1"));
  EXPECT_TRUE(silent("0x38D=0x022", "core cycles are fixed counter 1"));
  EXPECT_TRUE(remarked("0x30B=1", note, "core cycles are IA32_FIXED_CTR1"));
  EXPECT_TRUE(silent("0x30A=1", "core cycles are"));
}

TEST(HpcTool, a_counter_joined_from_signed_halves) {
  EXPECT_TRUE(remarked("0x309=0xFFFFFFFF80000000", caution, "Join them unsigned"));
  EXPECT_TRUE(remarked("0xC1=0xFFFFFFFF80000000", caution, "Join them unsigned"));
  EXPECT_TRUE(silent("0x309=0xFFFF80000000", "Join them unsigned"));
}

TEST(HpcTool, a_handler_that_leaves_the_interrupt_masked) {
  EXPECT_TRUE(remarked("834H=10033H", note, "does not clear bit 16 sees one only"));
  EXPECT_TRUE(silent("834H=33H", "bit 16"));
}

// The Intel perfmon notes.

TEST(PerfmonNotes, its_first_experiment) {
  EXPECT_EQ(summary("IA32_PERFEVTSEL0=5300C0H"),
            "counts instructions retired, in user and kernel mode; interrupt at overflow");
  EXPECT_EQ(summary("38EH=1"), "overflow of counter 0");
  EXPECT_EQ(summary("LVT=33H"), "vector 33H, Fixed");
  EXPECT_EQ(summary("FEE00340H=10033H"), "vector 33H, Fixed, masked: no interrupt is delivered");
  EXPECT_EQ(summary("38EH=08000000_00000001H"), "overflow of counter 0; counters frozen");
}

TEST(PerfmonNotes, the_version_is_not_the_number_of_counters) {
  EXPECT_EQ(summary("CPUID.0AH:EAX=0x07300403"), "version 3: 4 counters of 48 bits, 7 architectural events known");
  EXPECT_TRUE(remarked("CPUID.0AH:EAX=0x07300403", note, "the version is bits 7:0, 3; 4 is the number of counters"));
}

TEST(PerfmonNotes, the_enable_of_fixed_counter_0) {
  EXPECT_EQ(summary("38DH=0BH"), "instructions in user and kernel mode with PMI");
  EXPECT_TRUE(remarked("38DH=0BH", note, "not bit 4"));
  EXPECT_TRUE(remarked("38DH=10H", caution, "the enable of fixed counter 0 is bits 1:0"));
  EXPECT_TRUE(silent("38DH=22AH", "bit 4"));
}

TEST(PerfmonNotes, a_reset_that_leaves_a_bit) {
  EXPECT_TRUE(remarked("390H=3_0000000FH", caution, "leaves bit 34"));
  EXPECT_TRUE(silent("390H=7_0000000FH", "bit 34"));
}

TEST(PerfmonNotes, reserved_vectors_raise_no_exception) {
  EXPECT_TRUE(remarked("LVT=0FH", wrong, "It raises no exception"));
  EXPECT_TRUE(silent("LVT=10H", "exception"));
  EXPECT_TRUE(silent("LVT=400H", "exception"));  // NMI has no vector
  EXPECT_TRUE(remarked("LVT=733H", wrong, "Fixed, SMI or NMI only"));
}

TEST(PerfmonNotes, a_legacy_write_ignores_edx) {
  EXPECT_TRUE(remarked("0xC1=0xFFFFFFFFFFFF", note, "EDX is ignored"));
  EXPECT_TRUE(remarked("0xC1=0x80000000", note, "this puts 0xffff80000000 into a counter"));
  EXPECT_TRUE(remarked("0xC2=0xFFFF00000001", caution, "MSR 4C2H takes all bits"));
  EXPECT_TRUE(silent("0xC1=0x7FFFFFFF", "EDX"));
}

TEST(PerfmonNotes, global_control_is_not_zero_after_power_up) {
  EXPECT_TRUE(remarked("38FH=0", note, "After power-up this register is not 0"));
  EXPECT_TRUE(remarked("186H=4100C4H", note, "after power-up it is"));
  EXPECT_NE(value_of("38FH").place.reg->reset.find("2^n - 1"), std::string_view::npos);
}

TEST(PerfmonNotes, pebs_on_fixed_counters) {
  EXPECT_TRUE(remarked("3F1H=1_00000000H", note, "since Ice Lake; documents that deny it are older"));
  EXPECT_TRUE(silent("3F1H=1", "Ice Lake"));
}

TEST(PerfmonNotes, freezing_differs_by_version) {
  EXPECT_TRUE(remarked("IA32_DEBUGCTL=1000H", note, "version 4 sets IA32_PERF_GLOBAL_STATUS[59]"));
  EXPECT_TRUE(remarked("38EH=08000000_00000000H", note, "until bit 59 is written to 390H"));
}

// The RDPMC article.

TEST(RdpmcArticle, user_mode_reads) {
  EXPECT_EQ(field("CR4=0x100", "PCE"), 1U);
  EXPECT_TRUE(remarked("CR4=0", note, "raises #GP(0), not #UD"));
  EXPECT_EQ(summary("RDPMC:ECX=0x40000000"), "reads IA32_FIXED_CTR0 (instructions)");
  EXPECT_EQ(summary("RDPMC=0x40000001"), "reads IA32_FIXED_CTR1 (core cycles)");
  EXPECT_EQ(summary("RDPMC=0x40000002"), "reads IA32_FIXED_CTR2 (reference cycles)");
  EXPECT_EQ(summary("RDPMC=3"), "reads IA32_PMC3");
  EXPECT_EQ(summary("RDPMC=0x20000000"), "reads PERF_METRICS");
  EXPECT_TRUE(remarked("RDPMC=0x80000000", wrong, "Netburst"));
  EXPECT_TRUE(remarked("RDPMC=0x10000000", wrong, "#GP(0)"));
}

TEST(RdpmcArticle, its_driver) {
  EXPECT_EQ(
      summary("38DH=333H"),
      "instructions in user and kernel mode; core cycles in user and kernel mode; reference cycles in user and kernel "
      "mode");
  EXPECT_EQ(summary("IA32_PERFEVTSEL2:event=0xD1,umask=0x20,usr,os,en"),
            "counts MEM_LOAD_UOPS_RETIRED.L3_MISS, in user and kernel mode");
}

TEST(RdpmcArticle, labels_that_are_wrong) {
  EXPECT_TRUE(remarked("188H=4320D1H", caution, "often published as an L3 hit, which is umask 04H"));
  EXPECT_TRUE(remarked("189H=4340D1H", caution, "often published as an L3 miss, which is umask 20H"));
  EXPECT_TRUE(remarked("186H=434124H", caution, "encode this event with umask C1H"));
  EXPECT_EQ(summary("186H=43C124H"), "counts L2_RQSTS.DEMAND_DATA_RD_HIT, in user and kernel mode");
  EXPECT_EQ(summary("187H=432124H"), "counts L2_RQSTS.DEMAND_DATA_RD_MISS, in user and kernel mode");
  EXPECT_EQ(summary("188H=4304D1H"), "counts MEM_LOAD_UOPS_RETIRED.L3_HIT, in user and kernel mode");
}

// The M1 framework document.

TEST(AppleM1, published_constants) {
  EXPECT_EQ(summary("PMCR0_EL1=0x3003400ff4ff"),
            "counters 0–9 are on; interrupt mode FIQ; counters 0–9 interrupt; EL0 may use the registers");
  for (const char* clear : {"STOP", "DEFER", "L2C", "IACT"}) EXPECT_EQ(field("PMCR0_EL1=0x3003400ff4ff", clear), 0U);
  EXPECT_EQ(summary("PMCR0=0x3000400ff403"),
            "counters 0, 1 are on; interrupt mode FIQ; counters 0–9 interrupt; EL0 may use the registers");
  EXPECT_EQ(summary("PMCR1=0x3000003ff00"), "EL0: counters 0–9; EL1: counters 0, 1");
}

TEST(AppleM1, sampling_is_possible) {
  EXPECT_TRUE(remarked("PMCR0_EL1=0x3003400ff4ff", note, "loading 2^47 - N samples every N events"));
  EXPECT_EQ(reading_of("PMC1=0x7FFFFFFFFC18", "count"), "2^47 - 1000: overflows after 1,000 events more");
  EXPECT_EQ(reading_of("PMC1=0x800000000000", "count"), "bit 47 is set: overflowed");
}

TEST(AppleM1, two_registers_of_events) {
  EXPECT_TRUE(remarked("PMESR0_EL1=0", note, "PMC6 to 9 are in PMESR1 (S3_1_C15_C6_0)"));
  EXPECT_EQ(name(value_of("S3_1_C15_C6_0=0").place), "PMESR1_EL1");
  EXPECT_EQ(name(value_of("S3_1_C15_C5_0=0").place), "PMESR0_EL1");
  EXPECT_EQ(reading_of("PMESR1=0x9600", "PMC7"), "INST_INT_ST (Linux), instruction_int_store (M1 framework)");
}

TEST(AppleM1, counters_that_cannot_count_an_event) {
  EXPECT_TRUE(remarked("PMESR0=0x01", caution, "event 01H is counted by PMC 7 in Linux's driver, not by PMC 2"));
  EXPECT_TRUE(remarked("PMESR0=0x96000000", note, "others saw it on 5–7"));
  EXPECT_TRUE(silent("PMESR1=0x9600", "96H"));
  EXPECT_TRUE(silent("PMESR0=0xC5000000", "C5H"));
}

TEST(AppleM1, registers_that_are_easily_confused) {
  EXPECT_EQ(address(value_of("PMC7=0").place), "S3_2_C15_C7_0");
  EXPECT_EQ(address(value_of("PMC8=0").place), "S3_2_C15_C9_0");
  EXPECT_EQ(address(value_of("PMC9=0").place), "S3_2_C15_C10_0");
  EXPECT_EQ(address(value_of("UPMC7=0").place), "S3_7_C15_C14_4");
  EXPECT_EQ(address(value_of("UPMC8=0").place), "S3_7_C15_C0_5");
  EXPECT_TRUE(remarked("PMCR0=0x200000", caution, "Asahi and the M1 framework in bit 23"));
}

// Reserved bits, and versions.

TEST(Reserved, bits_fault_where_intel_says_so) {
  EXPECT_TRUE(remarked("186H=8000000000000000H", wrong, "bit 63 is reserved: WRMSR of this value raises #GP(0)"));
  EXPECT_TRUE(remarked("PMCR_EL0=0x100", caution, "bit 8 is reserved"));
  EXPECT_TRUE(silent("CR4=0xFFFFFFFF", "reserved"));  // bits of other units
  EXPECT_TRUE(remarked("1A4H=FFH", caution, "bits 4, 6, 7 are reserved on the processors that have these fields"));
  EXPECT_TRUE(silent("1A4H=2FH", "reserved"));
  EXPECT_TRUE(remarked("1A6H=8000000000000000H", caution, "bit 63 is reserved on the processors"));
}

TEST(Reserved, ignored_bits_are_not_reserved) {
  EXPECT_TRUE(silent("0xC1=0xFFFFFFFF80000000", "reserved"));
  EXPECT_TRUE(remarked("0x4C1=0x1000000000000", wrong, "bit 48 is reserved"));
}

TEST(Reserved, bits_depend_on_the_version) {
  EXPECT_TRUE(remarked("186H=610000H", caution, "ANY (bit 21)"));
  EXPECT_TRUE(remarked("186H=610000H", note, "ANY: versions 3 to 4"));
  EXPECT_TRUE(remarked("186H=610000H", wrong, "bit 21 is reserved in this version", 5));
  EXPECT_TRUE(silent("186H=4100C4H", "version 3"));
  EXPECT_TRUE(remarked("391H=0", wrong, "exists since version 4 only", 3));
  EXPECT_FALSE(remarked("391H=0", wrong, "exists", 4));
}

TEST(EventSelect, conditions_that_count_nothing) {
  EXPECT_TRUE(remarked("186H=4000C0H", caution, "neither USR nor OS"));
  EXPECT_TRUE(remarked("186H=100C0H", caution, "the counter does not count"));
  EXPECT_TRUE(remarked("186H=C100C0H", caution, "INV has no effect"));
  EXPECT_TRUE(remarked("186H=410000H", caution, "event select 0"));
  EXPECT_TRUE(remarked("186H=4900C0H", caution, "PC (bit 19)"));
  EXPECT_TRUE(remarked("186H=2_004100C0H", wrong, "counter 2 only"));
  EXPECT_TRUE(silent("188H=2_004100C0H", "counter 2 only"));
  EXPECT_TRUE(remarked("186H=2C541C4H", note, "cpu/event=0xc4,umask=0x41,cmask=2,inv,edge/u"));
}

// AMD and Arm.

TEST(Amd, the_event_in_two_parts) {
  EXPECT_EQ(field("PERF_CTL0=F_00000076H", "event"), 0xF76U);
  EXPECT_EQ(value_of("PERF_CTL0:event=0xF76").bits, 0xF'0000'0076U);
  EXPECT_EQ(name(value_of("0xC0010202=0").place), "PERF_CTL1");
  EXPECT_EQ(name(value_of("0xC0010203=0").place), "PERF_CTR1");
  EXPECT_EQ(summary("0xC0010200=0x4300C0"), "counts instructions retired, in user and kernel mode");
  EXPECT_TRUE(remarked("0xC0010200=0x4300C4", note, "0C4H is taken branches here"));
}

TEST(Amd, precise_counts_on_counter_2_alone) {
  EXPECT_EQ(field("PERF_CTL2=80000_4300C0H", "PREC_RET"), 1U);
  EXPECT_TRUE(remarked("PERF_CTL1=80000_4300C0H", caution, "reserved on every counter but 2"));
  EXPECT_TRUE(silent("PERF_CTL2=80000_4300C0H", "PREC_RET"));
}

TEST(Amd, the_status_of_version_2) {
  EXPECT_EQ(field("0xC0000300=4000000_00000000H", "LBR_Frz"), 1U);
  EXPECT_EQ(field("0xC0000300=8000000_00000000H", "PMC_Frz"), 1U);
  EXPECT_EQ(name(value_of("0xC0000303=0").place), "PerfCntrGlobalStatusSet");
  EXPECT_EQ(name(value_of("0xC00000E9=0").place), "IRPERF");
}

TEST(Intel, registers_of_models_are_explained) {
  EXPECT_EQ(name(value_of("1A4H=0").place), "MSR_PREFETCH_CONTROL");
  EXPECT_EQ(name(value_of("MSR_MISC_FEATURE_CONTROL=5").place), "MSR_PREFETCH_CONTROL");
  EXPECT_EQ(field("1A4H=4", "DCU_OFF"), 1U);
  EXPECT_EQ(name(value_of("OFFCORE_RSP_1=0").place), "MSR_OFFCORE_RSP_1");
  // libpfm4's snb::OFFCORE_RESPONSE_0:DMND_RFO:HITM has 10_00010002H.
  EXPECT_EQ(field("1A6H=10_00010002H", "DMND_RFO"), 1U);
  EXPECT_EQ(field("1A6H=10_00010002H", "ANY_RESPONSE"), 1U);
  EXPECT_EQ(field("1A6H=10_00010002H", "HITM"), 1U);
}

TEST(Arm, filters_exclude) {
  EXPECT_EQ(summary("PMEVTYPER0_EL0=0x08"), "counts INST_RETIRED at EL0 and EL1 (and EL3)");
  EXPECT_EQ(summary("PMEVTYPER0=0x80000008"), "counts INST_RETIRED at EL0");
  EXPECT_EQ(summary("PMEVTYPER0=0x8000008"), "counts INST_RETIRED at EL0, EL1 and EL2 (and EL3)");
  EXPECT_EQ(summary("PMEVTYPER0=0xC000777"), "counts event 0x777 at EL0, EL1 and EL2");
  EXPECT_EQ(summary("PMEVTYPER0=0x50000011"), "counts CPU_CYCLES at Non-secure EL0 and EL1 (and EL3)");
  EXPECT_EQ(summary("PMEVTYPER0=0x20000011"), "counts CPU_CYCLES at EL0 and Secure EL1 (and EL3)");
  EXPECT_EQ(summary("PMCCFILTR_EL0=0x9000000"), "counts at EL0, EL1 and Non-secure EL2 (and EL3)");
  EXPECT_EQ(summary("PMCCFILTR_EL0=0xC0000000"), "counts at no exception level");
  EXPECT_TRUE(remarked("PMEVTYPER0=0x80000008", note, "counts the opposite"));
  EXPECT_EQ(reading_of("PMEVTYPER0=0x08", "event"), "INST_RETIRED");
  EXPECT_TRUE(remarked("PMEVTYPER2=0x1E", wrong, "odd counters only"));
  EXPECT_TRUE(silent("PMEVTYPER3=0x1E", "odd counters"));
}

TEST(Arm, explains_each_filter_bit_with_its_value) {
  const struct {
    const char *value, *field, *reading;
  } cases[] = {{"0", "P", "counts EL1"},
               {"0", "U", "counts EL0"},
               {"0", "NSK", "equal to P: counts Non-secure EL1"},
               {"0", "NSH", "does not count EL2"},
               {"0", "SH", "equal to NSH: does not count Secure EL2"},
               {"0", "M", "equal to P: counts EL3"},
               {"0x80000000", "P", "does not count EL1"},
               {"0x80000000", "NSK", "different from P: does not count Non-secure EL1"},
               {"0xA0000000", "P", "does not count Secure EL1"},
               {"0xA0000000", "NSK", "equal to P: counts Non-secure EL1"},
               {"0x20000000", "P", "counts Secure EL1"},
               {"0x50000000", "U", "does not count Secure EL0"},
               {"0x9000000", "NSH", "counts Non-secure EL2"},
               {"0x1000000", "SH", "different from NSH: counts Secure EL2"}};
  for (const auto& one : cases) {
    EXPECT_EQ(reading_of(std::string("PMCCFILTR_EL0=") + one.value, one.field), one.reading) << one.value;
    EXPECT_EQ(reading_of(std::string("PMEVTYPER3_EL0=") + one.value, one.field), one.reading) << one.value;
  }
}

TEST(Arm, encodings_of_rows) {
  EXPECT_EQ(address(value_of("PMEVCNTR0_EL0=0").place), "S3_3_C14_C8_0");
  EXPECT_EQ(address(value_of("PMEVCNTR30_EL0=0").place), "S3_3_C14_C11_6");
  EXPECT_EQ(address(value_of("PMEVTYPER8_EL0=0").place), "S3_3_C14_C13_0");
  EXPECT_EQ(address(value_of("PMCCFILTR_EL0=0").place), "S3_3_C14_C15_7");
  EXPECT_EQ(field("PMCR_EL0=0x41002001", "N"), 4U);
}

}  // namespace
}  // namespace tally::pmu
