// Orders, partitions, cuts and shares that other programs computed, from files.
#include <array>
#include <fstream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/input/npz/npz_archive.hpp"
#include "stages/beside/beside.hpp"
#include "stages/beside/from_lists.hpp"
#include "stages/parameters.hpp"

namespace workbench {
namespace {

constexpr std::array<std::string_view, 4> contents = {"order", "partition", "cuts", "shares"};

CutKind kind_of_cuts(const Parameters& parameters) {
    const std::string& kind = parameters.text("kind");
    if (kind == "partition") return CutKind::partition;
    return kind == "segment" ? CutKind::segment : CutKind::row_block;
}

/// Throws unless `owner` is given where `parameter` is.
void require_owner(const Parameters& parameters, std::string_view parameter, std::string_view owner) {
    if (!parameters.has(parameter) || parameters.has(owner)) return;
    throw ParameterError(std::string(parameter),
                         "found without " + std::string(owner) + ", expected it only with " + std::string(owner));
}

StageContract imported_contract(const Parameters& parameters) {
    require_one_of(parameters, {contents.begin(), contents.end()});
    require_owner(parameters, "apply", "order");
    require_owner(parameters, "direction", "order");
    require_owner(parameters, "within", "order");
    require_owner(parameters, "kind", "cuts");
    require_owner(parameters, "names", "shares");
    if (parameters.has("cuts") && parameters.has("base")) {
        throw ParameterError("base", "found beside cuts, whose boundaries begin with 0, expected none");
    }
    if (parameters.has("partition")) return contract_of_parts();
    if (parameters.has("cuts")) {
        if (!parameters.has("kind")) throw ParameterError("kind", "found none, expected the kind of the cuts");
        const CutKind kind = kind_of_cuts(parameters);
        return {.needs = {.square = kind == CutKind::partition}, .gives_cuts = {kind}};
    }
    if (parameters.has("shares")) {
        if (!parameters.has("names")) {
            throw ParameterError("names", R"(found none, expected the names of the shares, as "label_0, label_1")");
        }
        return contract_of_shares(kinds_of_names(parameters));
    }
    return contract_of_own_order(parameters);
}

bool is_archive(const std::string& file) {
    std::array<char, 4> start{};
    std::ifstream(file, std::ios::binary).read(start.data(), start.size());
    return is_zip({start.data(), start.size()});
}

NumberList list_of(const Parameters& parameters, std::string_view name) {
    const std::string& file = parameters.text(name);
    return read_numbers(file, file);
}

int base_of(const Parameters& parameters) { return parameters.has("base") ? static_cast<int>(parameters.integer("base")) : 0; }

StageResult run_imported(const StagedMatrix& staged, const Parameters& parameters, const StageContext&) {
    const int base = base_of(parameters);
    if (parameters.has("shares")) {
        const std::string& file = parameters.text("shares");
        const std::vector<ShareKind> kinds = kinds_of_names(parameters);
        if (is_archive(file)) return shares_from_export(file, file, staged, kinds);
        return shares_from(read_numbers(file, file), staged, kinds, base);
    }
    if (parameters.has("partition")) return partition_from(list_of(parameters, "partition"), staged, base);
    if (parameters.has("cuts")) {
        StageResult result;
        result.change.cuts = {cuts_from(list_of(parameters, "cuts"), staged, kind_of_cuts(parameters))};
        return result;
    }
    const bool new_of_old = parameters.has("direction") && parameters.text("direction") == "new_of_old";
    const OrderForm form{axes_of(parameters), new_of_old, base, stays_in_parts(parameters)};
    return {.change = {.order = order_from(list_of(parameters, "order"), staged, form)}};
}

/// Labels alone divide nonzeros on a device: shares that are to be checked, or come with their rows, depend on the entries.
std::optional<DeviceStep> labels_on_device(const Parameters& parameters) {
    const std::vector<ShareKind> kinds = kinds_of_names(parameters);
    if (are_checked(kinds) || is_archive(parameters.text("shares"))) return std::nullopt;
    const auto table = [parameters, kinds](const SplitFacts& facts) {
        return SplitTable{numbers_of_shares(list_of(parameters, "shares"), facts.view, kinds.size(), base_of(parameters))};
    };
    return SplitNonzeros{.shares = kinds, .key = SplitKey::nonzero, .table = table, .needs_parts = false};
}

/// On a device, rows and columns are cut into tiles, and nonzeros are divided. The host reads orders and parts.
std::optional<DeviceStep> imported_on_device(const Parameters& parameters) {
    if (parameters.has("shares")) return labels_on_device(parameters);
    const auto boundaries = [parameters](Index size) {
        StagedMatrix sizes;
        sizes.matrix.rows = sizes.matrix.columns = size;
        return run_imported(sizes, parameters, {}).change.cuts.front().boundaries;
    };
    if (parameters.has("cuts") && kind_of_cuts(parameters) == CutKind::row_block) {
        return CutRows{[boundaries](Index rows, const std::vector<Index>&) { return boundaries(rows); }, false};
    }
    if (parameters.has("cuts") && kind_of_cuts(parameters) == CutKind::segment) {
        return CutColumns{[boundaries](Index columns, const StageContext&) { return boundaries(columns); }};
    }
    return std::nullopt;
}

ParameterDeclaration file_parameter(const char* name, const char* help) {
    return declare(name, ParameterType::file, not_required, {}, help);
}

}  // namespace

StageEntry imported_stage() {
    return {
        .name = "imported",
        .summary = "Take an order, a partition, cuts or shares from a file that another program wrote",
        .source = "",
        .parameters =
            {file_parameter("order",
                            "file with an entry for each row, column or node: .npy, Matrix Market array, or one number a line"),
             file_parameter("partition",
                            "file with the part of each row or node, such as METIS's .part.K; rows keep their order in a part"),
             file_parameter("cuts", "file with boundaries: piece i is from entry i to before entry i + 1"),
             file_parameter("shares",
                            "file with the label of each nonzero in the order of the matrix at this stage, or the "
                            "shares.npz of workbench export"),
             apply_parameter(not_required, {"symmetric", "rows", "columns"}, "; default: symmetric; only with order"),
             choice_parameter("direction", not_required, {"old_of_new", "new_of_old"},
                              "order: entry i is the old number of new row i, as of scipy, or the new number of old row i; "
                              "default: old_of_new"),
             within_parameter(),
             choice_parameter("kind", not_required, {"partition", "row_block", "segment"},
                              "cuts: boundaries of rows and columns alike, of rows, or of columns"),
             names_parameter(),
             integer_parameter("base", not_required, between(0, 1),
                               "the smallest number of orders, parts and labels; default: 0; 1 for MATLAB and Julia")},
        .contract = imported_contract,
        .reads_entries = [](const Parameters& parameters) { return parameters.has("shares"); },
        .run = run_imported,
        .on_device = imported_on_device};
}

}  // namespace workbench
