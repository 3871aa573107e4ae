// The arrays of a numpy .npz file.
// Source: numpy, "numpy.lib.format": a .npz is a zip archive of .npy files, each a header in text and the raw array.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace workbench {

/// Items of an array, in the order in which they lie in the file, from `first` up to, and without, `end`.
struct ItemRange {
    std::int64_t first = 0;
    std::int64_t end = 0;
};
inline constexpr ItemRange all_items{0, std::numeric_limits<std::int64_t>::max()};
inline constexpr ItemRange no_items{0, 0};

struct NpyArray {
    std::string type;                 // numpy's name: "<f8", "|b1"
    std::vector<std::int64_t> shape;  // empty: a scalar
    ItemRange items;                  // those that were read, no further than the array goes
    std::vector<std::byte> bytes;     // of these items, as many as the type says

    [[nodiscard]] std::int64_t size() const;  // of the whole array
    [[nodiscard]] std::int64_t items_read() const { return items.end - items.first; }
};

/// Is it a zip archive, as a .npz is, by its first bytes?
[[nodiscard]] bool is_zip(std::string_view start);

/// Reads these items of those members (named without ".npy") that are there. All else takes no memory: the other items of such
/// a member are passed over, and its check sum is checked; of a member of which no_items are wanted, the header alone is read.
/// Throws InputError, and MachineError where the items do not fit.
[[nodiscard]] std::map<std::string, NpyArray> read_npz(const std::filesystem::path& path,
                                                       const std::map<std::string, ItemRange>& wanted);

}  // namespace workbench
