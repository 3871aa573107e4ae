#include "core/contract/device_plan.hpp"

#include <algorithm>

namespace workbench {
namespace {

/// Follows the steps of a plan, without a matrix. Each function returns the reason why a step cannot come next, or "".
class PlanCheck {
public:
    explicit PlanCheck(const DevicePlan& plan)
        : is_hybrid_(!plan.shares.empty()),
          has_nodes_(plan.node_size != 1),
          in_blocks_(!is_hybrid_ && std::holds_alternative<BlockSlices>(plan.storage)) {}

    std::string operator()(const KeepNodes&) {
        has_nodes_ = true;
        return orders_ > 0 ? "nodes are found in an order of the matrix" : "";
    }
    std::string operator()(const OrderByLevels&) { return order(orders_ > 0); }
    std::string operator()(const SortByDegree&) { return order(orders_ > 0); }
    std::string operator()(const TakeOrder& taken) {
        if (taken.needs_parts && !has_parts_) return "the order is one of parts that the device did not make";
        std::string reason = order(orders_ > 0, taken.acts);
        has_parts_ = taken.has_parts || taken.keeps_parts;
        return reason;
    }
    std::string operator()(const CutLevels& levels) {
        std::string reason = order(orders_ > 0);
        has_parts_ = levels.keeps_parts;
        return reason;
    }
    std::string operator()(const SortRows& sort) {
        const bool again = sorted_;
        sorted_ = true;
        if (depends_on_columns(sort.key) && (has_nodes_ || in_blocks_)) return "nodes are sorted by their columns";
        const bool has_parts = has_parts_;
        std::string reason = order(again, sort.acts);
        if (!sort.within_partition && sort.key != RowKey::inside_partition) return reason;
        if (!has_parts) return "rows are sorted by parts that the device did not make";
        has_parts_ = sort.within_partition;
        return reason;
    }
    std::string operator()(const SplitNonzeros& split) {
        split_ = &split;
        return has_parts_ || !split.needs_parts ? "" : "the nonzeros are split by parts that the device did not make";
    }
    std::string operator()(const SortShare& sort) const {
        if (split_ == nullptr) return "the nonzeros are not split";
        const bool by_parts = sort.within_partition || sort.key == RowKey::inside_partition;
        if (is_hybrid_) return by_parts && !has_parts_ ? "rows are sorted by parts that the device did not make" : "";
        if (sort.key == RowKey::inside_partition) return "rows of a share are sorted by their nonzeros inside";
        return sort.share.includes({ShareKind::outside}) ? "" : "rows of share '" + name_of(sort.share) + "' are sorted";
    }
    // A recipe with tiles has both cuts, and no order between or after them.
    std::string operator()(const CutRows& cut) const {
        return cut.within_partition && !has_parts_ ? "rows are cut in parts that the device did not make" : "";
    }
    std::string operator()(const CutColumns&) const { return ""; }
    std::string operator()(const PlaceInTiles&) const { return ""; }

    std::string operator()(const WholeRows& rows) const { return rows_of(rows.values); }
    std::string operator()(const PaddedRows& rows) const { return rows_of(rows.values); }
    std::string operator()(const RowSlices& rows) const { return rows_of(rows.values); }
    std::string operator()(const BlockSlices&) const { return is_hybrid_ ? no_rows : apart(); }
    std::string operator()(const PartSlices&) const {
        if (is_hybrid_) return no_rows;
        if (apart_) return apart();
        return split_ != nullptr ? "" : "the nonzeros are not split";
    }
    std::string operator()(const TileBatches&) const { return is_hybrid_ ? no_rows : apart(); }
    std::string operator()(const OrdersAlone&) const { return apart(); }

private:
    /// A further order begins from the rows in the order before it, which rows of blocks do not move to in between. `moves`: it
    /// does not only refine that order.
    std::string order(bool moves, Acts acts = Acts::symmetric) {
        ++orders_;
        has_parts_ = false;
        if (acts != Acts::symmetric) apart_ = true;
        if (split_ != nullptr) return "an order follows a split";
        return in_blocks_ && moves ? "blocks are reordered twice" : "";
    }

    [[nodiscard]] std::string apart() const { return apart_ ? "rows and columns have different orders" : ""; }
    [[nodiscard]] std::string rows_of(DeviceValues values) const {
        const bool rounds = values == DeviceValues::rounded_f32 || values == DeviceValues::rounded_bf16;
        if (is_hybrid_ && rounds) return "the values of a share are rounded";
        const bool of_lines = values == DeviceValues::by_row || values == DeviceValues::by_column;
        return is_hybrid_ && of_lines ? "a share has one value for each of its rows or columns" : "";
    }

    static constexpr const char* no_rows = "a share is not stored row by row";

    bool is_hybrid_;
    bool has_nodes_;
    bool in_blocks_;
    int orders_ = 0;
    bool has_parts_ = false;
    bool sorted_ = false;
    const SplitNonzeros* split_ = nullptr;
    bool apart_ = false;
};

bool suits_any_shape_by(const PlanStep& each) {
    const DeviceStep& step = each.step;
    const auto* const sort = std::get_if<SortRows>(&step);
    const auto* const taken = std::get_if<TakeOrder>(&step);
    const auto* const split = std::get_if<SplitNonzeros>(&step);
    return (sort != nullptr && sort->acts == Acts::rows) || (taken != nullptr && taken->acts == Acts::rows) ||
           (split != nullptr && !split->needs_parts) || std::holds_alternative<SortShare>(step) ||
           std::holds_alternative<CutRows>(step) || std::holds_alternative<CutColumns>(step);
}

}  // namespace

bool DevicePlan::suits_any_shape() const {
    const bool has_rows = std::holds_alternative<WholeRows>(storage) || std::holds_alternative<PaddedRows>(storage) ||
                          std::holds_alternative<RowSlices>(storage);
    return has_rows && std::ranges::all_of(steps, suits_any_shape_by);
}

std::string DevicePlan::refusal() const {
    PlanCheck course(*this);
    for (const PlanStep& each : steps) {
        if (std::string reason = std::visit(course, each.step); !reason.empty()) return each.stage + ": " + reason;
    }
    if (shares.empty()) return std::visit(course, storage);
    for (const StoredShare& share : shares) {
        const std::string reason = std::visit(course, share.storage);
        if (!reason.empty()) return name_of(share.share) + ": " + reason;
    }
    return "";
}

}  // namespace workbench
