// The members of a .npz: the archive around them is whole, so that bytes reach the arrays and do not end at a check sum. (The
// target read_matrix damages archives.) The input holds the members one after the other, each behind a letter and 16 bits of
// length.
#include <unistd.h>

#include <array>

#include "fuzz/target.hpp"
#include "pipeline/input/scipy_npz.hpp"
#include "pipeline/output/zip_writer.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace workbench;
    constexpr std::array<const char*, 8> names{"format", "shape", "data", "indices", "indptr", "row", "col", "other"};
    const std::filesystem::path path = "/dev/shm/workbench_fuzz_" + std::to_string(getpid()) + ".npz";
    WholeFile file(path);
    ZipWriter zip(file);
    while (size >= 3) {
        const std::size_t length = std::min<std::size_t>(data[1] + 256U * data[2], size - 3);
        zip.add(std::string(names[data[0] % names.size()]) + ".npy", {std::as_bytes(std::span(data + 3, length))});
        data += 3 + length;
        size -= 3 + length;
    }
    zip.finish();
    file.finish();
    fuzz::read_or_refuse([&] { return read_scipy_npz(path); });
    std::filesystem::remove(path);
    return 0;
}
