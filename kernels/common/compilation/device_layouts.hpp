// Stand-ins for what the headers of layouts include and NVRTC lacks, so that it compiles the schedules of the program's formats
// from these headers. They declare what runs on the host alone, and define what kernels call.
#pragma once

namespace workbench {

/// Headers of the C++ library. Each is the text device_algorithms.
inline constexpr const char* headers_of_algorithms[] = {
    "algorithm", "array", "bit",       "cstddef", "functional",  "iterator", "limits", "memory",
    "numeric",   "span",  "stdexcept", "string",  "string_view", "variant",  "vector", "optional"};

inline constexpr const char* device_algorithms = R"(#ifndef WORKBENCH_DEVICE_ALGORITHMS
#define WORKBENCH_DEVICE_ALGORITHMS
#include <utility>
namespace std {
template <typename Function>
struct function {};
template <typename T>
struct vector {
    vector() = default;
    vector(int) {}
};
template <typename... T>
struct variant {};
template <typename T>
struct optional {};
template <typename T>
struct unique_ptr {};
template <typename T>
struct shared_ptr {};
template <typename T>
struct span {};
template <typename First, typename Second>
struct pair {};
struct string {
    string(const char*);
};
string operator+(const char*, const string&);
string to_string(long);
struct logic_error {
    logic_error(const char*);
    logic_error(const string&);
};
template <typename T, size_t count>
struct array {
    T elements[count];
    constexpr const T& operator[](size_t i) const { return elements[i]; }
    constexpr const T* begin() const { return elements; }
    constexpr const T* end() const { return elements + count; }
};
template <typename T, typename... More>
array(T, More...) -> array<T, 1 + sizeof...(More)>;
template <typename T>
constexpr const T& min(const T& a, const T& b) { return b < a ? b : a; }
template <typename T>
constexpr const T& max(const T& a, const T& b) { return a < b ? b : a; }
template <typename T>
constexpr const T& clamp(const T& a, const T& least, const T& most) { return a < least ? least : most < a ? most : a; }
template <typename To, typename From>
constexpr To bit_cast(const From& from) { return __builtin_bit_cast(To, from); }
template <typename At, typename T>
constexpr At find(At at, At end, const T& wanted) {
    while (at != end && *at != wanted) ++at;
    return at;
}
template <typename At, typename T>
constexpr At upper_bound(At at, At end, const T& bound) {
    while (at != end) {
        const At middle = at + (end - at) / 2;
        if (bound < *middle) {
            end = middle;
        } else {
            at = middle + 1;
        }
    }
    return at;
}
template <typename T>
constexpr T gcd(T a, T b) {
    while (b != 0) {
        const T rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}
constexpr int bit_width(unsigned number) {
    int bits = 0;
    for (; number != 0; number /= 2) ++bits;
    return bits;
}
}  // namespace std
#endif
)";

/// Headers of the workbench. Each is the text device_layouts.
inline constexpr const char* headers_of_layouts[] = {"core/contract/device.hpp",
                                                     "core/contract/layout.hpp",
                                                     "core/contract/precision.hpp",
                                                     "core/contract/transfer.hpp",
                                                     "core/matrix/block_rows.hpp",
                                                     "core/matrix/csr_matrix.hpp",
                                                     "core/matrix/host_array.hpp",
                                                     "core/matrix/shares.hpp",
                                                     "kernels/common/entry/run_time_kernel.hpp",
                                                     "kernels/common/refusal/refusals.hpp",
                                                     "kernels/common/schedule/walk.hpp",
                                                     "kernels/common/storage/any_coding.hpp",
                                                     "kernels/common/storage/encode_values.hpp",
                                                     "kernels/common/storage/fields.hpp",
                                                     "kernels/common/storage/offsets.hpp",
                                                     "kernels/common/storage/origin.hpp",
                                                     "kernels/common/storage/pattern.hpp",
                                                     "kernels/common/storage/stored_layout.hpp",
                                                     "kernels/device/cuda_check.cuh",
                                                     "kernels/device/cuda_device.cuh"};

inline constexpr const char* device_layouts = R"(#ifndef WORKBENCH_DEVICE_LAYOUTS
#define WORKBENCH_DEVICE_LAYOUTS
#include <vector>
#include "core/matrix/bf16.hpp"
#include "core/matrix/types.hpp"
#include "kernels/common/storage/array_view.hpp"
#include "kernels/common/storage/coded_values.hpp"
namespace workbench {
template <typename Value>
concept ValueType = true;
template <typename Member>
concept ConstantMember = requires(const Member& member) {
    member.value;
    member.count;
};

struct CsrMatrix;
struct Device;
struct KernelEntry;
struct LayoutCost;
struct LayoutEntry;
struct LayoutField;
struct NonzeroOf;
struct Parameters;
struct PatternForecast;
struct Read;
struct ShareView;
struct Slot;
struct SlotBound;
struct StagedMatrix;
struct Transfer;
struct Origin {};
struct Pattern {};
struct WalkedRun {
    Index row;
    Offset count;
    Offset first;
    Offset stride;
    const Offset* offsets;
};
template <typename Value>
struct CsrOnHost;
template <typename Value>
struct DeviceArray;
template <typename Element>
struct HostArray {
    HostArray() = default;
    HostArray(int) {}
};
template <typename Element>
struct HostSpan {};
template <typename Value>
struct Kernel;

template <typename... Any>
struct CompressedLayout {};
template <typename... Any>
struct LayoutOfArrays {};
template <typename... Any>
struct OriginLayout {};
template <typename... Any>
struct PatternLayout {};
template <typename... Any>
struct StoredLayout {};
template <typename... Any>
struct VariantLayout {};
template <template <typename, template <typename> typename> typename Format, typename Value>
struct InAnyCoding {};
template <typename Stored>
struct StoredOnDevice {};
template <typename Stored, template <typename> typename Other, template <typename> typename Values>
struct InStorageOf;

constexpr int field_list(const auto&...) { return 0; }
template <auto...>
constexpr int number_field() { return 0; }
template <auto...>
constexpr int value_array(const char*) { return 0; }
template <auto...>
constexpr int column_array(const char*) { return 0; }
template <auto...>
constexpr int structure_array(const char*) { return 0; }
template <auto...>
constexpr int coded_value_array(const char*) { return 0; }
template <auto...>
constexpr int coded_column_array(const char*) { return 0; }
template <auto...>
constexpr int nested_fields() { return 0; }
constexpr auto MatrixSize::fields() { return 0; }
}  // namespace workbench
#endif
)";

}  // namespace workbench
