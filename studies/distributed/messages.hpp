// Serialises numbers and arrays for messages between ranks, which must have the same byte order.
#pragma once

#include <cstring>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "core/contract/ranks.hpp"

namespace workbench {

class MessageWriter {
public:
    template <typename T>
    void put(const T& value) {
        append(std::as_bytes(std::span(&value, 1)));
        static_assert(std::is_trivially_copyable_v<T>);
    }
    /// Writes the number of values, then the values.
    template <typename T>
    void put_all(std::span<const T> values) {
        put(values.size());
        append(std::as_bytes(values));
    }
    [[nodiscard]] const Bytes& bytes() const { return bytes_; }
    [[nodiscard]] Bytes take() { return std::move(bytes_); }

private:
    void append(std::span<const std::byte> more) { bytes_.insert(bytes_.end(), more.begin(), more.end()); }

    Bytes bytes_;
};

/// Reads what MessageWriter wrote; throws std::logic_error at the end of the message.
class MessageReader {
public:
    explicit MessageReader(std::span<const std::byte> bytes) : rest_(bytes) {}

    template <typename T>
    [[nodiscard]] T get() {
        T value;
        std::memcpy(&value, next(sizeof(T)), sizeof(T));
        return value;
    }
    template <typename T, typename Array = std::vector<T>>
    [[nodiscard]] Array get_all() {
        Array values(get<std::size_t>());
        if (!values.empty()) std::memcpy(values.data(), next(values.size() * sizeof(T)), values.size() * sizeof(T));
        return values;
    }

private:
    const std::byte* next(std::size_t count) {
        if (count > rest_.size()) throw std::logic_error("a message between ranks is too short");
        const std::byte* const found = rest_.data();
        rest_ = rest_.subspan(count);
        return found;
    }

    std::span<const std::byte> rest_;
};

}  // namespace workbench
