// Checksums by which files and results are recognized.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace workbench {

/// 128 bits of XXH3.
class Checksum {
public:
    Checksum();
    ~Checksum();
    Checksum(const Checksum&) = delete;
    Checksum& operator=(const Checksum&) = delete;

    void add(const void* data, std::size_t bytes);
    template <typename Element>
    void add(std::span<const Element> array) {
        add(array.data(), array.size_bytes());
    }

    /// 32 hexadecimal digits.
    [[nodiscard]] std::string text() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

inline constexpr std::size_t checksum_letters = 32;

[[nodiscard]] std::string checksum_of(std::string_view text);

}  // namespace workbench
