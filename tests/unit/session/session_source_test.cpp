// A copy of a kernel: made, run, written, run again.
#include "platform/atomic_file.h"
#include "session_fixture.h"

namespace attnscope::session {
namespace {

using testing::HasSubstr;
using testing_support::read_text;

class SessionSourceTest : public SessionTest {
 protected:
  SessionSourceTest() { options_.own_kernels = dir_ / "own/kernels"; }
  ~SessionSourceTest() override { platform::inject_write_fault(std::nullopt); }

  // Copies tiled at NUM_WARPS 8 and waits for the copy's run.
  Seen copied() {
    start();
    wait_for_run(4);
    session_->copy_kernel(7, tiled(8));
    return wait_for(
        [](const Snapshot& n) {
          return n.focus.wanted.kernel == "tiled_copy" && !n.focus.running && n.history.size == 2;
        },
        "the copy's run");
  }
  Seen saved(uint64_t id, const std::string& based_on, const std::string& text) {
    session_->save_source({id, "tiled_copy", based_on, text});
    return wait_for([id](const Snapshot& n) { return n.saved.id == id; }, "what came of the save");
  }
  std::filesystem::path file() const { return dir_ / "own/kernels/tiled_copy.cu"; }
};

TEST_F(SessionSourceTest, ACopyRunsWithTheSameKnobs) {
  const Seen s = copied();
  EXPECT_EQ(s->copied.id, 7u);
  EXPECT_EQ(s->copied.kernel, "tiled_copy");
  EXPECT_EQ(s->focus.wanted.config.knobs.at("NUM_WARPS"), 8);
  EXPECT_FALSE(s->focus.failure) << s->focus.failure->message;
  EXPECT_THAT(s->history.at(1).change, HasSubstr("a copy of tiled"));
  EXPECT_EQ(s->originals->at("tiled_copy"), find_kernel(*s, "tiled")->source);
  EXPECT_FALSE(s->originals->contains("tiled"));
  EXPECT_EQ(read_text(file()), s->originals->at("tiled_copy"));
}

TEST_F(SessionSourceTest, ASaveRunsAgainAtOnce) {
  options_.watch_files = false;
  const std::string before = copied()->originals->at("tiled_copy");
  saved(1, before, before + "// more\n");
  Seen s = wait_for([](const Snapshot& n) { return n.history.size == 3; }, "the run of the new text");
  EXPECT_FALSE(s->saved.failure || s->saved.changed);
  EXPECT_EQ(read_text(file()), before + "// more\n");
  EXPECT_THAT(s->history.at(2).change, HasSubstr("tiled_copy.cu edited"));
  EXPECT_EQ(s->originals->at("tiled_copy"), before) << "it stays what it was copied from";
}

TEST_F(SessionSourceTest, AFileThatChangedMeanwhileIsNotOverwritten) {
  options_.watch_files = false;
  const std::string before = copied()->originals->at("tiled_copy");
  ASSERT_TRUE(platform::write_file(file(), before + "// theirs\n"));
  const Seen s = saved(1, before, before + "// mine\n");
  EXPECT_EQ(s->saved.changed, before + "// theirs\n");
  EXPECT_EQ(read_text(file()), before + "// theirs\n");
}

TEST_F(SessionSourceTest, AFullDiskIsSaidAndTheFileStays) {
  options_.watch_files = false;
  const std::string before = copied()->originals->at("tiled_copy");
  platform::inject_write_fault(platform::WriteFault{"tiled_copy.cu", 4});
  const Seen s = saved(1, before, before + "// mine\n");
  ASSERT_TRUE(s->saved.failure);
  EXPECT_THAT(s->saved.failure->message, HasSubstr("tiled_copy.cu"));
  EXPECT_EQ(read_text(file()), before);
}

TEST_F(SessionSourceTest, OnlyACopyIsWritten) {
  copied();
  const std::string shipped = read_text(dir_ / "kernels/02_tiled.cu");
  session_->save_source({9, "tiled", shipped, "// gone\n"});
  const Seen s = wait_for([](const Snapshot& n) { return n.saved.id == 9; }, "the refusal");
  EXPECT_TRUE(s->saved.failure);
  EXPECT_EQ(read_text(dir_ / "kernels/02_tiled.cu"), shipped);
}

TEST_F(SessionSourceTest, ACopyThatCannotBeMadeIsAToast) {
  dir_.write("own/kernels", "a file in the way");
  start();
  wait_for_run(4);
  session_->copy_kernel(7, tiled(8));
  const Seen s = wait_for([](const Snapshot& n) { return n.copied.id == 7; }, "the refusal");
  EXPECT_EQ(s->copied.kernel, "");
  EXPECT_TRUE(toasted(*s, "own/kernels"));
  EXPECT_EQ(s->focus.wanted.kernel, "tiled");
}

TEST_F(SessionSourceTest, ACopyOfAKernelThatIsGoneIsAToast) {
  start();
  wait_for_run(4);
  Draft gone = tiled(8);
  gone.kernel = "gone";
  session_->copy_kernel(7, gone);
  const Seen s = wait_for([](const Snapshot& n) { return n.copied.id == 7; }, "the refusal");
  EXPECT_EQ(s->copied.kernel, "");
  EXPECT_TRUE(toasted(*s, "gone is not among the kernels any more"));
}

TEST_F(SessionSourceTest, ACopyIsKnownAgainAfterARestart) {
  copied();
  stop();
  options_.kernel_dirs.push_back(options_.own_kernels);
  start();
  const Seen s = wait_for([](const Snapshot& n) { return n.version > 0 && n.focus.run != 0; }, "the last experiment");
  EXPECT_TRUE(s->originals->contains("tiled_copy"));
}

}  // namespace
}  // namespace attnscope::session
