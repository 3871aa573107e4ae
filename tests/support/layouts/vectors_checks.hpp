// Checks of products with several vectors, on the host and on a GPU.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "core/contract/errors.hpp"
#include "pipeline/engine/built_layouts.hpp"
#include "pipeline/measure/measure.hpp"
#include "pipeline/measure/rows_kernel.hpp"
#include "support/layouts/layout_recipes.hpp"

namespace workbench {

/// Numbers of vectors that fill tiles, or not, of 2, 4, 8 and 16.
inline constexpr std::array numbers_of_vectors{2, 3, 4, 5, 8, 16, 17, 64};

/// What is wrong with the kernels of a recipe on this kind of device, with several vectors: a line for each; "" if all are
/// right, or if the recipe does not suit the matrix. In a hybrid, kernel number `turn` of each layout. only: a kernel's name;
/// empty: all kernels.
template <ValueType Value>
[[nodiscard]] std::string wrong_with_vectors(const LayoutRecipe& one, const NamedMatrix& named, Device& device, int vectors,
                                             std::size_t turn = 0, const std::string& only = "") {
    if (!one.takes(named.matrix)) return "";
    StagedMatrix staged = one.stage(named.matrix);
    const Oracle<Value> oracle(named.matrix);
    const auto space = std::make_shared<const ProductSpace>(staged.row_order, staged.column_order, vectors);
    const auto runs_here = [&](const KernelEntry& kernel) {
        return device_of(kernel.backend) == device.properties().kind && (only.empty() || kernel.name == only);
    };
    std::vector<std::vector<const KernelEntry*>> products;
    if (one.recipe.is_hybrid()) {
        products.emplace_back();
        for (const RecipeLayout& layout : one.recipe.layouts) {
            std::vector<const KernelEntry*> kernels;
            for (const KernelEntry& kernel : layout.entry->kernels) {
                if (runs_here(kernel)) kernels.push_back(&kernel);
            }
            products.back().push_back(kernels[turn % kernels.size()]);
        }
    } else {
        for (const KernelEntry& kernel : one.layout().kernels) {
            if (runs_here(kernel)) products.push_back({&kernel});
        }
    }
    std::string wrong;
    try {
        const BuiltLayouts<Value> built = build_layouts<Value>(one.recipe, staged, {.exact = oracle.exact_problems()});
        for (const auto& kernels : products) {
            const KernelOutcome outcome =
                Verifier<Value>{device, &oracle}.verify(built.candidate(kernels, space, one.recipe.side_by_side)).outcome;
            const bool may_refuse =  // it does not take every matrix
                std::ranges::any_of(kernels, [](const KernelEntry* each) { return each->backend == Backend::cusparse; });
            if (outcome.verified() || (may_refuse && outcome.status == KernelOutcome::Status::unsuitable)) continue;
            wrong +=
                fmt::format("{} {} on {}, {} vectors: {}\n", one.name, outcome.kernel, named.name, vectors, outcome.reason);
        }
    } catch (const Unsuitable&) {  // as in the tests with one vector
    }
    return wrong;
}

/// One of several vectors as a product of its own. All elements of the others are 1, and what should be finite of their results
/// is checked.
class OneOfVectors final : public Kernel<double> {
public:
    OneOfVectors(std::unique_ptr<Kernel<double>> kernel, Index rows, Index columns, int vectors, int number, Device& device)
        : kernel_(std::move(kernel)), rows_(rows), columns_(columns), vectors_(vectors), number_(number), device_(device) {}

    void run(const double* x, double* y, bool accumulate) override {
        std::vector<double> all_x(static_cast<std::size_t>(columns_) * vectors_, 1);
        std::vector<double> all_y(static_cast<std::size_t>(rows_) * vectors_, 1);
        insert(x, columns_, all_x);
        insert(y, rows_, all_y);
        const DeviceMemory x_there = to_device<double>(device_, all_x, "X");
        const DeviceMemory y_there = to_device<double>(device_, all_y, "Y");
        kernel_->run(x_there.as<const double>(), y_there.as<double>(), accumulate);
        copy_from_device(device_, y_there.as<const double>(), std::span(all_y));
        std::vector<double> own(rows_);
        for (Index i = 0; i < rows_; ++i) {
            for (int j = 0; j < vectors_; ++j) {
                const double element = all_y[static_cast<std::size_t>(i) * vectors_ + j];
                if (j == number_) own[i] = element;
                others_are_finite_ = others_are_finite_ && (j == number_ || element - element == 0);
            }
        }
        DeviceMemory there(y, own.size() * sizeof(double), [](void*) {});
        device_.upload(std::as_bytes(std::span(own)), there);
    }

    [[nodiscard]] bool others_are_finite() const { return others_are_finite_; }

private:
    void insert(const double* from, Index size, std::vector<double>& all) const {
        std::vector<double> one(size);
        copy_from_device(device_, from, std::span(one));
        for (Index i = 0; i < size; ++i) all[static_cast<std::size_t>(i) * vectors_ + number_] = one[i];
    }

    std::unique_ptr<Kernel<double>> kernel_;
    Index rows_;
    Index columns_;
    int vectors_;
    int number_;
    Device& device_;
    bool others_are_finite_ = true;
};

}  // namespace workbench
