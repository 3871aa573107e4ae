// The arrays of matrices, shares and layouts. Large ones lie in huge pages, where the system has them: with small ones, making
// the pages and looking up their addresses takes longer than the work on what is in them. All threads write their first
// values, because one alone takes longer than all of them do for what comes after.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "pipeline/matrix/types.hpp"

namespace workbench {

/// Asks for huge pages for the whole ones among these bytes, which nobody has touched yet. Advice, no more.
void advise_huge_pages(void* begin, std::size_t bytes);

/// Calls work(begin, end) for pieces of 0 .. count, by all threads where they are many; within a parallel loop by
/// the thread that calls.
void for_pieces(std::size_t count, const std::function<void(std::size_t, std::size_t)>& work);

/// Turns counts, [i + 1] of item i, into offsets, in parallel like for_pieces.
void sum_up(std::span<Offset> counts);

/// Stands for an item that is left unwritten, and counts such items: ArrayAllocator makes nothing of one.
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

/// That of std::vector, but for huge pages and for items that are left unwritten.
template <typename Item>
struct ArrayAllocator : std::allocator<Item> {
    ArrayAllocator() = default;
    template <typename Other>
    ArrayAllocator(const ArrayAllocator<Other>&) {}  // as between any allocators of one kind: nothing is kept
    template <typename Other>
    struct rebind {
        using other = ArrayAllocator<Other>;
    };

    [[nodiscard]] Item* allocate(std::size_t count) {
        Item* const items = std::allocator<Item>::allocate(count);
        advise_huge_pages(items, count * sizeof(Item));
        return items;
    }
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

/// Gives an array so many items without a value: all of them are to be written before any is read.
template <typename Item>
void make_room(HostArray<Item>& items, std::size_t count) {
    items = HostArray<Item>(Unwritten(0), Unwritten(count));
}

/// Gives an array so many items of one value.
template <typename Item>
void make_filled(HostArray<Item>& items, std::size_t count, const std::type_identity_t<Item>& value) {
    make_room(items, count);
    for_pieces(count, [&](std::size_t begin, std::size_t end) { std::fill(items.data() + begin, items.data() + end, value); });
}

/// Gives an array so many zeros.
template <typename Item>
void make_zeros(HostArray<Item>& items, std::size_t count) {
    make_filled(items, count, Item{});
}

/// Gives an array the items of another, perhaps rounded.
template <typename Item, typename From>
void make_copy(HostArray<Item>& items, const From& from) {
    make_room(items, from.size());
    for_pieces(from.size(), [&](std::size_t begin, std::size_t end) {
        std::transform(from.data() + begin, from.data() + end, items.data() + begin,
                       [](const auto& item) { return static_cast<Item>(item); });
    });
}

/// Room for so many items, without a value until they are written. Unlike HostArray it can't be copied.
template <typename Item>
class RawArray {
    static_assert(std::is_trivially_copyable_v<Item>);

public:
    RawArray() = default;
    explicit RawArray(std::size_t count) : items_(static_cast<Item*>(::operator new(count * sizeof(Item)))), size_(count) {
        advise_huge_pages(items_.get(), count * sizeof(Item));
    }

    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] Item* data() const { return items_.get(); }
    [[nodiscard]] Item& operator[](std::size_t i) const { return items_.get()[i]; }

private:
    struct Delete {
        void operator()(Item* items) const { ::operator delete(items); }
    };
    std::unique_ptr<Item, Delete> items_;
    std::size_t size_ = 0;
};

}  // namespace workbench
