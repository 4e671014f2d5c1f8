#include "compile/header_texts.h"

#include "compile/builtin_headers.h"
#include "compile/header_templates.h"

namespace attnscope::compile {
namespace {

// The same names for the same types as in CUDA's own headers under NVRTC.
constexpr const char* kIntegers = R"(#pragma once
typedef signed char int8_t;
typedef signed short int16_t;
typedef signed int int32_t;
typedef signed long long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
typedef signed long long intptr_t;
typedef unsigned long long uintptr_t;
typedef signed long long intmax_t;
typedef unsigned long long uintmax_t;
#define INT8_MIN (-128)
#define INT8_MAX 127
#define UINT8_MAX 255
#define INT16_MIN (-32768)
#define INT16_MAX 32767
#define UINT16_MAX 65535
#define INT32_MIN (-2147483647 - 1)
#define INT32_MAX 2147483647
#define UINT32_MAX 4294967295U
#define INT64_MIN (-9223372036854775807LL - 1)
#define INT64_MAX 9223372036854775807LL
#define UINT64_MAX 18446744073709551615ULL
#define SIZE_MAX UINT64_MAX
namespace std {
using ::int8_t; using ::int16_t; using ::int32_t; using ::int64_t;
using ::uint8_t; using ::uint16_t; using ::uint32_t; using ::uint64_t; using ::intptr_t; using ::uintptr_t;
}
)";

constexpr const char* kSizes = R"(#pragma once
namespace std {
using size_t = decltype(sizeof(0));
using ptrdiff_t = decltype(static_cast<char*>(nullptr) - static_cast<char*>(nullptr));
using nullptr_t = decltype(nullptr);
}
)";

// The names of glibc's <sys/types.h>, which <stdlib.h> includes and nvcc includes before everything else.
constexpr const char* kTypes = R"(#pragma once
typedef unsigned char u_char;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef long ssize_t;
)";

// The types of <curand.h> that cuRAND's device headers (<curand_kernel.h>) use. The functions are the host's.
constexpr const char* kRandom = R"(#pragma once
using curandDirectionVectors32_t = unsigned int[32];
using curandDirectionVectors64_t = unsigned long long[64];
using curandDistribution_st = double;
using curandDistribution_t = curandDistribution_st*;
using curandDistributionShift_t = struct curandDistributionShift_st*;
using curandDistributionM2Shift_t = struct curandDistributionM2Shift_st*;
using curandHistogramM2_t = struct curandHistogramM2_st*;
using curandHistogramM2K_st = unsigned int;
using curandHistogramM2K_t = curandHistogramM2K_st*;
using curandHistogramM2V_st = curandDistribution_st;
using curandHistogramM2V_t = curandHistogramM2V_st*;
using curandDiscreteDistribution_t = struct curandDiscreteDistribution_st*;
enum curandMethod {
  CURAND_CHOOSE_BEST, CURAND_ITR, CURAND_KNUTH, CURAND_HITR, CURAND_M1, CURAND_M2, CURAND_BINARY_SEARCH,
  CURAND_DISCRETE_GAUSS, CURAND_REJECTION, CURAND_DEVICE_API, CURAND_FAST_REJECTION, CURAND_3RD, CURAND_DEFINITION,
  CURAND_POISSON
};
using curandMethod_t = curandMethod;
)";

constexpr const char* kLimits = R"(#pragma once
#define CHAR_BIT 8
#define SCHAR_MIN (-128)
#define SCHAR_MAX 127
#define UCHAR_MAX 255
#define CHAR_MIN SCHAR_MIN
#define CHAR_MAX SCHAR_MAX
#define SHRT_MIN (-32768)
#define SHRT_MAX 32767
#define USHRT_MAX 65535
#define INT_MIN (-2147483647 - 1)
#define INT_MAX 2147483647
#define UINT_MAX 4294967295U
#define LONG_MIN (-9223372036854775807L - 1)
#define LONG_MAX 9223372036854775807L
#define ULONG_MAX 18446744073709551615UL
#define LLONG_MIN (-9223372036854775807LL - 1)
#define LLONG_MAX 9223372036854775807LL
#define ULLONG_MAX 18446744073709551615ULL
)";

// C's <float.h> for IEEE 754 binary32 and binary64.
constexpr const char* kFloats = R"(#pragma once
#define FLT_RADIX 2
#define FLT_MANT_DIG 24
#define FLT_DIG 6
#define FLT_MIN_EXP (-125)
#define FLT_MAX_EXP 128
#define FLT_EPSILON 1.19209290e-07F
#define FLT_MIN 1.17549435e-38F
#define FLT_MAX 3.40282347e+38F
#define DBL_MANT_DIG 53
#define DBL_DIG 15
#define DBL_MIN_EXP (-1021)
#define DBL_MAX_EXP 1024
#define DBL_EPSILON 2.2204460492503131e-16
#define DBL_MIN 2.2250738585072014e-308
#define DBL_MAX 1.7976931348623157e+308
)";

// NVRTC has the functions of <math.h> built in. Infinity and NaN are not constant expressions here.
constexpr const char* kMath = R"(#pragma once
#define HUGE_VAL __longlong_as_double(0x7ff0000000000000LL)
#define HUGE_VALF __int_as_float(0x7f800000)
#define INFINITY __int_as_float(0x7f800000)
#define NAN __int_as_float(0x7fffffff)
#define M_E 2.7182818284590452354
#define M_LOG2E 1.4426950408889634074
#define M_LOG10E 0.43429448190325182765
#define M_LN2 0.69314718055994530942
#define M_LN10 2.30258509299404568402
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_2_PI 0.63661977236758134308
#define M_2_SQRTPI 1.12837916709551257390
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440
namespace std {
using ::abs; using ::fabs; using ::sqrt; using ::exp; using ::log; using ::pow; using ::sin; using ::cos; using ::tan;
using ::tanh; using ::floor; using ::ceil; using ::fmin; using ::fmax; using ::fma; using ::isnan; using ::isinf;
using ::acos; using ::asin; using ::atan; using ::atan2; using ::cosh; using ::sinh; using ::acosh; using ::asinh;
using ::atanh; using ::cbrt; using ::hypot; using ::fmod; using ::remainder; using ::round; using ::lround; using ::trunc;
using ::rint; using ::exp2; using ::expm1; using ::log2; using ::log10; using ::log1p; using ::erf; using ::erfc;
using ::tgamma; using ::lgamma; using ::copysign; using ::isfinite; using ::signbit; using ::ldexp; using ::frexp;
}
)";

// PyTorch extensions use PyTorch's names for the two half types.
constexpr const char* kTorch = R"(#pragma once
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <stdint.h>
#include <math.h>
#include <algorithm>
#include <limits>
#include <type_traits>
namespace c10 { using Half = __half; using BFloat16 = __nv_bfloat16; }
namespace at { using c10::Half; using c10::BFloat16; }
)";

// The whole C++ library, as g++ has it.
constexpr const char* kEverything = R"(#pragma once
#include <algorithm>
#include <cfloat>
#include <climits>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <type_traits>
)";

// cuBLAS' headers include the narrow types.
constexpr const char* kOfCublas = R"(#pragma once
#include <cuComplex.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
)";

// cuFFT's element types.
constexpr const char* kOfCufft = R"(#pragma once
#include <cuComplex.h>
typedef float cufftReal;
typedef double cufftDoubleReal;
typedef cuComplex cufftComplex;
typedef cuDoubleComplex cufftDoubleComplex;
)";

// Includes what g++ predefines.
constexpr const char* kImplied = R"(#pragma once
#ifndef __FLT_MAX__
#define __FLT_MAX__ 3.40282347e+38F
#define __FLT_MIN__ 1.17549435e-38F
#define __FLT_EPSILON__ 1.19209290e-7F
#define __DBL_MAX__ 1.7976931348623157e+308
#define __DBL_MIN__ 2.2250738585072014e-308
#define __DBL_EPSILON__ 2.2204460492503131e-16
#endif
#ifndef __INT_MAX__
#define __INT_MAX__ 2147483647
#endif
#include <algorithm>
#include <cfloat>
#include <climits>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <type_traits>
)";

// Headers that a POSIX program includes for host threads use the name of their type.
constexpr const char* kThreads = R"(#pragma once
typedef unsigned long pthread_t;
)";

constexpr BuiltinText kTexts[] = {
    {"stdlib.h", kTypes},
    {"cstdlib", kTypes},
    {"sys/types.h", kTypes},
    {"curand.h", kRandom},
    {"bits/stdc++.h", kEverything},
    {"cublas_v2.h", kOfCublas},
    {"cufft.h", kOfCufft},
    {"cufftXt.h", kOfCufft},
    {"cublas.h", kOfCublas},
    {"cublasLt.h", kOfCublas},
    {kImpliedHeader, kImplied},
    {"cstddef", kSizes},
    {"stdint.h", kIntegers},
    {"cstdint", kIntegers},
    {"inttypes.h", kIntegers},
    {"limits.h", kLimits},
    {"climits", kLimits},
    {"float.h", kFloats},
    {"cfloat", kFloats},
    {"math.h", kMath},
    {"cmath", kMath},
    {"algorithm", kAlgorithm},
    {"concepts", kConcepts},
    {"pthread.h", kThreads},
    {"utility", "#include <algorithm>\n"},
    {"type_traits", kTraits},
    {"limits", kNumericLimits},
    {"torch/extension.h", kTorch},
    {"torch/torch.h", kTorch},
    {"torch/types.h", kTorch},
    {"torch/all.h", kTorch},
    {"ATen/ATen.h", kTorch},
    {"c10/util/Half.h", kTorch},
    {"c10/util/BFloat16.h", kTorch},
    {"ATen/cuda/CUDAContext.h", kTorch},
};

}  // namespace

std::span<const BuiltinText> header_texts() { return kTexts; }

}  // namespace attnscope::compile
