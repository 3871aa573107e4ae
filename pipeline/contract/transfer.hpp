// What an object holds, piece by piece: written to somewhere, or read back from there, by one description of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace workbench {

/// What is read is not what was written.
struct BrokenTransfer : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Takes numbers, arrays, and objects with a `transfer(Transfer&)` of their own, in an order that is the same whenever an
/// object of the kind passes. Reading throws BrokenTransfer, before memory is taken, where there is less than an array needs.
class Transfer {
public:
    Transfer() = default;
    Transfer(const Transfer&) = delete;
    Transfer& operator=(const Transfer&) = delete;
    virtual ~Transfer() = default;

    template <typename... Parts>
    void operator()(Parts&... parts) {
        (pass(parts), ...);
    }

    [[nodiscard]] virtual bool reads() const = 0;

private:
    virtual void pass_bytes(void* data, std::size_t bytes) = 0;
    /// Bytes that can still be read.
    [[nodiscard]] virtual std::size_t left() const = 0;

    std::size_t pass_count(std::size_t count) {
        std::uint64_t passed = count;
        pass_bytes(&passed, sizeof passed);
        return passed;
    }

    /// Any byte may be read, and not every byte is a bool.
    bool pass_truth(bool truth) {
        std::uint8_t byte = truth ? 1 : 0;
        pass_bytes(&byte, sizeof byte);
        return byte != 0;
    }
    void pass(bool& truth) { truth = pass_truth(truth); }

    template <typename Part>
    void pass(Part& part) {
        static_assert(!std::is_pointer_v<Part>);
        if constexpr (requires { part.transfer(*this); }) {
            part.transfer(*this);
        } else {
            static_assert(std::is_trivially_copyable_v<Part>);
            pass_bytes(&part, sizeof part);
        }
    }

    template <typename First, typename Second>
    void pass(std::pair<First, Second>& pair) {
        (*this)(pair.first, pair.second);
    }

    template <typename Part>
    void pass(std::optional<Part>& part) {
        if (!pass_truth(part.has_value())) return part.reset();
        if (!part) part.emplace();
        pass(*part);
    }

    void pass(std::string& text) {
        const std::size_t count = pass_count(text.size());
        if (reads()) resize(text, count, 1);
        pass_bytes(text.data(), count);
    }

    template <typename Element, typename Allocator>
    void pass(std::vector<Element, Allocator>& list) {
        const std::size_t count = pass_count(list.size());
        if constexpr (std::is_trivially_copyable_v<Element>) {
            if (reads()) resize(list, count, sizeof(Element));
            pass_bytes(list.data(), count * sizeof(Element));
        } else if (reads()) {
            list.clear();
            for (std::size_t i = 0; i < count; ++i) pass(list.emplace_back());
        } else {
            for (Element& element : list) pass(element);
        }
    }

    void resize(auto& list, std::size_t count, std::size_t element_bytes) {
        if (count > left() / element_bytes) throw BrokenTransfer("an array of more than is there");
        list.resize(count);
    }
};

}  // namespace workbench
