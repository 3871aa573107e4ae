// Files in the format of scipy.sparse.save_npz.
#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/matrix/csr_matrix.hpp"

namespace workbench {

/// The bytes of each .npy file, by member name.
using Members = std::map<std::string, std::string>;

std::filesystem::path write_npz(const std::string& name, const Members& members, bool deflate = true);

/// The header of a .npy file with numpy's names for a type and a shape.
std::string npy_header(const std::string& type, const std::string& shape);

template <typename Number, typename Allocator = std::allocator<Number>>
std::string npy(const std::string& type, const std::vector<Number, Allocator>& numbers) {
    const std::string bytes(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(Number));
    return npy_header(type, fmt::format("({},)", numbers.size())) + bytes;
}

template <typename Number>
std::string npy_as(const std::string& type, const std::vector<int>& numbers) {
    return npy(type, std::vector<Number>(numbers.begin(), numbers.end()));
}

inline std::string npy_int(const std::vector<int>& numbers) { return npy("<i4", numbers); }
inline std::string npy_format(const std::string& format) { return npy_header("|S3", "()") + format; }

/// `example` in CSR.
Members csr_members();
Members csr_members(const CsrMatrix& matrix);

Members with(Members members, const std::string& name, const std::string& bytes);

}  // namespace workbench
