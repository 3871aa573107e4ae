#include "core/input/container_file.hpp"

#include <algorithm>
#include <array>

#include "core/contract/errors.hpp"
#include "core/input/npz/scipy_npz.hpp"
#include "core/system/process.hpp"

namespace workbench {
namespace {

/// Source: The MathWorks, "MAT-File Format": 124 bytes of text and places, the version, and "MI" in the byte order of the file.
bool is_matlab(std::string_view start) {
    constexpr std::size_t place = 124;
    constexpr std::array<std::string_view, 4> versions{
        {{"\x00\x01IM", 4}, {"\x00\x02IM", 4}, {"\x01\x00MI", 4}, {"\x02\x00MI", 4}}};
    return start.size() >= place + 4 && std::ranges::find(versions, start.substr(place, 4)) != versions.end();
}

/// Source: The HDF Group, "HDF5 File Format Specification": the signature follows a block of 0, 512, 1024, ... bytes.
bool is_hdf5(std::string_view start) {
    constexpr std::string_view signature = "\x89HDF\r\n\x1a\n";
    for (std::size_t block = 0; block < start.size(); block = block == 0 ? 512 : 2 * block) {
        if (start.substr(block).starts_with(signature)) return true;
    }
    return false;
}

}  // namespace

const Container* container_of(std::string_view start) {
    if (is_matlab(start)) return &matlab_file;
    return is_hdf5(start) ? &hdf5_file : nullptr;
}

CsrMatrix read_container(const Container& container, const std::filesystem::path& path, const std::string& member) {
    const WorkFolder folder;
    const std::filesystem::path npz = folder.path() / "matrix.npz";
    run_container(container, path, {"read", path.string(), member, npz.string()});
    try {
        return read_scipy_npz(npz);
    } catch (const InputError& error) {
        const std::string what = error.what();
        throw InputError(path.string() + ", as a .npz" + what.substr(std::min(npz.string().size(), what.size())));
    }
}

}  // namespace workbench
