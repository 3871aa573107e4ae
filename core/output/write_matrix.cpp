#include "core/output/write_matrix.hpp"

#include <fstream>
#include <vector>

#include "core/contract/errors.hpp"
#include "core/output/matrix_market_writer.hpp"
#include "core/output/numpy_writer.hpp"
#include "core/system/container.hpp"
#include "core/system/process.hpp"

namespace workbench {
namespace {

/// The libraries of the container write only to files of their own.
void write_container(WholeFile& file, const Container& container, const CsrMatrix& matrix) {
    const WorkFolder folder;
    WholeFile npz(folder.path() / "matrix.npz");
    write_scipy_npz(npz, matrix);
    npz.finish();
    const std::filesystem::path written = folder.path() / "written";
    run_container(container, file.path(), {"write", written.string(), npz.path().string()});
    std::ifstream bytes(written, std::ios::binary);
    std::vector<char> block(std::size_t{1} << 20);
    do {
        bytes.read(block.data(), static_cast<std::streamsize>(block.size()));
        file.write({block.data(), static_cast<std::size_t>(bytes.gcount())});
    } while (bytes);
    if (!bytes.eof()) throw MachineError(written.string() + ": cannot be read");
}

}  // namespace

MatrixFormat matrix_format_of(const std::filesystem::path& path) {
    const std::string name = path.filename().string();
    if (name.ends_with(".mtx")) return MatrixFormat::matrix_market;
    if (name.ends_with(".mtx.gz")) return MatrixFormat::matrix_market_gzip;
    if (name.ends_with(".npz")) return MatrixFormat::scipy_npz;
    if (name.ends_with(".mat")) return MatrixFormat::matlab;
    if (name.ends_with(".h5")) return MatrixFormat::binsparse;
    throw RecipeError(path.string() + ": unknown file extension; expected " + written_files);
}

void write_matrix(WholeFile& file, MatrixFormat format, const CsrMatrix& matrix) {
    switch (format) {
        case MatrixFormat::matrix_market: return write_matrix_market(file, matrix);
        case MatrixFormat::matrix_market_gzip: return write_matrix_market(file, matrix, Compression::gzip);
        case MatrixFormat::scipy_npz: return write_scipy_npz(file, matrix);
        case MatrixFormat::matlab: return write_container(file, matlab_file, transpose(matrix));
        case MatrixFormat::binsparse: return write_container(file, hdf5_file, matrix);
    }
}

}  // namespace workbench
