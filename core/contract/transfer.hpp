// Serialization: one description of an object serves for writing it and for reading it back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/matrix/interface.hpp"

namespace workbench {

/// The data that is read cannot have been written by the same description.
struct BrokenTransfer : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Writes or reads numbers, arrays, and objects with a function `transfer(Transfer&)`, in the same order for each object of a
/// type. Reading throws BrokenTransfer, before it allocates, if an array is longer than the remaining data.
class Transfer : public Interface {
public:
    template <typename... Parts>
    void operator()(Parts&... parts) {
        (pass(parts), ...);
    }

    [[nodiscard]] virtual bool reads() const = 0;

private:
    virtual void pass_bytes(void* data, std::size_t bytes) = 0;
    /// The bytes that remain to be read.
    [[nodiscard]] virtual std::size_t left() const = 0;

    std::size_t pass_count(std::size_t count) {
        std::uint64_t passed = count;
        pass_bytes(&passed, sizeof passed);
        return passed;
    }

    /// As a byte, because the data may contain bytes that are no valid bool.
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
        if (count > left() / element_bytes) throw BrokenTransfer("an array is longer than the remaining data");
        list.resize(count);
    }
};

}  // namespace workbench
