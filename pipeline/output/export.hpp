// A matrix as the stages left it, with its orders, cuts and shares, in files that other programs read.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "pipeline/matrix/staged_matrix.hpp"

namespace workbench {

struct ExportForms {
    bool text = true;   // .mtx and .txt
    bool numpy = true;  // .npz and .npy
};

struct ExportedFile {
    std::string name;
    std::string holds;  // in words, one line
};

/// Writes into the folder, which is made:
///   matrix.{mtx,npz}               P A Q^T
///   row_old_of_new.{txt,npy}       row i of it is row row_old_of_new[i] of the input; counted from 0
///   column_old_of_new.{txt,npy}    likewise for columns
///   cuts_KIND.{txt,npy}            boundaries, for each kind of cuts there is: piece i is [boundary i, boundary i + 1)
///   shares.{txt,npz}                which share holds which nonzero, and in which order of rows, where the nonzeros are split
/// Throws MachineError where a file cannot be written. Returns what was written.
[[nodiscard]] std::vector<ExportedFile> write_export(const std::filesystem::path& folder, const StagedMatrix& staged,
                                                     ExportForms forms);

}  // namespace workbench
