#include "store/workers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/temp_dir.h"

namespace attnscope::store {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(CommandWords, AreSplitAsAShellSplitsThem) {
  EXPECT_THAT(*command_words("ssh l4box attnscope worker"), ElementsAre("ssh", "l4box", "attnscope", "worker"));
  EXPECT_THAT(*command_words("  sh\t-c 'exec attnscope  worker'\n"), ElementsAre("sh", "-c", "exec attnscope  worker"));
  EXPECT_THAT(*command_words(R"(a "b \" c"'d'\ e $F '')"), ElementsAre("a", "b \" cd e", "$F", ""));
}

TEST(CommandWords, ABackslashKeepsTheNextCharacterWhereAShellDoes) {
  EXPECT_THAT(*command_words(R"(a\)"), ElementsAre("a\\")) << "the last one stands for itself";
  EXPECT_THAT(*command_words(R"(\a \ b)"), ElementsAre("a", " b"));
  EXPECT_THAT(*command_words(R"('a\b' "a\\b")"), ElementsAre("a\\b", "a\\b"));
  EXPECT_THAT(*command_words("'a'\"b\"c '' \"\""), ElementsAre("abc", "", ""));
}

TEST(CommandWords, AnOpenQuoteAndNoWordAreRefused) {
  EXPECT_THAT(command_words("ssh 'l4box").error().message, HasSubstr("open quote"));
  for (const char* nothing : {"", "   ", "''"})
    EXPECT_EQ(command_words(nothing).error().stage, Stage::input) << nothing;
}

class NamedWorkers : public testing::Test {
 protected:
  Result<std::vector<NamedWorker>> read(const std::string& json) {
    return read_named_workers(dir_.write("settings.json", json));
  }
  testing_support::TempDir dir_;
};

TEST_F(NamedWorkers, AreReadFromTheSettings) {
  const auto workers =
      read(R"({"workers": {"l4box": "ssh l4box attnscope worker", "a": "srun -n1 attnscope worker"}, "zoom": 1})");
  ASSERT_TRUE(workers) << workers.error().message;
  ASSERT_EQ(workers->size(), 2u);
  EXPECT_EQ(workers->at(0).name, "a");
  EXPECT_EQ(workers->at(1), (NamedWorker{"l4box", {"ssh", "l4box", "attnscope", "worker"}}));
}

TEST_F(NamedWorkers, NoFileAndNoEntryAreNone) {
  EXPECT_TRUE(read_named_workers(dir_ / "none.json")->empty());
  EXPECT_TRUE(read("{}")->empty());
}

TEST_F(NamedWorkers, AWrongEntryIsNamed) {
  for (const char* wrong : {R"({"workers": []})", R"({"workers": {"local": "ssh a attnscope worker"}})",
                            R"({"workers": {"a/b": "ssh a attnscope worker"}})", R"({"workers": {"a": 7}})",
                            R"({"workers": {"a": ""}})", R"({"workers": {"a": "ssh 'a"}})", "not json"}) {
    const auto refused = read(wrong);
    ASSERT_FALSE(refused) << wrong;
    EXPECT_EQ(refused.error().stage, Stage::store);
    EXPECT_THAT(refused.error().message, HasSubstr("settings.json")) << wrong;
  }
}

TEST(WorkerOf, AKnownNameANameWithItsCommandOrACommand) {
  const std::vector<NamedWorker> known{{"l4box", {"ssh", "-p", "22", "l4box", "attnscope", "worker"}}};
  EXPECT_EQ(*worker_of("l4box", known), known[0]);
  EXPECT_EQ(*worker_of("mine=attnscope worker", known), (NamedWorker{"mine", {"attnscope", "worker"}}));
  const auto name = [&](const char* text) { return worker_of(text, known)->name; };
  EXPECT_EQ(name("ssh -p 22 -oBatchMode=yes me@far.example attnscope worker"), "far.example");
  EXPECT_EQ(name("/usr/bin/srun -n1 -u --gres=gpu:1 attnscope worker"), "srun");
  EXPECT_EQ(name("ssh -A -T far.example attnscope worker"), "far.example") << "options without a value";
  EXPECT_EQ(name("ssh -p22 -lme far.example attnscope worker"), "far.example") << "values in the option's own word";
  EXPECT_EQ(name("ssh -v"), "ssh");
  EXPECT_EQ(name("./local worker"), "remote") << "the first worker's name is taken";
}

TEST(WorkerOf, ANameHasLettersDigitsAndThreeMarks) {
  const auto is_name = [](const std::string& text) {
    return worker_of(text + "=attnscope worker", {})->argv == std::vector<std::string>{"attnscope", "worker"};
  };
  for (const char c : std::string("azAZ09._-mM5")) EXPECT_TRUE(is_name(std::string("x") + c)) << c;
  for (const char c : std::string("`{@[/:^,+~%")) EXPECT_FALSE(is_name(std::string("x") + c)) << c;
  for (const char* name : {"", "-x", ".x", "local"}) EXPECT_FALSE(is_name(name)) << name;
  for (const char* name : {"_x", "0", "locals"}) EXPECT_TRUE(is_name(name)) << name;
  EXPECT_TRUE(is_name(std::string(40, 'x')));
  EXPECT_FALSE(is_name(std::string(41, 'x')));
}

TEST(WorkerOf, ACommandIsNamedAfterItsMachineOrItsProgram) {
  const auto name = [](const std::string& text) { return worker_of(text, {})->name; };
  for (const char option : std::string("BbcDEeFIiJLlmOoPpRSWw"))
    EXPECT_EQ(name(std::string("ssh -") + option + " value box attnscope worker"), "box") << option;
  for (const char option : std::string("46AaCfGgKkMNnqsTtVvXxYy"))
    EXPECT_EQ(name(std::string("ssh -") + option + " box attnscope worker"), "box") << option;
  EXPECT_EQ(name("ssh '' worker"), "remote") << "an empty word is no machine's name";
  EXPECT_EQ(name("ssh a@b@box.example worker"), "box.example");
  EXPECT_EQ(name("/opt/a/run worker"), "run");
  EXPECT_EQ(name("'/opt/my run!' worker"), "my-run-");
  EXPECT_EQ(name(".hidden worker"), "remote");
  EXPECT_EQ(name(std::string(50, 'x') + " worker"), std::string(40, 'x'));
}

TEST(WorkerOf, AnUnknownNameIsRefusedWithTheKnownOnes) {
  const auto refused = worker_of("l5box", {{"l4box", {"ssh"}}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().stage, Stage::input);
  EXPECT_THAT(refused.error().hint, HasSubstr("l4box"));
}

TEST(WorkerAt, AHostIsReachedBySshAndACommandStaysAsItIs) {
  EXPECT_EQ(*worker_at("l4box", ""), (NamedWorker{"l4box", {"ssh", "l4box", "attnscope", "worker"}}));
  EXPECT_EQ(*worker_at("me@10.0.0.7", "box"), (NamedWorker{"box", {"ssh", "me@10.0.0.7", "attnscope", "worker"}}));
  EXPECT_EQ(worker_at("me@l4box", "")->name, "l4box");
  EXPECT_EQ(*worker_at("srun -n1 -u attnscope worker", ""),
            (NamedWorker{"srun", {"srun", "-n1", "-u", "attnscope", "worker"}}));
}

TEST(WorkerAt, WhatIsNoHostOrNameIsRefused) {
  for (const char* wrong : {"-oProxyCommand=date", "me@-x", "a;b", "/bin/sh", "'a b'", "", "ssh 'l4box"})
    EXPECT_EQ(worker_at(wrong, "").error().stage, Stage::input) << wrong;
  for (const char* wrong : {"local", "-x", "a/b"})
    EXPECT_THAT(worker_at("l4box", wrong).error().message, HasSubstr("a worker's name")) << wrong;
}

TEST(WorkerAt, ItsCommandsTextIsSplitIntoTheSameWords) {
  const std::vector<std::string> argv{"ssh", "-p", "22", "l4box", "exec 'attnscope' worker", "a\"b\\c", ""};
  EXPECT_EQ(*command_words(command_text(argv)), argv);
}

}  // namespace
}  // namespace attnscope::store
