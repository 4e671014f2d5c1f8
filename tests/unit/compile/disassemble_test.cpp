#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <sstream>
#include <thread>

#include "compile/elf_reader.h"
#include "compile/sass.h"
#include "platform/atomic_file.h"
#include "platform/confine.h"
#include "support/variable.h"
#include "unit/compile/recorded.h"

namespace attnscope::compile {
namespace {

namespace fs = std::filesystem;

// A fake nvdisasm that counts its runs; `body` is shell. It writes where the real nvdisasm may not.
class Disassemble : public testing::Test {
 protected:
  const testing_support::Variable no_walls{"ATTNSCOPE_CONFINE", "off"};
  fs::path program(const std::string& body) {
    const fs::path file = folder.path / "nvdisasm";
    std::ofstream(file) << "#!/bin/sh\necho run >> " << runs_file.string() << "\n" << body << "\n";
    chmod(file.c_str(), 0755);
    return file;
  }
  fs::path recorded_program() {
    return program("echo 'nvdisasm warning : Dataflow analysis disabled due to previous warnings' >&2\ncat " +
                   recorded_file(recorded, ".txt").string());
  }
  int runs() const {
    std::ifstream stream(runs_file);
    int count = 0;
    for (std::string line; std::getline(stream, line);) ++count;
    return count;
  }
  std::vector<fs::path> entries() const {
    std::vector<fs::path> found;
    if (fs::exists(cache))
      for (const auto& entry : fs::directory_iterator(cache)) found.push_back(entry.path());
    return found;
  }
  Result<std::shared_ptr<const SassProgram>> run(const fs::path& nvdisasm, int deadline_ms = 20000) {
    return disassemble(bytes_of(cubin), "features", {nvdisasm, cache, deadline_ms});
  }

  TemporaryFolder folder;
  const fs::path runs_file = folder.path / "runs", cache = folder.path / "cache";
  const Recorded recorded = {89, "13.0"};
  const std::string cubin = text_of(recorded_file(recorded, ".cubin"));
};

TEST_F(Disassemble, TheSecondTimeNoProgramRuns) {
  const fs::path fake = recorded_program();
  auto first = run(fake), second = run(fake);
  ASSERT_TRUE(first) << first.error().message;
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_EQ(runs(), 1);
  EXPECT_EQ((*first)->instructions.size(), (*second)->instructions.size());
  EXPECT_EQ((*first)->code_hash, (*second)->code_hash);
}

TEST_F(Disassemble, WithoutACacheFolderItRunsEveryTime) {
  const fs::path fake = recorded_program();
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(disassemble(bytes_of(cubin), "features", {fake, {}, 20000}));
  EXPECT_EQ(runs(), 2);
}

TEST_F(Disassemble, ATruncatedOrDamagedEntryIsMadeAgain) {
  const fs::path fake = recorded_program();
  ASSERT_TRUE(run(fake));
  ASSERT_EQ(entries().size(), 1u);
  const fs::path entry = entries()[0];
  fs::resize_file(entry, fs::file_size(entry) / 2);
  ASSERT_TRUE(run(fake));
  EXPECT_EQ(runs(), 2);
  std::string text = text_of(entry);
  text[text.size() / 2] ^= 1;
  std::ofstream(entry, std::ios::binary) << text;
  ASSERT_TRUE(run(fake));
  EXPECT_EQ(runs(), 3);
  std::ofstream(entry, std::ios::binary | std::ios::trunc);
  ASSERT_TRUE(run(fake));
  EXPECT_EQ(runs(), 4);
  ASSERT_TRUE(run(fake));
  EXPECT_EQ(runs(), 4);
}

TEST_F(Disassemble, AFullDiskCostsOnlyTheCache) {
  platform::inject_write_fault(platform::WriteFault{cache.string(), 1000, ENOSPC});
  auto program = run(recorded_program());
  platform::inject_write_fault(std::nullopt);
  EXPECT_TRUE(program);
  EXPECT_TRUE(entries().empty());
}

TEST_F(Disassemble, TwoAtOnceBothSucceed) {
  const fs::path fake = recorded_program();
  std::vector<std::thread> threads;
  std::atomic<int> good = 0;
  for (int i = 0; i < 4; ++i) threads.emplace_back([&] { good += run(fake).has_value(); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, 4);
  EXPECT_EQ(entries().size(), 1u);
  const int before = runs();
  EXPECT_TRUE(run(fake));
  EXPECT_EQ(runs(), before);
}

TEST_F(Disassemble, AFailingProgramIsNamedWithItsComplaint) {
  auto failed = run(program("echo 'nvdisasm fatal : broken' >&2\nexit 7"));
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().stage, Stage::decode);
  EXPECT_NE(failed.error().message.find("exit status 7"), std::string::npos) << failed.error().message;
  EXPECT_NE(failed.error().hint.find("broken"), std::string::npos);
  EXPECT_TRUE(entries().empty());
}

TEST_F(Disassemble, OnlyTheHarmlessWarningsAreDropped) {
  auto failed =
      run(program("echo 'nvdisasm warning : Dataflow analysis disabled due to previous warnings' >&2\n"
                  "echo 'nvdisasm warning : something new' >&2\nexit 1"));
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().hint, "nvdisasm warning : something new\n");
}

TEST_F(Disassemble, AProgramThatHangsIsEnded) {
  auto failed = run(program("exec sleep 100"), 200);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().stage, Stage::deadline);
}

// nvdisasm takes seconds per gigabyte of zeroes and prints none of them, so that a source's large buffers are left out.
TEST_F(Disassemble, TheProgramSeesNoLargeBufferOfZeroes) {
  const auto elf = read_elf(bytes_of(cubin), kElfMachineCuda);
  const auto zeroes = std::ranges::find(elf->sections, ".nv.global", &ElfSection::name);
  ASSERT_NE(zeroes, elf->sections.end());
  const size_t section = *load_at<uint64_t>(bytes_of(cubin), 0x28) + 64 * size_t(zeroes - elf->sections.begin()) + 0x20;
  const size_t symbol = symbol_at(cubin, "hits") + 16;
  const auto print = [](size_t at) { return fmt::format("od -A n -t u8 -j {} -N 8 \"$cubin\" >&2\n", at); };
  const fs::path fake = program("for cubin; do :; done\n" + print(section) + print(symbol) + "exit 1");
  const auto seen = [&](uint64_t bytes) {
    std::string changed = cubin;
    put_64(changed, section, bytes);
    put_64(changed, symbol, bytes);
    const auto failed = disassemble(bytes_of(changed), "features", {fake, cache, 20000});
    std::istringstream told(failed ? "" : failed.error().hint);
    uint64_t of_section = 1, of_symbol = 1;
    told >> of_section >> of_symbol;
    return std::pair(of_section, of_symbol);
  };
  constexpr uint64_t few = 1 << 20, none = 0;
  EXPECT_EQ(seen(4), std::pair(uint64_t{4}, uint64_t{4}));
  EXPECT_EQ(seen(few), std::pair(few, few));
  EXPECT_EQ(seen(few + 1), std::pair(none, none));
}

TEST_F(Disassemble, AnotherKernelsTextIsRefusedAndNotKept) {
  auto failed = run(program("cat " + recorded_file({80, "13.0"}, ".txt").string()));
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().stage, Stage::decode);
  EXPECT_TRUE(entries().empty());
}

TEST_F(Disassemble, AMissingProgramIsAFailureThatSaysWhatToDo) {
  auto failed = run(folder.path / "not-there");
  ASSERT_FALSE(failed);
  EXPECT_NE(failed.error().message.find("not-there"), std::string::npos);
  EXPECT_FALSE(failed.error().hint.empty());
}

TEST_F(Disassemble, WithoutNvdisasmTheShippedListingOfThatCodeServes) {
  const std::string nowhere = (folder.path / "nowhere").string();
  const testing_support::Variable hidden[] = {{"ATTNSCOPE_NVDISASM", nowhere},
                                              {"ATTNSCOPE_RESOURCES", folder.path.string()}};
  const fs::path programs = folder.path / "assets" / "programs";
  fs::create_directories(folder.path / "kernels");
  fs::create_directories(programs);
  auto refused = run({});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find(nowhere), std::string::npos);

  auto listed = run(recorded_program());  // as in a bundle: only the code names the cache's entry
  ASSERT_TRUE(listed) << listed.error().message;
  ASSERT_EQ(entries().size(), 1u);
  fs::copy_file(entries().front(), programs / ((*listed)->code_hash + ".sass"));
  fs::remove_all(cache);
  auto shipped = run({});
  ASSERT_TRUE(shipped) << shipped.error().message;
  EXPECT_EQ((*shipped)->instructions.size(), (*listed)->instructions.size());
  EXPECT_EQ((*shipped)->code_hash, (*listed)->code_hash);

  const std::string other = text_of(recorded_file({80, "12.8"}, ".cubin"));
  EXPECT_FALSE(disassemble(bytes_of(other), "features", {})) << "another code has no listing here";
}

TEST_F(Disassemble, TheRealProgramPrintsWhatWasRecorded) {
  if (!find_nvdisasm()) GTEST_SKIP() << "nvdisasm is not on this machine";
  for (const Recorded& one : recordings()) {
    const std::string bytes = text_of(recorded_file(one, ".cubin"));
    auto now = disassemble(bytes_of(bytes), "features", {});
    ASSERT_TRUE(now) << now.error().message << now.error().hint;
    auto kernel = read_cubin(bytes_of(bytes), "features");
    ASSERT_TRUE(kernel);
    auto then = parse_nvdisasm(text_of(recorded_file(one, ".txt")), *kernel);
    ASSERT_TRUE(then);
    ASSERT_EQ((*now)->instructions.size(), then->instructions.size());
    for (size_t i = 0; i < then->instructions.size(); ++i) {
      EXPECT_EQ((*now)->instructions[i].opcode, then->instructions[i].opcode);
      EXPECT_EQ((*now)->instructions[i].modifiers, then->instructions[i].modifiers);
      EXPECT_EQ((*now)->instructions[i].line.line, then->instructions[i].line.line);
    }
  }
}

TEST_F(Disassemble, TheProgramSeesNoFileButItsOwn) {
  if (platform::landlock_version() == 0) GTEST_SKIP() << "this system has no landlock";
  const fs::path secret = folder.path / "secret";
  std::ofstream(secret) << "SECRET_WORD\n";
  fs::create_directory(folder.path / "bin");
  const fs::path fake = folder.path / "bin" / "nvdisasm", written = folder.path / "written";
  std::ofstream(fake) << "#!/bin/sh\ncat " << secret.string() << " >&2\necho x > " << written.string() << "\nexit 7\n";
  chmod(fake.c_str(), 0755);
  auto open = run(fake);
  ASSERT_FALSE(open);
  EXPECT_NE(open.error().hint.find("SECRET_WORD"), std::string::npos) << "the fake nvdisasm does not work";
  EXPECT_TRUE(fs::remove(written));
  unsetenv("ATTNSCOPE_CONFINE");
  auto confined = run(fake);
  ASSERT_FALSE(confined);
  EXPECT_NE(confined.error().message.find("exit status 7"), std::string::npos) << confined.error().message;
  EXPECT_EQ(confined.error().hint.find("SECRET_WORD"), std::string::npos) << confined.error().hint;
  EXPECT_FALSE(fs::exists(written));
}

}  // namespace
}  // namespace attnscope::compile
