#include "device/cuda/cublas_routine.h"

#include <cstring>
#include <limits>

#include "device/cuda/own_kernels.h"

namespace attnscope::device {
namespace {

using namespace cuda_api;

constexpr size_t kWorkspaceBytes = size_t{32} << 20;  // recommended for sm_90 in cuBLAS' reference
constexpr int kAlignment = 8;                         // elements: rows of S and P begin at multiples of 16 bytes

// A cuBLAS handle on one GPU's stream. We allocate its workspace, so that its calls can be captured into a graph.
class Cublas {
 public:
  static Result<std::shared_ptr<Cublas>> open(std::shared_ptr<Gpu> gpu, const CublasCalls& calls) {
    if (auto entered = gpu->enter(); !entered) return fail(entered.error());
    std::shared_ptr<Cublas> one(new Cublas(std::move(gpu), calls));
    if (auto done = one->check(calls.create(&one->handle_), "cublasCreate"); !done) return fail(done.error());
    if (auto done = one->check(calls.set_stream(one->handle_, one->gpu_->stream()), "cublasSetStream"); !done)
      return fail(done.error());
    auto workspace = GpuMemory::make(one->gpu_, kWorkspaceBytes);
    if (!workspace) return fail(workspace.error());
    one->workspace_ = std::move(*workspace);
    auto* at = reinterpret_cast<void*>(one->workspace_.at());
    if (auto done = one->check(calls.set_workspace(one->handle_, at, kWorkspaceBytes), "cublasSetWorkspace"); !done)
      return fail(done.error());
    return one;
  }
  ~Cublas() {
    if (handle_ != nullptr && !gpu_->lost() && gpu_->enter()) calls_.destroy(handle_);
  }
  Cublas(const Cublas&) = delete;
  Cublas& operator=(const Cublas&) = delete;

  // "13.1.0", unpacked from cublasGetVersion's 130100 as in cublas_api.h; empty: the library does not report it.
  std::string version() const {
    int packed = 0;
    if (calls_.version == nullptr || calls_.version(handle_, &packed) != 0 || packed <= 0) return {};
    return std::to_string(packed / 10000) + "." + std::to_string(packed / 100 % 100) + "." +
           std::to_string(packed % 100);
  }

  struct Matrices {
    DevicePointer at;
    int type, pitch;   // type: CUDA's data type; pitch: elements between rows, row-major
    long long stride;  // elements between matrices
  };
  // For each matrix of `batch`, row-major: c [m, n] = factor · a [m, k] · b, where b is [n, k] if `transposed`,
  // otherwise [k, n]. cuBLAS is column-major, where the same bytes are c^T [n, m] = b^T · a^T, so the operands are
  // swapped.
  Result<void> multiply(int m, int n, int k, float factor, const Matrices& a, const Matrices& b, bool transposed,
                        const Matrices& c, int batch) const {
    const float none = 0;
    const auto pointer = [](DevicePointer at) { return reinterpret_cast<void*>(at); };
    return check(
        calls_.gemm(handle_, transposed ? kCublasTransposed : kCublasAsIs, kCublasAsIs, n, m, k, &factor, pointer(b.at),
                    b.type, b.pitch, b.stride, pointer(a.at), a.type, a.pitch, a.stride, &none, pointer(c.at), c.type,
                    c.pitch, c.stride, batch, kCublasComputeF32, kCublasDefaultAlgorithm),
        "cublasGemmStridedBatchedEx");
  }

 private:
  Cublas(std::shared_ptr<Gpu> gpu, const CublasCalls& calls) : gpu_(std::move(gpu)), calls_(calls) {}
  Result<void> check(int status, const char* call) const {
    if (status == 0) return {};
    return fail(Stage::launch, std::string(call) + " failed: " + calls_.status_text(status) + ".",
                "Its parameters are counted in cuBLAS' reference, the handle first.");
  }

  std::shared_ptr<Gpu> gpu_;
  CublasCalls calls_;
  CublasHandle handle_ = nullptr;
  GpuMemory workspace_;
};

template <class Parameters>
std::vector<std::byte> block_of(const Parameters& parameters) {
  std::vector<std::byte> bytes(sizeof parameters);
  std::memcpy(bytes.data(), &parameters, sizeof parameters);
  return bytes;
}

// Parameters as declared in assets/gpu/softmax.cu and softmax_pv.cu.
struct SoftmaxParameters {
  uint64_t scores, probabilities;
  int64_t rows;
  int32_t rows_a_head, keys, pitch, masked, first_visible;
  int32_t end = 0;  // pads the parameter block
};
struct SoftmaxPvParameters {
  uint64_t scores, v, o;
  int32_t rows, keys, pitch, masked, first_visible;
  int32_t end = 0;
};

Result<void> fits_int(int64_t value, const char* what) {
  if (value <= std::numeric_limits<int32_t>::max()) return {};
  return fail(Stage::limits, std::string(what) + " are more than cuBLAS can count.", "Choose a smaller problem.");
}

// Memory that a routine needs besides its operands. Kept with the routine, so that a timer's rounds do not allocate it
// again.
class Scratch {
 public:
  Result<DevicePointer> of(const std::shared_ptr<Gpu>& gpu, size_t bytes) {
    if (memory_.bytes() < bytes) {
      memory_ = {};
      auto made = GpuMemory::make(gpu, bytes);
      if (!made) return fail(made.error());
      memory_ = std::move(*made);
    }
    return memory_.at();
  }

 private:
  GpuMemory memory_;
};

struct Routine {
  std::shared_ptr<Gpu> gpu;
  std::shared_ptr<Cublas> cublas;
  std::shared_ptr<const GpuKernel> kernel;  // our kernel, for attention and hybrid
  bool hybrid = false;
  std::shared_ptr<Scratch> scratch = std::make_shared<Scratch>();
};

class AttentionWork final : public GpuWork {
 public:
  AttentionWork(const Routine& routine, const LaunchRequest& request, std::span<const uint64_t> addresses)
      : routine_(routine),
        name_(request.name),
        problem_(request.problem),
        q_(addresses[0]),
        k_(addresses[1]),
        v_(addresses[2]),
        o_(addresses[3]) {}

  Result<void> prepare() {
    const Problem& p = problem_;
    pitch_ = (p.seq_k + kAlignment - 1) / kAlignment * kAlignment;
    matrices_ = p.batch * p.heads;
    const int64_t elements = matrices_ * p.seq_q * pitch_;
    for (const auto& [value, what] :
         {std::pair{matrices_, "heads"}, std::pair{pitch_, "keys"}, std::pair{p.seq_q, "rows"}})
      if (auto fits = fits_int(value, what); !fits) return fits;
    auto at = routine_.scratch->of(routine_.gpu, static_cast<size_t>(elements) * (routine_.hybrid ? 4 : 6));
    if (!at) return fail(at.error());
    scores_ = *at;
    probabilities_ = *at + static_cast<uint64_t>(elements) * 4;
    const bool masked = p.causal != Causal::none;
    const auto whole = [](int64_t value) { return static_cast<int32_t>(value); };
    if (routine_.hybrid) {
      shape_ = {{(p.seq_q + 15) / 16, matrices_, 1}, {128, 1, 1}};
      parameters_ = block_of(SoftmaxPvParameters{scores_, v_, o_, whole(p.seq_q), whole(p.seq_k), whole(pitch_), masked,
                                                 whole(first_visible(p))});
    } else {
      const int64_t rows = matrices_ * p.seq_q;
      shape_ = {{(rows + 7) / 8, 1, 1}, {256, 1, 1}};
      parameters_ = block_of(SoftmaxParameters{scores_, probabilities_, rows, whole(p.seq_q), whole(p.seq_k),
                                               whole(pitch_), masked, whole(first_visible(p))});
    }
    const size_t declared = routine_.kernel->info().parameter_bytes;
    if (declared > parameters_.size() || declared + sizeof(int32_t) < parameters_.size())
      return fail(Stage::internal, "the softmax kernel declares other parameters than its caller passes",
                  "Report this; assets/gpu may have been edited.");
    parameters_.resize(declared);
    return {};
  }

  Result<void> launch() override {
    const Problem& p = problem_;
    const auto whole = [](int64_t value) { return static_cast<int>(value); };
    const int m = whole(p.seq_q), n = whole(p.seq_k), d = whole(p.head_dim), pitch = whole(pitch_);
    const long long rows = p.seq_q * p.head_dim, keys = p.seq_k * p.head_dim, scores = p.seq_q * pitch_;
    if (auto done = routine_.cublas->multiply(m, n, d, static_cast<float>(p.effective_scale()),
                                              {q_, kCublasF16, d, rows}, {k_, kCublasF16, d, keys}, true,
                                              {scores_, kCublasF32, pitch, scores}, whole(matrices_));
        !done)
      return named(done);
    if (const int code = routine_.kernel->launch(shape_, 0, parameters_); code != 0)
      return routine_.gpu->kernel_failure(code, name_);
    if (routine_.hybrid) return {};
    return named(routine_.cublas->multiply(m, d, n, 1.0f, {probabilities_, kCublasF16, pitch, scores},
                                           {v_, kCublasF16, d, keys}, false, {o_, kCublasF16, d, rows},
                                           whole(matrices_)));
  }

 private:
  Result<void> named(const Result<void>& done) const {
    if (done) return done;
    return fail_of(name_, done.error());
  }

  const Routine& routine_;
  std::string name_;
  Problem problem_;
  DevicePointer q_, k_, v_, o_, scores_ = 0, probabilities_ = 0;
  int64_t pitch_ = 0, matrices_ = 0;
  model::LaunchShape shape_;
  std::vector<std::byte> parameters_;
};

class GemmWork final : public GpuWork {
 public:
  GemmWork(const Routine& routine, const LaunchRequest& request, std::span<const uint64_t> addresses)
      : routine_(routine), request_(request), addresses_(addresses.begin(), addresses.end()) {}

  Result<void> prepare() {
    const auto& all = request_.operands->all;
    const auto refuse = [&](const char* why) {
      return fail(Stage::launch, request_.name + ": gemm_nt " + why, "Correct the manifest's buffers.");
    };
    if (all.size() != 3) return refuse("takes three buffers, a, b and c");
    for (const auto& one : all)
      if (one.what.type != ElementType::f16 || one.what.shape.size() < 2) return refuse("takes matrices of f16");
    const auto extent = [&](size_t operand, size_t from_end) {
      return all[operand].what.shape[all[operand].what.shape.size() - from_end];
    };
    m_ = extent(0, 2);
    k_ = extent(0, 1);
    n_ = extent(1, 2);
    if (extent(1, 1) != k_ || extent(2, 2) != m_ || extent(2, 1) != n_)
      return refuse("needs a[…,M,K], b[…,N,K], c[…,M,N]");
    batch_ = m_ * k_ > 0 ? all[0].what.elements() / (m_ * k_) : 0;
    for (const int64_t value : {m_, n_, k_, batch_})
      if (auto fits = fits_int(value, "sizes"); !fits) return fits;
    return {};
  }

  Result<void> launch() override {
    const auto whole = [](int64_t value) { return static_cast<int>(value); };
    auto done = routine_.cublas->multiply(whole(m_), whole(n_), whole(k_), 1.0f,
                                          {addresses_[0], kCublasF16, whole(k_), m_ * k_},
                                          {addresses_[1], kCublasF16, whole(k_), n_ * k_}, true,
                                          {addresses_[2], kCublasF16, whole(n_), m_ * n_}, whole(batch_));
    if (!done) return fail_of(request_.name, done.error());
    return {};
  }

 private:
  const Routine& routine_;
  LaunchRequest request_;
  std::vector<uint64_t> addresses_;
  int64_t m_ = 0, n_ = 0, k_ = 0, batch_ = 0;
};

template <class Work>
class CublasProgram final : public GpuProgram {
 public:
  explicit CublasProgram(Routine routine) : routine_(std::move(routine)) {}
  std::string library_version() const override { return routine_.cublas->version(); }
  Result<std::shared_ptr<const GpuProgram>> once_more() const override {
    Routine other = routine_;
    if (other.kernel) {
      auto kernel = other.kernel->once_more();
      if (!kernel) return fail(kernel.error());
      other.kernel = std::move(*kernel);
    }
    return std::make_shared<const CublasProgram>(std::move(other));
  }
  Result<std::unique_ptr<GpuWork>> bind(const LaunchRequest& request, std::span<const ArgumentValue>,
                                        std::span<const uint64_t> addresses) const override {
    auto work = std::make_unique<Work>(routine_, request, addresses);
    if (auto ready = work->prepare(); !ready) return fail(ready.error());
    return std::unique_ptr<GpuWork>(std::move(work));
  }

 private:
  Routine routine_;
};

}  // namespace

Result<std::shared_ptr<const GpuProgram>> make_cublas_routine(OwnKernels& kernels, const CudaParts& parts,
                                                              const std::string& entry, const Problem& problem) {
  const bool hybrid = entry == "hybrid", attention = hybrid || entry == "attention";
  if (!attention && entry != "gemm_nt")
    return fail(Stage::input, "cuBLAS has no routine \"" + entry + "\" here",
                "There are attention, hybrid and gemm_nt.");
  if (attention != problem.is_attention())
    return fail(Stage::input,
                "the routine " + entry + " does not take a problem of kind " + std::string(to_string(problem.kind)),
                "Choose another kernel.");
  auto calls = parts.cublas();
  if (!calls) return fail(calls.error());
  auto cublas = Cublas::open(kernels.gpu(), *calls);
  if (!cublas) return fail(cublas.error());
  Routine routine{kernels.gpu(), *cublas, nullptr, hybrid};
  if (!attention) return std::make_shared<const CublasProgram<GemmWork>>(std::move(routine));
  auto kernel = hybrid ? kernels.load_for("softmax_pv", problem) : kernels.load("softmax", problem.dtype);
  if (!kernel) return fail(kernel.error());
  routine.kernel = std::move(*kernel);
  return std::make_shared<const CublasProgram<AttentionWork>>(std::move(routine));
}

}  // namespace attnscope::device
