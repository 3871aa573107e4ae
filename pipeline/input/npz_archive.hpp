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

/// The items first .. end - 1 of an array, in the order of the file.
struct ItemRange {
    std::int64_t first = 0;
    std::int64_t end = 0;
};
inline constexpr ItemRange all_items{0, std::numeric_limits<std::int64_t>::max()};
inline constexpr ItemRange no_items{0, 0};

struct NpyArray {
    std::string type;                 // numpy's name: "<f8", "|b1"
    std::vector<std::int64_t> shape;  // empty: a scalar
    ItemRange items;                  // that were read, within the array
    std::vector<std::byte> bytes;     // of these items

    [[nodiscard]] std::int64_t size() const;  // of the whole array
    [[nodiscard]] std::int64_t items_read() const { return items.end - items.first; }
};

/// True if these are the first bytes of a zip archive.
[[nodiscard]] bool is_zip(std::string_view start);

/// Reads the wanted items of each member, named without ".npy"; missing members are left out. Other items take no memory, but
/// the check sum covers them; of a member with no_items only the header is read. Throws InputError, and MachineError if memory
/// is short.
[[nodiscard]] std::map<std::string, NpyArray> read_npz(const std::filesystem::path& path,
                                                       const std::map<std::string, ItemRange>& wanted);

}  // namespace workbench
