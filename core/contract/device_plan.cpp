#include "core/contract/device_plan.hpp"

namespace workbench {
namespace {

/// Follows the steps of a plan, without a matrix. Each function returns the reason why a step cannot come next, or "".
class Course {
public:
    explicit Course(const DevicePlan& plan)
        : has_nodes_(plan.node_size != 1), in_blocks_(std::holds_alternative<BlockSlices>(plan.storage)) {}

    std::string operator()(const KeepNodes&) {
        has_nodes_ = true;
        return orders_ > 0 ? "nodes are found in an order of the matrix" : "";
    }
    std::string operator()(const OrderByLevels&) { return reorder(); }
    std::string operator()(const CutLevels&) {
        if (has_nodes_ || in_blocks_) return "parts have whole nodes";
        std::string reason = reorder();
        has_parts_ = true;
        return reason;
    }
    std::string operator()(const SortRows& sort) {
        if (!sort.inside_partition) {
            sorted_ = true;
            return reorder();
        }
        if (!has_parts_ || sorted_) return "rows are sorted inside parts that the device did not just make";
        sorted_ = true;
        return "";
    }
    std::string operator()(const SplitByPartition&) {
        split_ = true;
        return has_parts_ ? "" : "the nonzeros are split by parts that the device did not make";
    }
    std::string operator()(const SortOutside&) {
        outside_sorted_ = true;
        return split_ ? "" : "the nonzeros are not split";
    }

    std::string operator()(const RowSlices&) const {
        if (has_nodes_) return "rows are in an order of nodes";
        return split_ ? "the nonzeros are split" : "";
    }
    std::string operator()(const BlockSlices&) const { return split_ ? "the nonzeros are split" : ""; }
    std::string operator()(const PartSlices&) const {
        return split_ && outside_sorted_ ? "" : "the rows outside the parts are not sorted";
    }

private:
    /// A further order begins from the rows in the order before it; rows of blocks do not move between.
    std::string reorder() {
        if (split_) return "an order follows a split";
        const bool again = orders_ > (sorted_ ? 1 : 0) || (orders_ > 0 && !sorted_);
        has_parts_ = false;
        ++orders_;
        return in_blocks_ && again ? "blocks are reordered twice" : "";
    }

    bool has_nodes_;
    bool in_blocks_;
    int orders_ = 0;
    bool has_parts_ = false;
    bool sorted_ = false;
    bool split_ = false;
    bool outside_sorted_ = false;
};

}  // namespace

std::string DevicePlan::refusal() const {
    Course course(*this);
    for (const auto& [stage, step] : steps) {
        if (std::string reason = std::visit(course, step); !reason.empty()) return stage + ": " + reason;
    }
    return std::visit(course, storage);
}

}  // namespace workbench
