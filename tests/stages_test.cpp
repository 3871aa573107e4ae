// The contracts of the stages, and the invariants of chains of stages on the battery. tests/stages has exact results of each
// stage, on unsymmetric matrices that reveal a wrong direction.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "core/matrix/battery.hpp"
#include "kernels/formats/staircase_sell/length_groups.hpp"
#include "stages/stages.hpp"
#include "stages/steps.hpp"

namespace workbench {
namespace {

std::vector<StageEntry> all_stages() {
    return {approximate_minimum_degree_stage(),
            colouring_stage(),
            column_segmentation_stage(),
            column_sort_stage(),
            cuthill_mckee_stage(),
            degree_sort_stage(),
            dynamic_program_groups_stage(),
            gorder_stage(),
            gray_stage(),
            king_stage(),
            length_groups_stage(),
            louvain_stage(),
            metis_partition_stage(),
            natural_stage(),
            nested_dissection_stage(),
            nonlinear_hash_stage(),
            rabbit_order_stage(),
            random_order_stage(),
            row_blocks_stage(),
            row_sort_stage(),
            sloan_stage(),
            split_stage()};
}

}  // namespace

TEST_CASE("every stage and parameter has a description, and every default is accepted") {
    std::set<std::string> names;
    for (const StageEntry& stage : all_stages()) {
        CAPTURE(stage.name);
        CHECK(names.insert(stage.name).second);
        CHECK_FALSE(stage.summary.empty());
        CHECK((stage.name == "natural" || !stage.source.empty()));
        std::set<std::string> parameter_names;
        for (const ParameterDeclaration& declaration : stage.parameters) {
            CAPTURE(declaration.name);
            CHECK(parameter_names.insert(declaration.name).second);
            CHECK(declaration.help.size() > 20);
            CHECK(declaration.help.find('\n') == std::string::npos);
            if (declaration.default_value) CHECK(reason_to_refuse(declaration, *declaration.default_value) == "");
        }
    }
}

TEST_CASE("natural changes nothing") {
    const StagedMatrix before = six_rows_cut_at({0, 3, 6});
    const Step step = run(natural_stage(), {}, before);
    CHECK(step.after.matrix == before.matrix);
    CHECK(step.after.cuts == before.cuts);
    CHECK_FALSE(step.contract.acts.has_value());
}

namespace {

/// Checks that a stage makes shares of the kinds in its contract, and all of those that do not depend on the matrix.
void check_shares_of_contract(const Step& step, const StagedMatrix& before) {
    std::vector<ShareKind> promised;
    for (const GivesShares& given : step.contract.gives_shares) {
        if (given.only_with && before.find_cuts(*given.only_with) == nullptr) continue;
        if (given.only_without && before.find_cuts(*given.only_without) != nullptr) continue;
        promised.push_back(given.kind);
        const bool many = given.kind == ShareKind::tile || given.kind == ShareKind::segment;
        if (!many) CHECK(step.after.find_share({given.kind}) != nullptr);
    }
    CHECK(step.result.change.shares.has_value() == !promised.empty());
    if (promised.empty()) return;
    for (const Share& share : step.after.shares) {
        CHECK(std::find(promised.begin(), promised.end(), share.id.kind) != promised.end());
    }
}

/// Checks that a stage which does not read entries gives the same result for other columns and values.
void check_reads_entries(const StageEntry& stage, const Given& given, const StagedMatrix& before, const Step& step) {
    const Parameters parameters(stage.parameters, given);
    if (stage.reads_entries == nullptr || stage.reads_entries(parameters)) return;
    StagedMatrix others = before;
    std::fill(others.matrix.column_indices.begin(), others.matrix.column_indices.end(), 0);
    std::fill(others.matrix.values.begin(), others.matrix.values.end(), 0);
    StagedMatrix after = before;
    apply(after, stage.run(others, parameters, {}).change, step.contract.keeps);
    CHECK(after.matrix == step.after.matrix);
    CHECK(after.cuts == step.after.cuts);
    CHECK(after.shares == step.after.shares);
}

}  // namespace

TEST_CASE("every chain of stages keeps the invariants on the battery, and is reproducible") {
    struct Link {
        StageEntry stage;
        Given given;
    };
    const std::vector<std::vector<Link>> chains{
        {{natural_stage(), {}}},
        {{cuthill_mckee_stage(), {}}, {row_sort_stage(), {{"order", "ascending"}}}},
        {{random_order_stage(), {}}, {cuthill_mckee_stage(), {{"variant", "plain"}}}},
        {{random_order_stage(), {{"apply", "rows"}}},
         {random_order_stage(), {{"apply", "columns"}, {"seed", std::int64_t{9}}}}},
        {{row_sort_stage(), {{"apply", "rows"}, {"within", "window"}, {"window", std::int64_t{32}}}}},
        {{approximate_minimum_degree_stage(), {}}, {nested_dissection_stage(), {}}},
        {{degree_sort_stage(), {}}, {gray_stage(), {}}},
        {{colouring_stage(), {}}, {row_sort_stage(), {{"within", "partition"}, {"apply", "symmetric"}}}},
        {{king_stage(), {}}, {sloan_stage(), {}}, {rabbit_order_stage(), {}}},
        {{gorder_stage(), {}}, {louvain_stage(), {}}},
        {{metis_partition_stage(), {{"parts", std::int64_t{5}}}},
         {row_sort_stage(), {{"within", "partition"}, {"key", "nonzeros_inside_partition"}}},
         {split_stage(), {{"by", "inside_partition"}}},
         {row_sort_stage(), {{"share", "outside"}}},
         {row_sort_stage(), {{"share", "inside"}, {"within", "partition"}, {"order", "ascending"}}}},
        {{split_stage(), {{"by", "first_k"}}}, {row_sort_stage(), {{"share", "rest"}}}},
        {{column_segmentation_stage(), {{"width", std::int64_t{3}}}}, {row_sort_stage(), {{"share", "segment"}}}},
        {{row_blocks_stage(), {{"count", std::int64_t{2}}}},
         {column_segmentation_stage(), {{"count", std::int64_t{3}}}},
         {row_sort_stage(), {{"share", "tile"}}}},
    };
    for (const NamedMatrix& named : battery()) {
        const CsrMatrix& matrix = named.matrix;
        CAPTURE(named.name);
        for (const Index node_size : {1, 3}) {
            if (node_size > 1 && (!matrix.square() || matrix.rows % node_size != 0)) continue;
            for (const std::vector<Link>& chain : chains) {
                StagedMatrix staged = stage_input(matrix, node_size);
                for (const Link& link : chain) {
                    const StageEntry& stage = link.stage;
                    const Given& given = link.given;
                    CAPTURE(stage.name);
                    if (contract_of(stage, given).needs.square && !matrix.square()) break;
                    const Step step = run(stage, given, staged);
                    const Step again = run(stage, given, staged);
                    check_invariants(step.after, matrix);
                    CHECK(step.after.matrix == again.after.matrix);
                    CHECK(step.after.cuts == again.after.cuts);
                    CHECK(step.after.shares == again.after.shares);
                    for (const CutKind kind : step.contract.gives_cuts) CHECK(step.after.find_cuts(kind) != nullptr);
                    check_shares_of_contract(step, staged);
                    check_reads_entries(link.stage, link.given, staged, step);
                    staged = step.after;
                }
            }
        }
    }
}

}  // namespace workbench
