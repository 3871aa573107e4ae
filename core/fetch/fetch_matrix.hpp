// Fetches matrices of the SuiteSparse collection and checks them.
#pragma once

#include <filesystem>
#include <string>

#include "core/fetch/download.hpp"
#include "core/matrix/types.hpp"

namespace workbench {

/// The default address of the collection.
inline constexpr const char* collection_address = "https://sparse.tamu.edu";

/// BASE/MM/GROUP/NAME.tar.gz, the collection's address of a matrix in Matrix Market format.
[[nodiscard]] std::string collection_url(const std::string& base, const std::string& group, const std::string& name);

/// FOLDER/GROUP/NAME.tar.gz.
[[nodiscard]] std::filesystem::path fetched_file(const std::filesystem::path& folder, const std::string& group,
                                                 const std::string& name);

/// A matrix file that was read completely.
struct CheckedMatrix {
    Index rows = 0;
    Index columns = 0;
    Offset nonzeros = 0;
    std::string unchecked;  // why this machine could not read it (too little memory, say); empty: it was read
};

/// Throws InputError if the file is not a complete matrix.
[[nodiscard]] CheckedMatrix check_matrix_file(const std::filesystem::path& file);

/// Downloads into TARGET.part, checks it, and renames it to TARGET; anything but a matrix is deleted. Throws what download
/// throws, and DownloadError if the download is not a matrix.
CheckedMatrix fetch_matrix(const std::string& url, const std::filesystem::path& target, const DownloadOptions& options);

}  // namespace workbench
