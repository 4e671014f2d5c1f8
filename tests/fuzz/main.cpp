// Feeds mutated inputs to every reader of outside input. A crash ends the program with the case's number; so does a
// case that takes over ten seconds or too much memory. A reader's answer matters in only one way: an input whose
// Failure differs from all before is kept and mutated further.
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <numeric>
#include <set>

#include "doors.h"
#include "mutate.h"

namespace attnscope::fuzz {
namespace {

constexpr unsigned kSecondsOfACase = 10;
constexpr long kMostKilobytes = 2 << 20;
constexpr size_t kMostKept = 400;

struct Case {
  const char* door = "";
  unsigned long number = 0;
};
volatile Case running;  // for the signal handlers

void say_where(int signal) {
  char text[160];
  const int length = std::snprintf(text, sizeof text, "\nfuzz_doors: signal %d (%s) in door %s, case %lu\n", signal,
                                   signal == SIGALRM ? "it hangs" : "it crashed", running.door, running.number);
  if (length > 0 && write(STDERR_FILENO, text, static_cast<size_t>(length)) < 0) _exit(3);
  if (signal == SIGALRM) _exit(2);
  ::signal(signal, SIG_DFL);
  raise(signal);
}

// The kind of a Failure: its message without figures and names.
std::string shape_of(const std::string& message) {
  std::string shape;
  for (const char c : message.substr(0, 200))
    if ((c >= 'a' && c <= 'z') || c == ' ') shape += c;
  return shape;
}

struct Options {
  unsigned long cases = 1'000'000, only = 0;
  uint64_t seed = 1;
  std::string door, dump, seeds, replay;
};

// If a reader refuses its seeds, fuzzing does not get past its first check.
bool takes_its_seeds(const Door& door) {
  for (size_t i = 0; i < door.seeds.size(); ++i) {
    const std::string answer = door.feed(door.seeds[i], i);
    if (answer.empty()) continue;
    std::fprintf(stderr, "The door %s refuses its seed %zu: %s\n", door.name.c_str(), i, answer.c_str());
    return false;
  }
  return !door.seeds.empty();
}

void run_door(Door& door, unsigned long cases, const Options& options) {
  Random random(options.seed * 1'000'003 + door.name[0]);
  std::set<std::string> shapes;
  unsigned long taken = 0;
  const size_t given = door.seeds.size();
  std::vector<size_t> origin(given);  // the given seed that an input comes from
  std::iota(origin.begin(), origin.end(), size_t{0});
  running.door = door.name.c_str();
  for (unsigned long i = 0; i < cases; ++i) {
    running.number = i;
    const size_t pick = random() % door.seeds.size(), other = random() % door.seeds.size();
    const std::string input = door.mutate(door.seeds[pick], door.seeds[other], door.words, random);
    if (!options.dump.empty() && i == options.only) std::ofstream(options.dump, std::ios::binary) << input;
    alarm(kSecondsOfACase);
    const std::string answer = door.feed(input, origin[pick]);
    taken += answer.empty();
    if (door.seeds.size() < given + kMostKept && !answer.empty() && shapes.insert(shape_of(answer)).second) {
      door.seeds.push_back(input);
      origin.push_back(origin[pick]);
    }
  }
  alarm(0);
  std::printf("%-10s %8lu cases, %7lu taken, %3zu kinds of refusal\n", door.name.c_str(), cases, taken, shapes.size());
}

namespace fs = std::filesystem;

// FOLDER/<door>/<number>, one file per seed, from which libFuzzer starts.
int write_seeds(const std::vector<Door>& all, const fs::path& folder) {
  for (const Door& door : all) {
    fs::create_directories(folder / door.name);
    for (size_t i = 0; i < door.seeds.size(); ++i)
      std::ofstream(folder / door.name / std::to_string(i), std::ios::binary) << door.seeds[i];
  }
  return 0;
}

// Feeds every file of FOLDER/<door>, all of which libFuzzer kept. A reader without a file there, and a folder without a
// reader, are faults.
int replay(const std::vector<Door>& all, const fs::path& folder) {
  std::set<std::string> expected, there;
  for (const Door& door : all)
    if (door.by_coverage) expected.insert(door.name);
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (!fs::is_empty(entry.path())) there.insert(entry.path().filename());
  for (const std::string& name : expected)
    if (!there.contains(name)) return std::fprintf(stderr, "%s/%s holds no input\n", folder.c_str(), name.c_str()), 1;
  for (const std::string& name : there)
    if (!expected.contains(name)) return std::fprintf(stderr, "%s/%s is no door\n", folder.c_str(), name.c_str()), 1;
  for (const Door& door : all) {
    if (!door.by_coverage) continue;
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(folder / door.name)) files.push_back(entry.path());
    std::ranges::sort(files);
    running.door = door.name.c_str();
    unsigned long taken = 0;
    for (size_t i = 0; i < files.size(); ++i) {
      running.number = i;
      std::ifstream file(files[i], std::ios::binary);
      const std::string input{std::istreambuf_iterator<char>(file), {}};
      alarm(kSecondsOfACase);
      taken += door.feed(input, 0).empty();
    }
    alarm(0);
    std::printf("%-10s %6zu inputs, %6lu taken\n", door.name.c_str(), files.size(), taken);
  }
  return 0;
}

int run(const Options& options) {
  for (const int signal : {SIGALRM, SIGSEGV, SIGBUS, SIGFPE, SIGABRT, SIGILL}) ::signal(signal, say_where);
  std::vector<Door> all = doors();
  if (!options.seeds.empty()) return write_seeds(all, options.seeds);
  if (!options.replay.empty()) return replay(all, options.replay);
  unsigned long shares = 0;
  for (const Door& door : all) shares += door.name == options.door || options.door.empty() ? door.share : 0;
  if (shares == 0) {
    std::fprintf(stderr, "There is no door %s.\n", options.door.c_str());
    return 1;
  }
  for (Door& door : all) {
    if (!options.door.empty() && door.name != options.door) continue;
    if (!takes_its_seeds(door)) return 1;
    run_door(door, options.cases * door.share / shares, options);
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::printf("%lu cases of seed %lu, at most %ld MB\n", options.cases, static_cast<unsigned long>(options.seed),
              usage.ru_maxrss >> 10);
  return usage.ru_maxrss > kMostKilobytes ? 4 : 0;
}

}  // namespace
}  // namespace attnscope::fuzz

int main(int argc, char** argv) {
  CLI::App app{"Feeds mutated inputs to the readers of what comes from outside"};
  attnscope::fuzz::Options options;
  app.add_option("--cases", options.cases, "How many, shared out among the doors");
  app.add_option("--seed", options.seed, "The same seed gives the same cases");
  app.add_option("--door", options.door, "Only this one, of those that doors.h names");
  app.add_option("--dump", options.dump, "Write the case --case of every door to this file");
  app.add_option("--seeds", options.seeds, "Write the doors' seeds into this folder, a folder a door, and end");
  app.add_option("--replay", options.replay, "Feed each door the files of its folder in this folder, and end");
  app.add_option("--case", options.only, "Which case --dump writes");
  CLI11_PARSE(app, argc, argv);
  return attnscope::fuzz::run(options);
}
