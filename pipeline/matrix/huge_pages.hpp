// Large arrays in huge pages, where the system has them: with small ones, making the pages and looking up their addresses takes
// longer than the work on what is in them.
#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>
#include <vector>

namespace workbench {

/// Asks for huge pages for the whole ones among these bytes, which nobody has touched yet. Advice, no more.
void advise_huge_pages(void* begin, std::size_t bytes);

/// The same, and all threads make the pages, so that one thread need not make them all when it writes there first. What is
/// there is overwritten. Not within a parallel loop.
void make_pages(void* begin, std::size_t bytes);

/// Room for so many items, without a value until they are written.
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

/// Gives an empty array so many items of one value. Not within a parallel loop.
template <typename Item>
void make_filled(std::vector<Item>& items, std::size_t count, const Item& value) {
    items.reserve(count);
    make_pages(items.data(), count * sizeof(Item));
    items.resize(count, value);
}

/// Gives an empty array so many items, of zeros. Not within a parallel loop.
template <typename Item>
void make_zeros(std::vector<Item>& items, std::size_t count) {
    make_filled(items, count, Item{});
}

/// Gives an empty array the items of another, perhaps rounded. Not within a parallel loop.
template <typename Item, typename From>
void make_copy(std::vector<Item>& items, const std::vector<From>& from) {
    items.reserve(from.size());
    make_pages(items.data(), from.size() * sizeof(Item));
    items.assign(from.begin(), from.end());
}

}  // namespace workbench
