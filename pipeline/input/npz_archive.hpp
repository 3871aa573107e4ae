// The arrays of a numpy .npz file.
// Source: numpy, "numpy.lib.format": a .npz is a zip archive of .npy files, each a header in text and the raw array.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace workbench {

struct NpyArray {
    std::string type;                 // numpy's name: "<f8", "|b1"
    std::vector<std::int64_t> shape;  // empty: a scalar
    std::vector<std::byte> bytes;     // as many as type and shape say

    [[nodiscard]] std::int64_t size() const;
};

/// Reads those members (named without ".npy") that are there; the others are passed over. Throws InputError.
[[nodiscard]] std::map<std::string, NpyArray> read_npz(const std::filesystem::path& path, const std::set<std::string>& wanted);

}  // namespace workbench
