// A matrix of the SuiteSparse collection, checked before it is kept.
#pragma once

#include <filesystem>
#include <string>

#include "pipeline/fetch/download.hpp"
#include "pipeline/matrix/types.hpp"

namespace workbench {

/// Where the collection is, unless somebody says otherwise.
inline constexpr const char* collection_address = "https://sparse.tamu.edu";

/// BASE/MM/GROUP/NAME.tar.gz, as the collection lays its Matrix Market files out.
[[nodiscard]] std::string collection_url(const std::string& base, const std::string& group, const std::string& name);

/// FOLDER/GROUP/NAME.tar.gz.
[[nodiscard]] std::filesystem::path fetched_file(const std::filesystem::path& folder, const std::string& group,
                                                 const std::string& name);

/// What reading a matrix to its end has shown.
struct CheckedMatrix {
    Index rows = 0;
    Index columns = 0;
    Offset nonzeros = 0;
    std::string unchecked;  // why it could not be read though nothing is known to be wrong with it; empty: it was
};

/// Throws InputError where it is no whole matrix.
[[nodiscard]] CheckedMatrix check_matrix_file(const std::filesystem::path& file);

/// Downloads into TARGET.part, reads that, and gives it its name. What is no matrix is not kept. Throws what download throws,
/// and DownloadError where what came is no matrix.
CheckedMatrix fetch_matrix(const std::string& url, const std::filesystem::path& target, const DownloadOptions& options);

}  // namespace workbench
