// Results that are kept for later runs: what stages found, and layouts, in a folder, a file each.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/contract/transfer.hpp"
#include "pipeline/matrix/csr_matrix.hpp"

namespace workbench {

/// FOLDER/CHECKSUM OF THE MATRIX/NAME-CHECKSUM OF THE KEY.kept. A file says its key, what was kept, and a checksum of both.
/// Files are written whole, so that processes may share a folder; each may be removed at any time.
class KeepFolder {
public:
    /// `maker`: what results and their times depend on beside matrix and recipe, in one line: the program with its libraries,
    /// the machine. What another one kept is not taken. Throws MachineError where there can be no such folder.
    KeepFolder(std::filesystem::path folder, std::string maker);

    /// Which result: the line of its matrix, then a line for each step that leads to it.
    struct Key {
        std::string matrix;  // checksum
        std::string name;    // of the last step
        std::string text;
    };

    [[nodiscard]] Key key_of(const CsrMatrix& matrix) const;

    /// Hands what is kept to `body`, and says whether it was. Where there is a file that does not hold it (cut, damaged, of
    /// something else), `body` may have been handed nonsense, and a note tells.
    [[nodiscard]] bool read(const Key& key, const std::function<void(Transfer&)>& body);

    /// Keeps what `body` hands over. Where that fails a note tells, and no more is tried.
    void write(const Key& key, const std::function<void(Transfer&)>& body);

    /// The notes since the last time.
    [[nodiscard]] std::vector<std::string> take_notes();

private:
    [[nodiscard]] std::filesystem::path file_of(const Key& key) const;

    std::filesystem::path folder_;
    std::string maker_;
    bool writable_ = true;
    std::vector<std::string> notes_;
};

/// A checksum of this program's file: another build may find something else.
[[nodiscard]] std::string checksum_of_program();

/// Where the results of a matrix are kept, and what has led to the one at hand. Without a folder nothing is kept.
class Keeping {
public:
    Keeping() = default;
    Keeping(KeepFolder* folder, const CsrMatrix& matrix) : folder_(folder) {
        if (folder != nullptr) key_ = folder->key_of(matrix);
    }

    /// After one more step; `line` says all that its result depends on, `name` names it in file names.
    [[nodiscard]] Keeping after(const std::string& name, const std::string& line) const;

    [[nodiscard]] bool on() const { return folder_ != nullptr; }
    [[nodiscard]] bool read(const std::function<void(Transfer&)>& body) const {
        return folder_ != nullptr && folder_->read(key_, body);
    }
    void write(const std::function<void(Transfer&)>& body) const {
        if (folder_ != nullptr) folder_->write(key_, body);
    }

private:
    KeepFolder* folder_ = nullptr;
    KeepFolder::Key key_;
};

}  // namespace workbench
