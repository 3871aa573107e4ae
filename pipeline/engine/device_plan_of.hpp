// Recipes that a device can prepare in its own memory.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/contract/device_plan.hpp"
#include "pipeline/engine/chain.hpp"

namespace workbench {

/// Runs the stages that a device leaves to the host, on the matrix in the order so far. Each runs once, also for several plans
/// of a matrix.
class StagesOnHost {
public:
    /// keeping: the key of the matrix.
    explicit StagesOnHost(Keeping keeping = {}, Clock clock = {}, ReportStep progress = {})
        : keeping_(std::move(keeping)), clock_(std::move(clock)), progress_(std::move(progress)) {}

    [[nodiscard]] Obtained<StageResult> run(const Recipe& recipe, std::size_t stage, const StagedMatrix& staged,
                                            const StageContext& context);

    [[nodiscard]] const KnownResults& found() const { return found_; }

    /// Names the stages whose results an earlier run kept; empty if there are none.
    [[nodiscard]] std::string note() const { return kept_.note(); }

private:
    Keeping keeping_;
    Clock clock_;
    ReportStep progress_;
    KnownResults found_;
    KeptParts kept_;
};

/// The plan of a recipe whose layouts declare what a device does (LayoutEntry::on_device), or the reason why the host prepares
/// it. The host runs stages that declare no step of a device (StageEntry::on_device), if they only order the matrix or divide
/// it into parts. on_host: if the plan is for one matrix.
[[nodiscard]] std::variant<DevicePlan, std::string> device_plan_of(const Recipe& recipe,
                                                                   const std::shared_ptr<StagesOnHost>& on_host = {});

/// The longest plan of the stages with which a recipe begins that a device carries out by itself, and that order rows and
/// columns alike: without storage, for a recipe whose matrix the host stores. Nothing unless one of them orders a graph; the
/// host finds other orders in the time of a copy.
[[nodiscard]] std::optional<DevicePlan> plan_of_orders(const Recipe& recipe);

}  // namespace workbench
