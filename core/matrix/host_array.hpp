// The arrays of matrices, shares and layouts. Large ones are in huge pages where the system has them, because page faults and
// TLB misses would otherwise take longer than the work itself; all threads write the first values, because one thread alone
// would take longer than all of them take for the work that follows.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <limits>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/matrix/trial_process.hpp"
#include "core/matrix/types.hpp"

namespace workbench {

/// Calls work(begin, end) for pieces of 0 .. count, by all threads where there are many; inside a parallel loop, by the calling
/// thread.
void for_pieces(std::size_t count, const std::function<void(std::size_t, std::size_t)>& work);

/// Turns counts, [i + 1] for item i, into offsets: an inclusive scan, in parallel like for_pieces.
void sum_up(std::span<Offset> counts);

/// An iterator over items that ArrayAllocator leaves unwritten.
class Unwritten {
public:
    using iterator_category = std::random_access_iterator_tag;
    using value_type = Unwritten;
    using difference_type = std::ptrdiff_t;
    using pointer = const Unwritten*;
    using reference = Unwritten;

    explicit Unwritten(std::size_t place) : place_(static_cast<std::ptrdiff_t>(place)) {}
    Unwritten operator*() const { return *this; }
    Unwritten& operator++() {
        ++place_;
        return *this;
    }
    friend std::ptrdiff_t operator-(const Unwritten& a, const Unwritten& b) { return a.place_ - b.place_; }
    friend bool operator==(const Unwritten&, const Unwritten&) = default;

private:
    std::ptrdiff_t place_;
};

/// Like std::allocator, but uses huge pages and can leave items unwritten.
template <typename Item>
struct ArrayAllocator : std::allocator<Item> {
    ArrayAllocator() = default;
    template <typename Other>
    ArrayAllocator(const ArrayAllocator<Other>&) {}  // there is no state to copy
    template <typename Other>
    struct rebind {
        using other = ArrayAllocator<Other>;
    };

    [[nodiscard]] Item* allocate(std::size_t count) {
        if (count > std::numeric_limits<std::size_t>::max() / sizeof(Item)) throw std::bad_array_new_length();
        return static_cast<Item*>(allocate_array(count * sizeof(Item)));
    }
    void deallocate(Item* items, std::size_t /*count*/) noexcept { free_array(items); }
    void construct(Item*, Unwritten) { static_assert(std::is_trivially_copyable_v<Item>); }
    template <typename... From>
    void construct(Item* item, From&&... from) {
        std::construct_at(item, std::forward<From>(from)...);
    }
};

/// A std::vector whose allocator can leave items unwritten.
template <typename Item>
using HostArray = std::vector<Item, ArrayAllocator<Item>>;

template <typename Item>
bool operator==(const HostArray<Item>& a, const std::vector<Item>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

/// An array of `count` items without values: each must be written before it is read.
template <typename Item>
[[nodiscard]] HostArray<Item> unwritten_array(std::size_t count) {
    return HostArray<Item>(Unwritten(0), Unwritten(count));
}

/// Replaces an array by `count` items without values: each must be written before it is read.
template <typename Item>
void make_room(HostArray<Item>& items, std::size_t count) {
    items = unwritten_array<Item>(count);
}

/// Replaces an array by `count` items of one value.
template <typename Item>
void make_filled(HostArray<Item>& items, std::size_t count, const std::type_identity_t<Item>& value) {
    make_room(items, count);
    for_pieces(count, [&](std::size_t begin, std::size_t end) { std::fill(items.data() + begin, items.data() + end, value); });
}

/// Replaces an array by `count` zeros.
template <typename Item>
void make_zeros(HostArray<Item>& items, std::size_t count) {
    make_filled(items, count, Item{});
}

/// Replaces an array by the items of another one, converted to its type.
template <typename Item, typename From>
void make_copy(HostArray<Item>& items, const From& from) {
    make_room(items, from.size());
    for_pieces(from.size(), [&](std::size_t begin, std::size_t end) {
        std::transform(from.data() + begin, from.data() + end, items.data() + begin,
                       [](const auto& item) { return static_cast<Item>(item); });
    });
}

}  // namespace workbench
