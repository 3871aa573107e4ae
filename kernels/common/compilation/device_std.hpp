// The parts of the C++ standard library that schedules use, for NVRTC, which has none of its own.
#pragma once

namespace workbench {

/// A header that NVRTC finds by its name.
struct DeviceHeader {
    const char* name;
    const char* text;
};

inline constexpr DeviceHeader device_headers[] = {
    {"cstdint", R"(#pragma once
namespace std {
using int8_t = signed char;
using uint8_t = unsigned char;
using int16_t = short;
using uint16_t = unsigned short;
using int32_t = int;
using uint32_t = unsigned;
using int64_t = long;
using uint64_t = unsigned long;
using size_t = decltype(sizeof 0);
}  // namespace std
static_assert(sizeof(std::int64_t) == 8);
)"},
    {"type_traits", R"(#pragma once
#include <cstdint>
namespace std {
template <typename T, T number>
struct integral_constant {
    static constexpr T value = number;
    using value_type = T;
    using type = integral_constant;
    constexpr operator T() const noexcept { return value; }
    constexpr T operator()() const noexcept { return value; }
};
template <bool truth>
using bool_constant = integral_constant<bool, truth>;
using true_type = bool_constant<true>;
using false_type = bool_constant<false>;
template <typename, typename>
inline constexpr bool is_same_v = false;
template <typename T>
inline constexpr bool is_same_v<T, T> = true;
template <typename T>
inline constexpr bool is_final_v = __is_final(T);
template <typename Base, typename Derived>
inline constexpr bool is_base_of_v = __is_base_of(Base, Derived);
template <typename T>
struct remove_reference { using type = T; };
template <typename T>
struct remove_reference<T&> { using type = T; };
template <typename T>
struct remove_reference<T&&> { using type = T; };
template <typename T>
struct remove_cv { using type = T; };
template <typename T>
struct remove_cv<const T> { using type = T; };
template <typename T>
struct remove_cv<volatile T> { using type = T; };
template <typename T>
struct remove_cv<const volatile T> { using type = T; };
template <typename T>
using remove_reference_t = typename remove_reference<T>::type;
template <typename T>
using remove_cv_t = typename remove_cv<T>::type;
template <typename T>
using remove_cvref_t = remove_cv_t<remove_reference_t<T>>;
template <bool condition, typename A, typename B>
struct conditional { using type = A; };
template <typename A, typename B>
struct conditional<false, A, B> { using type = B; };
template <bool condition, typename A, typename B>
using conditional_t = typename conditional<condition, A, B>::type;
}  // namespace std
)"},
    {"utility", R"(#pragma once
#include <type_traits>
namespace std {
template <typename T>
T&& declval() noexcept;
}  // namespace std
)"},
    {"concepts", R"(#pragma once
#include <utility>
namespace std {
template <typename A, typename B>
concept same_as = is_same_v<A, B> && is_same_v<B, A>;
template <typename From, typename To>
concept convertible_to = requires(void (*take)(To), From (*give)()) { take(give()); static_cast<To>(give()); };
template <typename Derived, typename Base>
concept derived_from = is_base_of_v<Base, Derived> && convertible_to<const volatile Derived*, const volatile Base*>;
}  // namespace std
)"},
};

}  // namespace workbench
