// A folder with files and scripts for stages beside a recipe, and a small matrix.
#pragma once

#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include "core/contract/errors.hpp"
#include "core/contract/stage.hpp"
#include "core/output/numpy_writer.hpp"
#include "support/given.hpp"
#include "support/message_of.hpp"
#include "support/temporary_folder.hpp"

namespace workbench {

using Numbers = std::vector<std::int64_t>;

/// Six rows and columns, without symmetry: rows of 2, 1, 2, 1, 1, 2 nonzeros.
[[nodiscard]] StagedMatrix unsymmetric(Index node_size = 1);

/// The parameters of a stage, including undeclared ones of code.
[[nodiscard]] Parameters parameters_of(const StageEntry& stage, const Given& given);

[[nodiscard]] StageResult result_of(const StageEntry& stage, const Given& given, const StagedMatrix& before);

/// The matrix after a stage.
[[nodiscard]] StagedMatrix changed_by(const StageEntry& stage, const Given& given, const StagedMatrix& before);

class BesideFolder {
public:
    [[nodiscard]] std::string file(const std::string& name) const { return (folder_.path() / name).string(); }

    void write(const std::string& name, const std::string& text) const {
        std::ofstream(folder_.path() / name, std::ios::binary) << text;
    }

    template <typename Number>
    void write_npy(const std::string& name, const std::string& type, const Numbers& numbers) const {
        const std::vector<Number> converted(numbers.begin(), numbers.end());
        WholeFile out(folder_.path() / name);
        workbench::write_npy(out, {type, {static_cast<std::int64_t>(numbers.size())}, {std::as_bytes(std::span(converted))}});
        out.finish();
    }

    /// Why the stage refuses, without the path of this folder.
    [[nodiscard]] std::string reason(const StageEntry& stage, const Given& given, const StagedMatrix& before) const {
        std::string text = message_of<Unsuitable>([&] { (void)result_of(stage, given, before); });
        const std::string path = folder_.path().string() + "/";
        for (std::size_t at = text.find(path); at != std::string::npos; at = text.find(path)) text.erase(at, path.size());
        return text;
    }

private:
    TemporaryFolder folder_;
};

}  // namespace workbench
