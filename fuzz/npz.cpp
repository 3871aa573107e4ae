// The members of a .npz. The archive around them is valid, so that damaged bytes reach the arrays instead of failing a
// checksum. (The target read_matrix damages archives.) Each member in the input follows a letter and 16 bits of length.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <stdexcept>

#include "core/input/npz/scipy_npz.hpp"
#include "core/output/numpy_writer.hpp"
#include "fuzz/target.hpp"

namespace {

using namespace workbench;

// The matrix can also be read in two halves of its rows.
void check_halves(const std::filesystem::path& path, const std::optional<CsrMatrix>& whole) {
    const auto reader = open_scipy_npz_rows(path);
    if (!reader) return;
    const Index half = reader->rows() / 2;
    for (const RowRange range : {RowRange{0, half}, RowRange{half, reader->rows()}}) {
        const CsrMatrix rows = reader->read(range);
        check_csr(rows);
        if (!whole) continue;
        const Offset first = whole->row_offsets[range.first];
        const auto count = static_cast<std::size_t>(rows.nonzeros());
        if (rows.nonzeros() != whole->row_offsets[range.end] - first ||
            !std::equal(rows.column_indices.begin(), rows.column_indices.end(), whole->column_indices.begin() + first) ||
            (count > 0 && std::memcmp(rows.values.data(), whole->values.data() + first, count * sizeof(double)) != 0)) {
            throw std::logic_error("rows differ from those of the whole matrix");
        }
    }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    constexpr std::array<const char*, 8> names{"format", "shape", "data", "indices", "indptr", "row", "col", "coords"};
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
    std::optional<CsrMatrix> whole;
    fuzz::read_or_refuse([&] {
        whole = read_scipy_npz(path);
        return *whole;
    });
    fuzz::act_or_refuse([&] { check_halves(path, whole); });
    std::filesystem::remove(path);
    return 0;
}
