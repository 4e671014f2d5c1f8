#include "cuda_api/locate.h"

#include <unistd.h>

#include <algorithm>
#include <optional>

#include "platform/paths.h"

namespace attnscope::cuda_api {
namespace {

namespace fs = std::filesystem;

void add_folder(std::vector<fs::path>& folders, const fs::path& folder) {
  std::error_code error;
  if (folder.empty() || !fs::is_directory(folder, error)) return;
  const fs::path real = fs::canonical(folder, error);  // /usr/local/cuda links to /usr/local/cuda-13.0
  if (!error && std::find(folders.begin(), folders.end(), real) == folders.end()) folders.push_back(real);
}

std::vector<fs::path> entries_sorted_down(const fs::path& folder, std::string_view prefix) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    if (at->path().filename().string().starts_with(prefix)) found.push_back(at->path());
  std::sort(found.rbegin(), found.rend());
  return found;
}

bool is_program(const fs::path& file) {
  std::error_code error;
  return fs::is_regular_file(file, error) && access(file.c_str(), X_OK) == 0;
}

// libnvrtc.so.12 in a library folder of a toolkit or a package.
std::optional<fs::path> library_in(const fs::path& root, const std::string& name) {
  std::error_code error;
  for (const char* folder :
       {"lib", "lib64", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib", "extras/CUPTI/lib64"})
    if (fs::exists(root / folder / name, error)) return root / folder / name;
  return std::nullopt;
}

std::vector<fs::path> includes_in(const fs::path& root) {
  std::error_code error;
  for (const char* folder : {"include", "targets/x86_64-linux/include", "targets/sbsa-linux/include"})
    if (fs::exists(root / folder / "cuda_fp16.h", error)) return {root / folder};
  return {};
}

// NVIDIA's wheels for CUDA 13 share one folder, <nvidia>/cu13. Those for CUDA 12 have one each, so the headers that a
// kernel includes are in three folders.
std::vector<fs::path> includes_beside(const fs::path& nvidia, const fs::path& root) {
  if (auto own = includes_in(root); !own.empty()) return own;
  auto includes = includes_in(nvidia / "cuda_runtime");
  std::error_code error;
  for (const char* wheel : {"cuda_nvcc", "cuda_cccl"})
    if (const fs::path more = nvidia / wheel / "include"; !includes.empty() && fs::is_directory(more, error))
      includes.push_back(more);
  return includes;
}

// The entries of a list of paths, written like PATH, without empty ones.
std::vector<fs::path> paths_in(const std::string& list) {
  std::vector<fs::path> paths;
  for (size_t start = 0; start <= list.size();) {
    const size_t end = std::min(list.find(':', start), list.size());
    if (end > start) paths.emplace_back(list.substr(start, end - start));
    start = end + 1;
  }
  return paths;
}

std::vector<fs::path> site_packages() { return paths_in(platform::environment("ATTNSCOPE_SITE_PACKAGES")); }

}  // namespace

std::vector<fs::path> toolkits() {
  std::vector<fs::path> roots;
  if (platform::environment("ATTNSCOPE_NO_TOOLKIT") == "1") return roots;
  add_folder(roots, platform::environment("CUDA_HOME"));
  add_folder(roots, platform::environment("CUDA_PATH"));
  add_folder(roots, "/usr/local/cuda");
  for (const fs::path& root : entries_sorted_down("/usr/local", "cuda-")) add_folder(roots, root);
  add_folder(roots, "/opt/cuda");
  return roots;
}

std::vector<fs::path> package_folders() {
  std::vector<fs::path> folders;
  if (const auto paths = platform::user_paths()) add_folder(folders, paths->cache / "cuda");
  // $ATTNSCOPE_HOME moves what the program writes; what ./dev fetched stays where every checkout finds it.
  const fs::path xdg = platform::environment("XDG_CACHE_HOME");
  const fs::path home = platform::environment("HOME");
  if (xdg.is_absolute())
    add_folder(folders, xdg / "attnscope" / "cuda");
  else if (home.is_absolute())
    add_folder(folders, home / ".cache" / "attnscope" / "cuda");
  if (const auto resources = platform::resources()) add_folder(folders, *resources / "cuda");
  return folders;
}

std::vector<fs::path> environment_folders() {
  std::vector<fs::path> folders;
  for (const fs::path& site : site_packages())
    for (const char* name : {"nvidia", "cutlass_library"}) add_folder(folders, site / name);
  return folders;
}

const LibraryName& name_of(CudaLibrary which) {
  static const LibraryName nvrtc{"NVRTC", "libnvrtc.so", "ATTNSCOPE_NVRTC"};
  static const LibraryName cublas{"cuBLAS", "libcublas.so", "ATTNSCOPE_CUBLAS"};
  static const LibraryName cupti{"CUPTI", "libcupti.so", "ATTNSCOPE_CUPTI"};
  switch (which) {
    case CudaLibrary::nvrtc:
      return nvrtc;
    case CudaLibrary::cublas:
      return cublas;
    case CudaLibrary::cupti:
      break;
  }
  return cupti;
}

std::vector<LibraryPlace> library_places(CudaLibrary which, int major) {
  std::vector<LibraryPlace> places;
  const LibraryName& name = name_of(which);
  if (const fs::path named = platform::environment(name.environment); !named.empty()) {
    // <root>/lib/libnvrtc.so.N: the headers are beside lib.
    return {{named, includes_in(named.parent_path().parent_path()), std::string("$") + name.environment}};
  }
  const std::string file = name.file + "." + std::to_string(major);
  for (const fs::path& site : site_packages())
    for (const fs::path& root : entries_sorted_down(site / "nvidia", ""))
      if (const auto library = library_in(root, file))
        places.push_back({*library, includes_beside(site / "nvidia", root), "environment " + site.string()});
  for (const fs::path& folder : package_folders())
    for (const fs::path& root : entries_sorted_down(folder, std::to_string(major) + "."))
      if (const auto library = library_in(root, file))
        places.push_back({*library, includes_in(root), "package " + root.filename().string()});
  for (const fs::path& root : toolkits())
    if (const auto library = library_in(root, file))
      places.push_back({*library, includes_in(root), "toolkit " + root.string()});
  if (platform::environment("ATTNSCOPE_NO_TOOLKIT") != "1") places.push_back({file, includes_in("/usr"), "system"});
  return places;
}

Result<fs::path> locate_headers(const std::string& name) {
  if (name != "cutlass")
    return fail(Stage::compile, "\"" + name + "\" is not a known set of headers.", "Known: cutlass.");
  const fs::path probe = fs::path("cutlass") / "version.h";
  std::error_code error;
  if (const fs::path named = platform::environment("ATTNSCOPE_CUTLASS"); !named.empty()) {
    if (fs::exists(named / probe, error)) return named;
    return fail(Stage::compile, "$ATTNSCOPE_CUTLASS names " + named.string() + ", which holds no cutlass/version.h.",
                "Name the folder that holds cutlass/ and cute/, or unset it.");
  }
  for (const fs::path& site : site_packages())
    if (const fs::path folder = site / "cutlass_library" / "source" / "include"; fs::exists(folder / probe, error))
      return folder;
  for (const fs::path& folder : package_folders())
    if (fs::exists(folder / "cutlass" / "include" / probe, error)) return folder / "cutlass" / "include";
  return fail(Stage::compile, "The headers of CUTLASS and CuTe are not on this machine.",
              "Run `attnscope fetch`, which fetches them once, or name their folder in $ATTNSCOPE_CUTLASS.");
}

std::vector<ProgramPlace> nvcc_places() {
  constexpr const char* variable = "ATTNSCOPE_NVCC";
  if (const fs::path named = platform::environment(variable); !named.empty())
    return {{named, std::string("$") + variable}};
  std::vector<ProgramPlace> places;
  const auto add = [&](const fs::path& program, const std::string& origin) {
    std::error_code error;
    const fs::path real = fs::canonical(program, error);
    if (error || !is_program(real)) return;
    if (std::ranges::find(places, real, &ProgramPlace::program) == places.end()) places.push_back({real, origin});
  };
  for (const fs::path& site : site_packages())
    for (const fs::path& root : entries_sorted_down(site / "nvidia", ""))
      add(root / "bin" / "nvcc", "environment " + site.string());
  for (const fs::path& folder : package_folders()) add(folder / "nvcc" / "bin" / "nvcc", "package nvcc");
  for (const fs::path& root : toolkits()) add(root / "bin" / "nvcc", "toolkit " + root.string());
  if (platform::environment("ATTNSCOPE_NO_TOOLKIT") != "1")
    for (const fs::path& folder : paths_in(platform::environment("PATH"))) add(folder / "nvcc", "$PATH");
  return places;
}

Result<fs::path> locate_nvdisasm() {
  const std::string hint =
      "Run `attnscope fetch`, which fetches it, install the CUDA toolkit, or set $ATTNSCOPE_NVDISASM.";
  if (const fs::path named = platform::environment("ATTNSCOPE_NVDISASM"); !named.empty()) {
    if (is_program(named)) return named;
    return fail(Stage::decode, "$ATTNSCOPE_NVDISASM names " + named.string() + ", which is not a program.",
                "Correct or unset it.");
  }
  std::vector<fs::path> candidates;
  for (const fs::path& site : site_packages())
    for (const fs::path& root : entries_sorted_down(site / "nvidia", ""))
      candidates.push_back(root / "bin" / "nvdisasm");
  for (const fs::path& root : toolkits()) candidates.push_back(root / "bin" / "nvdisasm");
  for (const fs::path& folder : package_folders()) candidates.push_back(folder / "bin" / "nvdisasm");
  for (const fs::path& folder : paths_in(platform::environment("PATH"))) candidates.push_back(folder / "nvdisasm");
  for (const fs::path& candidate : candidates)
    if (is_program(candidate)) return candidate;
  return fail(Stage::decode, "nvdisasm, which reads the kernel's machine code, is not on this machine.", hint);
}

}  // namespace attnscope::cuda_api
