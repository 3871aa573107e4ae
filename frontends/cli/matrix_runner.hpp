// Measures recipes on their matrices, one matrix at a time.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/host/host_device.hpp"

#include "frontends/cli/measuring.hpp"
#include "pipeline/run/runner.hpp"

namespace workbench {

/// Groups recipes by matrix. All recipe files must name the same matrix, or sweep over the same matrices; throws RecipeError
/// otherwise.
void sort_by_matrix(std::vector<Recipe>& recipes);

/// The devices, and the current matrix and its runner.
class MatrixRunner {
public:
    /// `recipes`: in the order of their runs, grouped by matrix; they must outlive this object. Throws MachineError if the
    /// arguments require a GPU and there is none.
    MatrixRunner(const MeasuringArguments& arguments, const std::vector<Recipe>& recipes);

    /// The runner for this recipe's matrix, which is read unless it is the current one. Throws InputError.
    Runner& operator()(const Recipe& recipe);

    /// Adds the matrix, the versions, the machine, and a note if GPU kernels are missing.
    void add_facts(RunReport& report) const;

    [[nodiscard]] bool has_gpu() const { return gpu_ != nullptr; }

private:
    const std::vector<Recipe>& recipes_;
    RunOptions options_;
    std::string note_;
    std::unique_ptr<Device> gpu_;
    std::unique_ptr<Device> host_ = make_host_device();
    std::optional<KeepFolder> keep_;
    MatrixChoice choice_;
    CsrMatrix matrix_;
    MatrixReport report_;
    std::optional<Runner> runner_;
    double loading_seconds_ = 0;
    double compiled_in_loading_ = 0;  // of seconds_of_compiling_kernels()
};

}  // namespace workbench
