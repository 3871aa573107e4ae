// Export of a staged matrix with its orders, cuts and shares to files that other programs read.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/matrix/staged_matrix.hpp"
#include "core/system/whole_file.hpp"

namespace workbench {

struct ExportForms {
    bool text = true;   // .mtx and .txt
    bool numpy = true;  // .npz and .npy
};

struct ExportedFile {
    std::string name;
    std::string holds;  // one line that describes the contents
};

/// Writes into the folder, which is created:
///   matrix.{mtx,npz}               P A Q^T
///   row_old_of_new.{txt,npy}       row i of the matrix is row row_old_of_new[i] of the input, counted from 0
///   column_old_of_new.{txt,npy}    likewise for columns
///   cuts_KIND.{txt,npy}            boundaries of each kind of cuts: piece i is [boundary i, boundary i + 1)
///   shares.{txt,npz}               the share of each nonzero and the order of its rows, if the nonzeros are split
/// Throws MachineError if a file cannot be written. Returns the files written.
[[nodiscard]] std::vector<ExportedFile> write_export(const std::filesystem::path& folder, const StagedMatrix& staged,
                                                     ExportForms forms);

/// Writes the shares.npz of an export.
void write_shares_numpy(WholeFile& file, const std::vector<Share>& shares);

}  // namespace workbench
