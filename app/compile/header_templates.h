#pragma once

namespace attnscope::compile {

// The texts of the C++ library's headers of templates, as much as device code uses.

inline constexpr const char* kAlgorithm = R"(#pragma once
namespace std {
template <class T> __host__ __device__ constexpr const T& min(const T& a, const T& b) { return b < a ? b : a; }
template <class T> __host__ __device__ constexpr const T& max(const T& a, const T& b) { return a < b ? b : a; }
template <class T> __host__ __device__ constexpr const T& clamp(const T& v, const T& lo, const T& hi) {
  return v < lo ? lo : hi < v ? hi : v;
}
template <class T> __host__ __device__ constexpr void swap(T& a, T& b) { T t = a; a = b; b = t; }
}
)";

inline constexpr const char* kTraits = R"(#pragma once
namespace std {
template <class T, T v> struct integral_constant {
  static constexpr T value = v;
  using value_type = T;
  using type = integral_constant;
  __host__ __device__ constexpr operator T() const { return v; }
};
template <bool b> using bool_constant = integral_constant<bool, b>;
using true_type = bool_constant<true>;
using false_type = bool_constant<false>;
template <class A, class B> struct is_same : false_type {};
template <class A> struct is_same<A, A> : true_type {};
template <class A, class B> inline constexpr bool is_same_v = is_same<A, B>::value;
template <bool b, class T = void> struct enable_if {};
template <class T> struct enable_if<true, T> { using type = T; };
template <bool b, class T = void> using enable_if_t = typename enable_if<b, T>::type;
template <bool b, class A, class B> struct conditional { using type = A; };
template <class A, class B> struct conditional<false, A, B> { using type = B; };
template <bool b, class A, class B> using conditional_t = typename conditional<b, A, B>::type;
template <class...> using void_t = void;
template <class T> struct remove_const { using type = T; };
template <class T> struct remove_const<const T> { using type = T; };
template <class T> using remove_const_t = typename remove_const<T>::type;
template <class T> struct remove_volatile { using type = T; };
template <class T> struct remove_volatile<volatile T> { using type = T; };
template <class T> struct remove_cv { using type = typename remove_volatile<remove_const_t<T>>::type; };
template <class T> using remove_cv_t = typename remove_cv<T>::type;
template <class T> struct remove_reference { using type = T; };
template <class T> struct remove_reference<T&> { using type = T; };
template <class T> struct remove_reference<T&&> { using type = T; };
template <class T> using remove_reference_t = typename remove_reference<T>::type;
template <class T> using decay_t = remove_cv_t<remove_reference_t<T>>;
template <class T> struct decay { using type = decay_t<T>; };
template <class T> struct is_pointer : false_type {};
template <class T> struct is_pointer<T*> : true_type {};
template <class T> inline constexpr bool is_pointer_v = is_pointer<remove_cv_t<T>>::value;
template <class T> inline constexpr bool is_floating_point_v =
    is_same_v<remove_cv_t<T>, float> || is_same_v<remove_cv_t<T>, double> || is_same_v<remove_cv_t<T>, long double>;
template <class T> struct is_floating_point : bool_constant<is_floating_point_v<T>> {};
template <class T, class... All> inline constexpr bool attnscope_one_of_v = (is_same_v<T, All> || ...);
template <class T> inline constexpr bool is_integral_v =
    attnscope_one_of_v<remove_cv_t<T>, bool, char, signed char, unsigned char, short, unsigned short, int, unsigned,
                       long, unsigned long, long long, unsigned long long, wchar_t, char16_t, char32_t>;
template <class T> struct is_integral : bool_constant<is_integral_v<T>> {};
template <class T> inline constexpr bool is_arithmetic_v = is_integral_v<T> || is_floating_point_v<T>;
template <class T> struct is_arithmetic : bool_constant<is_arithmetic_v<T>> {};
template <class T, bool = is_arithmetic_v<T>> struct attnscope_signed : bool_constant<(T(-1) < T(0))> {};
template <class T> struct attnscope_signed<T, false> : false_type {};
template <class T> struct is_signed : bool_constant<attnscope_signed<T>::value> {};
template <class T> inline constexpr bool is_signed_v = is_signed<T>::value;
template <class T> struct is_unsigned : bool_constant<is_arithmetic_v<T> && !is_signed_v<T>> {};
template <class T> inline constexpr bool is_unsigned_v = is_unsigned<T>::value;
template <class T> struct make_unsigned { using type = T; };
template <> struct make_unsigned<signed char> { using type = unsigned char; };
template <> struct make_unsigned<char> { using type = unsigned char; };
template <> struct make_unsigned<short> { using type = unsigned short; };
template <> struct make_unsigned<int> { using type = unsigned; };
template <> struct make_unsigned<long> { using type = unsigned long; };
template <> struct make_unsigned<long long> { using type = unsigned long long; };
template <class T> using make_unsigned_t = typename make_unsigned<T>::type;
template <class T> struct make_signed { using type = T; };
template <> struct make_signed<unsigned char> { using type = signed char; };
template <> struct make_signed<char> { using type = signed char; };
template <> struct make_signed<unsigned short> { using type = short; };
template <> struct make_signed<unsigned> { using type = int; };
template <> struct make_signed<unsigned long> { using type = long; };
template <> struct make_signed<unsigned long long> { using type = long long; };
template <class T> using make_signed_t = typename make_signed<T>::type;
template <class T> T&& declval() noexcept;
}
)";

// Without the macros of <climits> and <cfloat>: CUDA's own headers define them too, with another spelling.
inline constexpr const char* kNumericLimits = R"(#pragma once
namespace std {
template <class T> struct numeric_limits { static constexpr bool is_specialized = false; };
#define ATTNSCOPE_LIMITS(T, low, high, is_whole, with_sign)                                     \
  template <> struct numeric_limits<T> {                                                        \
    static constexpr bool is_specialized = true, is_integer = is_whole, is_signed = with_sign;  \
    __host__ __device__ static constexpr T min() { return low; }                                \
    __host__ __device__ static constexpr T lowest() { return low; }                             \
    __host__ __device__ static constexpr T max() { return high; }                               \
  };
ATTNSCOPE_LIMITS(bool, false, true, true, false)
ATTNSCOPE_LIMITS(char, -128, 127, true, true)
ATTNSCOPE_LIMITS(signed char, -128, 127, true, true)
ATTNSCOPE_LIMITS(unsigned char, 0, 255, true, false)
ATTNSCOPE_LIMITS(short, -32768, 32767, true, true)
ATTNSCOPE_LIMITS(unsigned short, 0, 65535, true, false)
ATTNSCOPE_LIMITS(int, -2147483647 - 1, 2147483647, true, true)
ATTNSCOPE_LIMITS(unsigned, 0, 4294967295u, true, false)
ATTNSCOPE_LIMITS(long, -9223372036854775807l - 1, 9223372036854775807l, true, true)
ATTNSCOPE_LIMITS(unsigned long, 0, 18446744073709551615ul, true, false)
ATTNSCOPE_LIMITS(long long, -9223372036854775807ll - 1, 9223372036854775807ll, true, true)
ATTNSCOPE_LIMITS(unsigned long long, 0, 18446744073709551615ull, true, false)
#undef ATTNSCOPE_LIMITS
#define ATTNSCOPE_LIMITS(T, least, most, eps, infinite, not_a_number)                           \
  template <> struct numeric_limits<T> {                                                        \
    static constexpr bool is_specialized = true, is_integer = false, is_signed = true;          \
    static constexpr bool has_infinity = true, has_quiet_NaN = true;                            \
    __host__ __device__ static constexpr T min() { return least; }                              \
    __host__ __device__ static constexpr T lowest() { return -most; }                           \
    __host__ __device__ static constexpr T max() { return most; }                               \
    __host__ __device__ static constexpr T epsilon() { return eps; }                            \
    __device__ static T infinity() { return infinite; }                                         \
    __device__ static T quiet_NaN() { return not_a_number; }                                    \
  };
ATTNSCOPE_LIMITS(float, 1.17549435e-38f, 3.40282347e+38f, 1.19209290e-07f, __int_as_float(0x7f800000), __int_as_float(0x7fffffff))
ATTNSCOPE_LIMITS(double, 2.2250738585072014e-308, 1.7976931348623157e+308, 2.2204460492503131e-16, __longlong_as_double(0x7ff0000000000000LL),
                 __longlong_as_double(0x7ff8000000000000LL))
#undef ATTNSCOPE_LIMITS
}
)";

// Only C++20 has them.
inline constexpr const char* kConcepts = R"(#pragma once
#include <type_traits>
#if __cplusplus >= 202002L
namespace std {
template <class A, class B> concept same_as = is_same_v<A, B> && is_same_v<B, A>;
template <class T> concept integral = is_integral_v<T>;
template <class T> concept signed_integral = integral<T> && is_signed_v<T>;
template <class T> concept unsigned_integral = integral<T> && !is_signed_v<T>;
template <class T> concept floating_point = is_floating_point_v<T>;
}
#endif
)";

}  // namespace attnscope::compile
