#include "input/npz_files.hpp"

#include <zlib.h>

#include "input/input_files.hpp"

namespace workbench {

// A zip archive: members with their headers, the directory, and the offset of the directory.
std::filesystem::path write_npz(const std::string& name, const Members& members, bool deflate) {
    std::string archive;
    std::string directory;
    for (const auto& [member, bytes] : members) {
        const std::string file = member + ".npy";
        const std::string stored = deflate ? deflated(bytes, -15) : bytes;
        const std::uint64_t check_sum = crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size()));
        const std::string header = bytes_of(20, 2) + bytes_of(0, 2) + bytes_of(deflate ? 8 : 0, 2) + bytes_of(0, 4) +
                                   bytes_of(check_sum, 4) + bytes_of(stored.size(), 4) + bytes_of(bytes.size(), 4) +
                                   bytes_of(file.size(), 2) + bytes_of(0, 2);
        directory += "PK\x01\x02" + bytes_of(20, 2) + header + std::string(10, '\0') + bytes_of(archive.size(), 4) + file;
        archive += "PK\x03\x04" + header + file + stored;
    }
    const std::string end = "PK\x05\x06" + bytes_of(0, 4) + bytes_of(members.size(), 2) + bytes_of(members.size(), 2) +
                            bytes_of(directory.size(), 4) + bytes_of(archive.size(), 4) + bytes_of(0, 2);
    return write(name, archive + directory + end);
}

std::string npy_header(const std::string& type, const std::string& shape) {
    std::string text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}", type, shape);
    text.resize(118 - 1, ' ');
    return std::string("\x93NUMPY\x01\x00\x76\x00", 10) + text + "\n";
}

Members csr_members() {
    return {{"format", npy_format("csr")},
            {"shape", npy_as<std::int64_t>("<i8", {3, 4})},
            {"indptr", npy_int({0, 2, 2, 5})},
            {"indices", npy_int({0, 2, 0, 1, 3})},
            {"data", npy<double>("<f8", {1, 2, 3, 0, 4})}};
}

Members csr_members(const CsrMatrix& matrix) {
    return {{"format", npy_format("csr")},
            {"shape", npy_int({matrix.rows, matrix.columns})},
            {"indptr", npy("<i8", matrix.row_offsets)},
            {"indices", npy("<i4", matrix.column_indices)},
            {"data", npy("<f8", matrix.values)}};
}

Members with(Members members, const std::string& name, const std::string& bytes) {
    members[name] = bytes;
    return members;
}

}  // namespace workbench
