#include "pipeline/output/write_matrix.hpp"

#include "pipeline/contract/errors.hpp"
#include "pipeline/output/matrix_market_writer.hpp"
#include "pipeline/output/numpy_writer.hpp"

namespace workbench {

MatrixFormat matrix_format_of(const std::filesystem::path& path) {
    const std::string name = path.filename().string();
    if (name.ends_with(".mtx")) return MatrixFormat::matrix_market;
    if (name.ends_with(".mtx.gz")) return MatrixFormat::matrix_market_gzip;
    if (name.ends_with(".npz")) return MatrixFormat::scipy_npz;
    throw RecipeError(path.string() + ": unknown file extension; expected .mtx, .mtx.gz or .npz");
}

void write_matrix(WholeFile& file, MatrixFormat format, const CsrMatrix& matrix) {
    switch (format) {
        case MatrixFormat::matrix_market: return write_matrix_market(file, matrix);
        case MatrixFormat::matrix_market_gzip: return write_matrix_market(file, matrix, Compression::gzip);
        case MatrixFormat::scipy_npz: return write_scipy_npz(file, matrix);
    }
}

}  // namespace workbench
