// The arrays of numpy's .npy and .npz files.
// Source: numpy, "numpy.lib.format": a .npy is a header in text and the raw array, a .npz a zip archive of .npy files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/input/bytes/byte_source.hpp"

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
    bool by_columns = false;          // the first index varies fastest ("fortran_order")
    ItemRange items;                  // that were read, within the array
    std::vector<std::byte> bytes;     // of these items

    [[nodiscard]] std::int64_t size() const;  // of the whole array
    [[nodiscard]] std::int64_t items_read() const { return items.end - items.first; }
};

/// Item i; the bytes of an array need not be aligned for its type.
template <typename Number>
[[nodiscard]] Number item(const NpyArray& array, std::size_t i) {
    Number number;
    std::memcpy(&number, array.bytes.data() + i * sizeof(Number), sizeof(Number));
    return number;
}

/// True if the number is that integer, which a wider type also contains.
template <typename Integer>
[[nodiscard]] bool is_exact(Integer integer, double number) {
    return static_cast<long double>(integer) == static_cast<long double>(number);
}

/// Calls visit with a value of the C++ type of a numpy type; false if there is none.
template <typename Visit>
bool with_integer_type(const std::string& type, Visit&& visit) {
    if (type == "<i4") return visit(std::int32_t{}), true;
    if (type == "<i8") return visit(std::int64_t{}), true;
    if (type == "|i1") return visit(std::int8_t{}), true;
    if (type == "|u1") return visit(std::uint8_t{}), true;
    if (type == "<i2") return visit(std::int16_t{}), true;
    if (type == "<u2") return visit(std::uint16_t{}), true;
    if (type == "<u4") return visit(std::uint32_t{}), true;
    if (type == "<u8") return visit(std::uint64_t{}), true;
    return false;
}

/// Like with_integer_type, also for real numbers and booleans.
template <typename Visit>
bool with_number_type(const std::string& type, Visit&& visit) {
    if (type == "<f8") return visit(double{}), true;
    if (type == "<f4") return visit(float{}), true;
    if (type == "|b1") return visit(std::uint8_t{}), true;
    return with_integer_type(type, visit);
}

/// True if these are the first bytes of a .npy file.
[[nodiscard]] bool is_npy(std::string_view start);

/// Reads a .npy file. `name` precedes messages. Throws like read_npz.
[[nodiscard]] NpyArray read_npy(const std::string& name, ByteSource& bytes);

/// True if these are the first bytes of a zip archive.
[[nodiscard]] bool is_zip(std::string_view start);

/// Reads the wanted items of each member, named without ".npy"; missing members are left out. Other items take no memory, but
/// the check sum covers them; for no_items only the header of the member is read. Throws InputError, and MachineError if memory
/// is short.
[[nodiscard]] std::map<std::string, NpyArray> read_npz(const std::filesystem::path& path,
                                                       const std::map<std::string, ItemRange>& wanted);

}  // namespace workbench
