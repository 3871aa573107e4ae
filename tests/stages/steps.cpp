#include "stages/steps.hpp"

#include <doctest/doctest.h>

#include <numeric>
#include <utility>

#include "core/matrix/battery.hpp"
#include "stages/order.hpp"

namespace workbench {

Indices Step::order() const {
    const StageChange& change = result.change;
    const Permutation& order = change.order ? change.order->order : change.storage.at(0).order;
    const auto list = order.old_of_new();
    return {list.begin(), list.end()};
}

std::string Step::note(const std::string& what) const {
    for (const auto& [name, text] : result.notes) {
        if (name == what) return text;
    }
    return "(no note)";
}

StageContract contract_of(const StageEntry& stage, const Given& given) {
    return stage.contract(Parameters(stage.parameters, given));
}

Step run(const StageEntry& stage, const Given& given, const StagedMatrix& before, const StageContext& context) {
    const Parameters parameters(stage.parameters, given);
    Step step{stage.contract(parameters), stage.run(before, parameters, context), before};
    apply(step.after, step.result.change, step.contract.keeps);
    return step;
}

CsrMatrix matrix_of(Index columns, const std::vector<Indices>& rows) {
    std::vector<Entry> entries;
    for (Index i = 0; i < static_cast<Index>(rows.size()); ++i) {
        for (const Index j : rows[i]) entries.push_back({i, j, 10.0 * i + j + 1});
    }
    return csr_from_entries(static_cast<Index>(rows.size()), columns, entries);
}

CsrMatrix diagonal(Index size) {
    CsrMatrix matrix{size, size, HostArray<Offset>(size + 1), HostArray<Index>(size), HostArray<double>(size, 1)};
    std::iota(matrix.row_offsets.begin(), matrix.row_offsets.end(), Offset{0});
    std::iota(matrix.column_indices.begin(), matrix.column_indices.end(), Index{0});
    return matrix;
}

CsrMatrix six_rows() { return matrix_of(6, {{0}, {0, 1, 5}, {}, {2, 3}, {0, 1, 4, 5}, {3}}); }

StagedMatrix six_rows_cut_at(Indices boundaries) {
    StagedMatrix staged = stage_input(six_rows());
    staged.cuts = {{CutKind::partition, std::move(boundaries)}};
    return staged;
}

CsrMatrix find_in_battery(const std::string& name) {
    for (const NamedMatrix& named : battery()) {
        if (named.name == name) return named.matrix;
    }
    FAIL("the battery has no matrix " << name);
    return {};
}

}  // namespace workbench
