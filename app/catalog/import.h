#pragma once
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/result.h"

namespace attnscope::catalog {

// A first manifest for a .cu file, with notes for the person.
struct Imported {
  std::string id;                     // of the kernel, from the file's name
  std::string entry;                  // the kernel of the file; for a program, the host function
  std::string manifest;               // JSON text that parse_kernel accepts
  std::vector<std::string> read;      // facts from the source, one sentence each
  std::vector<std::string> guessed;   // guesses
  std::vector<std::string> probed;    // what running it showed (catalog/probed.h)
  std::vector<std::string> others;    // entries of the file's other kernels
  bool launched = false;              // the source launches the kernel
  bool launched_elsewhere = false;    // another file's text does
  std::vector<std::string> programs;  // host functions that launch several kernels, if this is one kernel
  // By buffer whose length is a guess: how many times longer than the guess a run showed it to be.
  std::map<std::string, int64_t> open_lengths;
  std::set<std::string> open_sizes;        // sizes whose value is a guess
  std::set<size_t> open_values;            // arguments whose value is a guess, by their place in the manifest
  std::map<std::string, int64_t> lowered;  // sizes that a first run needs smaller, and what they were
};

// How a note goes on after a buffer's name: a role that is a guess.
inline constexpr const char* kReadAndWritten = " is read and written, and starts ";
inline constexpr const char* kScattered = " is stored to where the data says so, and starts ";
// How notes of a launch's guesses begin.
inline constexpr const char *kGridSaid = "the grid: ", *kBlockSaid = "the block: ";
inline constexpr const char* kTemplateSaid = "the template's arguments: ";

// The file's name in the form that a manifest may have: letters, digits, _ - and . ("my kernel.cu": "my_kernel.cu").
std::string source_file_name(const std::string& file_name);

// Reads the kernel's signature (names and C types), the `#ifndef X / #define X v` macros, __launch_bounds__ and the
// host code's <<<…>>> launch, and writes a manifest from them. `entry` names the kernel, with template arguments if it
// has some; empty: the file's first kernel that is launched, with what else its function launches over the same buffers
// (a program), or else the file's first. Failure (Stage::input) when there is no such kernel or a parameter's type
// cannot be passed.
// `id`: of the kernel; empty: made from the file's name.
// `function`: the host function whose launches make a program, whatever they do; a Failure says why they make none.
// `launcher`: the text of another file of the project that launches the kernel; only its host code counts.
// `template_guess`: which guess takes the place of a template's numbers that nothing says; -1: that is a Failure.
Result<Imported> import_kernel(const std::string& source_name, const std::string& source, const std::string& entry,
                               const std::string& id = "", const std::string& function = "",
                               const std::string& launcher = "", int template_guess = -1);

// The kernel's id in its file's name: "03_scan.cu" gives scan.
std::string id_of(const std::string& source_name);
// Another id, for a file with several kernels: the file's name and the kernel's.
std::string id_with_entry(const Imported& imported);

}  // namespace attnscope::catalog
