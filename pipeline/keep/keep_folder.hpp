// A folder of results for later runs: changes of stages, and layouts, one file each.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/contract/transfer.hpp"
#include "core/matrix/csr_matrix.hpp"

namespace workbench {

/// Files are named FOLDER/CHECKSUM OF THE MATRIX/NAME-CHECKSUM OF THE KEY.kept and contain key, result and a checksum of both.
/// They are written atomically, so processes may share a folder, and may be removed at any time.
class KeepFolder {
public:
    /// `maker`: one line with everything besides matrix and recipe that results and times depend on: program, libraries,
    /// machine. Results of other makers are not used. Throws MachineError if the folder cannot be created.
    KeepFolder(std::filesystem::path folder, std::string maker);

    /// Identifies a result: a line for its matrix, then a line for each step that leads to it.
    struct Key {
        std::string matrix;  // checksum
        std::string name;    // name of the last step
        std::string text;
    };

    [[nodiscard]] Key key_of(const CsrMatrix& matrix) const;

    /// Passes the kept result to `body` and returns true if there is one. If the file is truncated, damaged or of another
    /// result, `body` may have received invalid data; a note reports it.
    [[nodiscard]] bool read(const Key& key, const std::function<void(Transfer&)>& body);

    /// Stores the result that `body` passes. If that fails, a note reports it and nothing more is stored.
    void write(const Key& key, const std::function<void(Transfer&)>& body);

    /// Returns the notes since the last call.
    [[nodiscard]] std::vector<std::string> take_notes();

private:
    [[nodiscard]] std::filesystem::path file_of(const Key& key) const;

    std::filesystem::path folder_;
    std::string maker_;
    bool writable_ = true;
    std::vector<std::string> notes_;
};

/// A checksum of this program's file, because another build may compute something else.
[[nodiscard]] std::string checksum_of_program();

/// The folder for the results of a matrix, and the key of the current result. Without a folder nothing is stored.
class Keeping {
public:
    Keeping() = default;
    Keeping(KeepFolder* folder, const CsrMatrix& matrix) : folder_(folder) {
        if (folder != nullptr) key_ = folder->key_of(matrix);
    }

    /// Adds a step to the key; `line` lists everything that its result depends on, `name` appears in file names.
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
