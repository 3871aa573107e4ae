// The value types that layouts and kernels exist for.
#pragma once

#include <concepts>
#include <string_view>

namespace workbench {

enum class Precision { f32, f64 };

[[nodiscard]] constexpr std::string_view name_of(Precision precision) { return precision == Precision::f32 ? "f32" : "f64"; }

[[nodiscard]] constexpr int value_bytes(Precision precision) { return precision == Precision::f32 ? 4 : 8; }

template <typename Value>
concept ValueType = std::same_as<Value, float> || std::same_as<Value, double>;

template <ValueType Value>
inline constexpr Precision precision_of = std::same_as<Value, float> ? Precision::f32 : Precision::f64;

/// One object for each value type: `both.get<float>()`.
template <template <typename> class Thing>
struct ForEachPrecision {
    Thing<float> f32 = {};
    Thing<double> f64 = {};

    template <ValueType Value>
    [[nodiscard]] const Thing<Value>& get() const {
        return pick<Value>(*this);
    }
    template <ValueType Value>
    [[nodiscard]] Thing<Value>& get() {
        return pick<Value>(*this);
    }

private:
    template <ValueType Value>
    static auto& pick(auto& both) {
        if constexpr (std::same_as<Value, float>) {
            return both.f32;
        } else {
            return both.f64;
        }
    }
};

}  // namespace workbench
