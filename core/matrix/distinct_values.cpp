#include "core/matrix/distinct_values.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <mutex>

#include "core/matrix/host_array.hpp"
#include "core/matrix/random.hpp"
#include "core/matrix/value_bits.hpp"

namespace workbench {
namespace {

/// A set of at most `most` values, by open addressing.
template <typename Value>
class ValueSet {
public:
    explicit ValueSet(Offset most) : most_(most), table_(std::bit_ceil(static_cast<std::size_t>(2 * most + 2)), -1) {}

    /// False if there are too many.
    bool insert(Value value) {
        const std::size_t mask = table_.size() - 1;
        std::size_t place = mixed(bits_of(value)) & mask;
        for (; table_[place] >= 0; place = (place + 1) & mask) {
            if (bits_of(values_[table_[place]]) == bits_of(value)) return true;
        }
        if (static_cast<Offset>(values_.size()) >= most_) return false;
        table_[place] = static_cast<int>(values_.size());
        values_.push_back(value);
        return true;
    }
    [[nodiscard]] const std::vector<Value>& values() const { return values_; }

private:
    Offset most_;
    std::vector<int> table_;
    std::vector<Value> values_;
};

template <typename Value>
std::optional<std::vector<Value>> distinct(std::size_t count, Offset most, const auto& value_at) {
    std::mutex mutex;
    ValueSet<Value> all(most);
    std::atomic<bool> fit = true;
    for_pieces(count, [&](std::size_t begin, std::size_t end) {
        ValueSet<Value> of_piece(most);
        for (std::size_t i = begin; i < end; ++i) {
            if (!of_piece.insert(value_at(i))) fit = false;
            if (!fit.load(std::memory_order_relaxed)) return;
        }
        const std::lock_guard lock(mutex);
        for (const Value value : of_piece.values()) {
            if (!all.insert(value)) fit = false;
        }
    });
    if (!fit) return std::nullopt;
    std::vector<Value> sorted = all.values();
    std::sort(sorted.begin(), sorted.end(), [](Value a, Value b) { return bits_of(a) < bits_of(b); });
    return sorted;
}

}  // namespace

template <typename Value>
std::optional<std::vector<Value>> distinct_values(std::span<const Value> values, Offset most) {
    return distinct<Value>(values.size(), most, [&](std::size_t i) { return values[i]; });
}

std::optional<std::vector<float>> distinct_values_in_f32(std::span<const double> values, Offset most) {
    return distinct<float>(values.size(), most, [&](std::size_t i) { return static_cast<float>(values[i]); });
}

bool is_exact_in_f32(double value) { return bits_of(static_cast<double>(static_cast<float>(value))) == bits_of(value); }

bool are_exact_in_f32(std::span<const double> values) {
    std::atomic<bool> exact = true;
    for_pieces(values.size(), [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end && exact.load(std::memory_order_relaxed); ++i) {
            if (!is_exact_in_f32(values[i])) exact = false;
        }
    });
    return exact;
}

template std::optional<std::vector<float>> distinct_values(std::span<const float>, Offset);
template std::optional<std::vector<double>> distinct_values(std::span<const double>, Offset);

}  // namespace workbench
