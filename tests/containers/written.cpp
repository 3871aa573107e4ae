#include "containers/written.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <vector>

#include "core/contract/errors.hpp"
#include "core/input/inline_matrix.hpp"
#include "core/matrix/battery.hpp"
#include "core/output/write_matrix.hpp"
#include "input/input_files.hpp"

namespace workbench {
namespace {

std::filesystem::path written(const std::string& name, const CsrMatrix& matrix) {
    WholeFile file(folder() / name);
    write_matrix(file, matrix_format_of(name), matrix);
    file.finish();
    return folder() / name;
}

std::string bytes_in(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

const CsrMatrix& example_matrix() {
    static const CsrMatrix matrix = csr_from_rows(example);
    return matrix;
}

void check_written(const std::string& ending) {
    using Extremes = std::numeric_limits<double>;
    CsrMatrix extremes{1,
                       6,
                       {0, 6},
                       {0, 1, 2, 3, 4, 5},
                       {0.1, -0.0, Extremes::infinity(), Extremes::quiet_NaN(), Extremes::denorm_min(), Extremes::max()}};
    const CsrMatrix read = read_matrix(written("extremes" + ending, extremes));
    CHECK(read.column_indices == extremes.column_indices);
    CHECK(std::memcmp(read.values.data(), extremes.values.data(), 6 * sizeof(double)) == 0);
    CHECK(bytes_in(written("again" + ending, extremes)) == bytes_in(folder() / ("extremes" + ending)));
    std::vector<Entry> entries;
    for (Index i = 0; i < 90'000; ++i) entries.push_back({i % 300, i / 300, std::sqrt(i)});
    const CsrMatrix large = csr_from_entries(300, 300, entries);  // of more bytes than are copied at once
    CHECK(read_matrix(written("large" + ending, large)) == large);
    // Each program takes some 10 ms to start, so only some matrices: empty ones, rectangular ones, an irregular one.
    for (std::size_t i = 0; i < battery().size(); i += i < 2 ? 1 : 6) {
        CAPTURE(battery()[i].name);
        CHECK(read_matrix(written("m" + ending, battery()[i].matrix)) == battery()[i].matrix);
    }
}

}  // namespace workbench
