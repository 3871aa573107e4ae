#include <nlohmann/json.hpp>

#include "pipeline/distributed/rank_report.hpp"

namespace workbench {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const RankFacts& facts, const RankName& name) {
    return {{"machine", name.machine},
            {"device", name.device},
            {"rows", facts.rows},
            {"nonzeros_inside", facts.nonzeros_inside},
            {"nonzeros_outside", facts.nonzeros_outside},
            {"rows_outside", facts.rows_outside},
            {"neighbours", facts.neighbours},
            {"elements_received", facts.halo},
            {"elements_sent", facts.sent},
            {"read_seconds", facts.read_seconds},
            {"distribute_seconds", facts.distribute_seconds},
            {"stage_seconds", facts.stage_seconds},
            {"build_seconds", facts.build_seconds},
            {"copy_seconds", facts.copy_seconds},
            {"outside_share_seconds", facts.outside_seconds},
            {"product_seconds", facts.product_seconds},
            {"inside_seconds", facts.inside_seconds},
            {"exchange_seconds", facts.exchange_seconds},
            {"outside_seconds", facts.outside_product_seconds},
            {"sum_seconds", facts.sum_seconds},
            {"vector_bytes", facts.vector_bytes},
            {"exchange_hidden", facts.hidden()}};
}

Json json_of(const RanksSolve& solve) {
    return {{"method", "cg"},
            {"right_hand_side", solve.right_hand_side},
            {"preconditioner", solve.jacobi ? "jacobi" : "none"},
            {"tolerance", solve.tolerance},
            {"end", name_of(solve.end)},
            {"reason", solve.reason},
            {"iterations", solve.iterations},
            {"restarts", solve.restarts},
            {"residual", solve.residual},
            {"true_residual", solve.true_residual},
            {"seconds", solve.seconds},
            {"iteration_seconds", solve.iteration_seconds()},
            {"residuals", solve.history}};
}

}  // namespace

std::string ranks_json(const RanksReport& report) {
    Json json = {{"matrix",
                  {{"source", report.matrix.source},
                   {"rows", report.matrix.rows},
                   {"columns", report.matrix.columns},
                   {"nonzeros", report.matrix.nonzeros}}},
                 {"recipe", report.recipe},
                 {"layout", report.layout},
                 {"kernel", report.kernel},
                 {"precision", name_of(report.precision)},
                 {"rows_to_ranks", report.partitioning},
                 {"ranks_engine", report.engine},
                 {"exchange_engine", report.exchange_engine},
                 {"verified", {{"exact_vectors", report.exact_vectors}, {"error_over_bound", report.error_over_bound}}},
                 {"samples", report.samples},
                 {"products_a_sample", report.products_a_sample},
                 {"product_seconds", report.product_seconds()},
                 {"ranks", Json::array()}};
    for (std::size_t i = 0; i < report.ranks.size(); ++i) json["ranks"].push_back(json_of(report.ranks[i], report.names[i]));
    if (report.solve) json["solve"] = json_of(*report.solve);
    json["notes"] = report.notes;
    json["versions"] = report.versions;
    return json.dump(2) + "\n";
}

}  // namespace workbench
