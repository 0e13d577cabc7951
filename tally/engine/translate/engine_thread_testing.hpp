// A thread of the engine in a test: the decoder saves the vector registers of the program for libZydis.
#pragma once

#include <asm/prctl.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tally/engine/guest_thread.hpp"
#include "tally/engine/translate/decode.hpp"

namespace tally::engine::translate {

class EngineThreadTest : public testing::Test {
 protected:
  void SetUp() override {
    thread_.self = &thread_;
    // The engine finds its thread at the GS base.
    ASSERT_EQ(syscall(SYS_arch_prctl, ARCH_SET_GS, &thread_), 0);
    decoder_init();
  }
  void TearDown() override { syscall(SYS_arch_prctl, ARCH_SET_GS, 0); }

 private:
  alignas(64) Thread thread_{};
};

}  // namespace tally::engine::translate
