// Plans carried out on the host, for a scripted device: the way from a recipe to a kernel of a matrix that a device prepared.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/contract/kernel.hpp"
#include "core/contract/planned_matrix.hpp"
#include "core/contract/rounding.hpp"
#include "stages/stages.hpp"
#include "support/layouts/scripted.hpp"

namespace workbench {

/// What every plan does and gives, beside the matrix.
struct PlansScript {
    std::string declines;        // the reason why a plan ends; empty: it does not
    std::string difference;      // that every comparison finds
    bool takes_integers = true;  // false: once prepared, a matrix takes no values that are all integers
    int plans = 0;
    int new_values = 0;
};

/// Reverses the rows and columns of a matrix if its plan has an order, and stores them row by row.
template <ValueType Value>
class ScriptedPlanned final : public PlannedMatrix<Value>, public Kernel<Value> {
public:
    ScriptedPlanned(PlansScript& script, const DevicePlan& plan, const CsrOnDevice<Value>& given)
        : script_(script), rounding_(rounding_of(plan)) {
        if (given.values_coming != nullptr) given.values_coming->wait();
        const bool reverses = std::ranges::any_of(
            plan.steps, [](const PlanStep& each) { return std::holds_alternative<OrderByLevels>(each.step); });
        order_.resize(static_cast<std::size_t>(given.rows));
        for (Index i = 0; i < given.rows; ++i) order_[i] = reverses ? given.rows - 1 - i : i;
        const auto* const begins = static_cast<const std::int32_t*>(given.row_offsets);
        std::vector<Entry> entries;
        for (Index row = 0; row < given.rows; ++row) {
            for (std::int32_t k = begins[row]; k < begins[row + 1]; ++k) {
                entries.push_back({order_[row], order_[given.column_indices[k]], static_cast<double>(k)});
            }
        }
        matrix_ = csr_from_entries(given.rows, given.columns, entries);
        place_of_entry_.assign(matrix_.values.begin(), matrix_.values.end());
        for (const PlanStep& each : plan.steps) facts_.steps.push_back({each.stage, true, 2});
        facts_.steps.push_back({"arrays", false, 5});
        facts_.notes = {"reverse: turned round there"};
        facts_.bytes = static_cast<std::int64_t>(matrix_.values.size()) * (rounding_ == Rounding::none ? 8 : 2);
        facts_.reordered = reverses;
        if (!plan.shares.empty()) bytes_to_move_ = facts_.bytes;  // as of every hybrid
        if (!std::holds_alternative<OrdersAlone>(plan.storage)) store(given.values);
    }

    Kernel<Value>& kernel() override { return *this; }
    [[nodiscard]] const PlannedFacts& facts() const override { return facts_; }
    [[nodiscard]] const Index* old_of_new() const override { return order_.data(); }
    [[nodiscard]] const Index* new_of_old() const override { return order_.data(); }
    [[nodiscard]] std::vector<Index> row_order() const override { return order_; }
    [[nodiscard]] std::vector<Index> column_order() const override { return order_; }
    void set_values(const Value* values) override {
        ++script_.new_values;
        const auto is_integer = [&](double place) {
            const Value value = values[static_cast<std::size_t>(place)];
            return value == std::floor(value);
        };
        if (!script_.takes_integers && std::ranges::all_of(place_of_entry_, is_integer)) throw Unsuitable("integers");
        store(values);
    }
    std::string difference(const CsrOnDevice<Value>&) override { return script_.difference; }
    [[nodiscard]] std::vector<Value> diagonal(const CsrOnDevice<Value>&) const override { return {}; }
    [[nodiscard]] std::vector<std::byte> array(const std::string&) const override { return {}; }

    void run(const Value* x, Value* y, bool accumulate) override {
        script().pass("run gpu");
        for (Index row = 0; row < matrix_.rows; ++row) {
            Value sum = accumulate ? y[row] : Value{0};
            for (Offset k = matrix_.row_offsets[row]; k < matrix_.row_offsets[row + 1]; ++k) {
                sum += static_cast<Value>(matrix_.values[k]) * x[matrix_.column_indices[k]];
            }
            y[row] = sum;
        }
    }

    [[nodiscard]] std::optional<std::int64_t> own_bytes_to_move() const override { return bytes_to_move_; }

private:
    static Rounding rounding_of(const DevicePlan& plan) {
        const auto* const slices = std::get_if<RowSlices>(&plan.storage);
        return slices != nullptr && slices->values == DeviceValues::rounded_bf16 ? Rounding::bf16 : Rounding::none;
    }
    void store(const Value* values) {
        for (std::size_t k = 0; k < place_of_entry_.size(); ++k) {
            matrix_.values[k] = rounded(values[static_cast<std::size_t>(place_of_entry_[k])], rounding_);
        }
    }

    PlansScript& script_;
    Rounding rounding_;
    std::vector<Index> order_;
    CsrMatrix matrix_;
    std::vector<double> place_of_entry_;  // in the values that were given
    PlannedFacts facts_;
    std::optional<std::int64_t> bytes_to_move_;
};

class ScriptedPlans final : public PlanRunner {
public:
    std::unique_ptr<PlannedMatrix<float>> run(const DevicePlan& plan, const CsrOnDevice<float>& matrix) override {
        return begin(plan, matrix);
    }
    std::unique_ptr<PlannedMatrix<double>> run(const DevicePlan& plan, const CsrOnDevice<double>& matrix) override {
        return begin(plan, matrix);
    }

    PlansScript script;

private:
    template <ValueType Value>
    std::unique_ptr<PlannedMatrix<Value>> begin(const DevicePlan& plan, const CsrOnDevice<Value>& matrix) {
        ++script.plans;
        for (const PlanStep& each : plan.steps) {
            StagedMatrix staged;
            staged.matrix.rows = matrix.rows;
            staged.matrix.columns = matrix.columns;
            if (const auto* const taken = std::get_if<TakeOrder>(&each.step)) (void)taken->find(staged, {});
        }
        if (!script.declines.empty()) throw Unsuitable(script.declines);
        return std::make_unique<ScriptedPlanned<Value>>(script, plan, matrix);
    }
};

/// The scripted catalogue, of which a device can do the stages `reverse` and `rotate` (wrongly, as it reverses) and store the
/// layout `plain`, for the kernel `gpu`, with values in full or rounded to bf16; the stage `split`, whose shares it leaves
/// together; and `random_order`, which the host runs for it.
inline const Catalogue& catalogue_with_plans() {
    static const Catalogue with_plans = [] {
        Catalogue made = scripted_catalogue();
        made.stages.push_back(split_stage());
        made.stages.push_back(random_order_stage());
        for (StageEntry& stage : made.stages) {
            if (stage.name != "reverse" && stage.name != "rotate") continue;
            stage.on_device = [](const Parameters&) -> std::optional<DeviceStep> { return OrderByLevels{}; };
        }
        const auto plain = std::ranges::find(made.layouts, "plain", &LayoutEntry::name);
        plain->parameters.push_back(
            choice_parameter("values", by_default(std::string("full")), {"full", "rounded_bf16"}, "how values are stored"));
        plain->on_device = [](const Parameters& parameters) -> std::optional<DeviceStorage> {
            const bool rounds = parameters.is_word("values", "rounded_bf16");
            return RowSlices{.values = rounds ? DeviceValues::rounded_bf16 : DeviceValues::full};
        };
        plain->kernel_on_device = "gpu";
        return made;
    }();
    return with_plans;
}

}  // namespace workbench
