#include <algorithm>
#include <cmath>
#include <functional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/text/text_table.hpp"
#include "core/text/words.hpp"
#include "studies/distributed/rank_report.hpp"

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
            {"engine", name_of(solve.engine)},
            {"end", name_of(solve.end)},
            {"reason", solve.reason},
            {"iterations", solve.iterations},
            {"restarts", solve.restarts},
            {"residual", solve.residual},
            {"true_residual", solve.true_residual},
            {"seconds", solve.seconds},
            {"solver_seconds", solve.solver_seconds},
            {"iteration_seconds", solve.iteration_seconds()},
            {"residuals", solve.history}};
}

using Figure = std::function<double(const RankFacts&)>;

struct Spread {
    double least = 0;
    double mean = 0;
    double most = 0;
    std::size_t rank_of_most = 0;
};

Spread spread_of(const std::vector<RankFacts>& ranks, const Figure& figure) {
    Spread spread{.least = figure(ranks.front()), .most = figure(ranks.front())};
    for (std::size_t i = 0; i < ranks.size(); ++i) {
        const double value = figure(ranks[i]);
        spread.least = std::min(spread.least, value);
        spread.mean += value / static_cast<double>(ranks.size());
        if (value > spread.most) spread.rank_of_most = i;
        spread.most = std::max(spread.most, value);
    }
    return spread;
}

std::string table_of_ranks(const RanksReport& report) {
    constexpr std::size_t most_lines = 16;
    TextTable table{{"rank", "machine", "device", "rows", "nonzeros", "outside", "from", "receives", "sends"}, 3, {}};
    for (std::size_t i = 0; i < report.ranks.size(); ++i) {
        if (report.ranks.size() > most_lines && i == most_lines - 1) {
            table.rows.push_back({"...", fmt::format("{} more", report.ranks.size() - i)});
            break;
        }
        const RankFacts& facts = report.ranks[i];
        table.rows.push_back({fmt::format("{}", i), shortened(report.names[i].machine, 16),
                              shortened(report.names[i].device, 18), with_commas(facts.rows), with_commas(facts.nonzeros()),
                              with_commas(facts.nonzeros_outside), fmt::format("{}", facts.neighbours), with_commas(facts.halo),
                              with_commas(facts.sent)});
    }
    return table.text();
}

void add_line(TextTable& table, const std::string& name, const std::vector<RankFacts>& ranks, const Figure& figure) {
    const Spread spread = spread_of(ranks, figure);
    if (spread.most <= 0) return;
    table.rows.push_back({name, duration(spread.least), duration(spread.mean), duration(spread.most),
                          fmt::format("{}", spread.rank_of_most), fmt::format("{:.2f}", spread.most / spread.mean)});
}

std::string table_of_phases(const RanksReport& report) {
    TextTable table{{"", "min", "mean", "max", "on rank", "max / mean"}, 1, {}};
    const auto add = [&](const std::string& name, double RankFacts::*figure) {
        add_line(table, name, report.ranks, [figure](const RankFacts& facts) { return facts.*figure; });
    };
    add("reading", &RankFacts::read_seconds);
    add("distributing", &RankFacts::distribute_seconds);
    add("stages", &RankFacts::stage_seconds);
    add("layout", &RankFacts::build_seconds);
    add("copying", &RankFacts::copy_seconds);
    add("outside share", &RankFacts::outside_seconds);
    table.rows.emplace_back();
    add("product", &RankFacts::product_seconds);
    add("  inside", &RankFacts::inside_seconds);
    add("  exchange", &RankFacts::exchange_seconds);
    add("  outside", &RankFacts::outside_product_seconds);
    add("reduction", &RankFacts::sum_seconds);
    return table.text();
}

std::string solve_lines(const RanksReport& report) {
    const RanksSolve& solve = *report.solve;
    std::string text = fmt::format("Conjugate gradients, one reduction per iteration{}, b: {}, tolerance {:.3g}\n",
                                   solve.jacobi ? ", Jacobi preconditioner" : "", solve.right_hand_side, solve.tolerance);
    text +=
        fmt::format("  {}{}{}: {}{}, residual {:.3g}, true residual {:.3g}\n", name_of(solve.end),
                    solve.reason.empty() ? "" : ": ", solve.reason, counted_with_commas(solve.iterations, "iteration"),
                    solve.restarts > 0 ? ", " + counted_with_commas(solve.restarts, "restart") : "", std::abs(solve.residual),
                    std::abs(solve.true_residual));  // nan without its sign
    text += fmt::format("  {} in total, {} per iteration", duration(solve.seconds), duration(solve.iteration_seconds()));
    if (solve.engine == SolveEngine::persistent) {
        text += " of a persistent kernel\n";
    } else {
        text += fmt::format("; timed alone, a product takes {} and a reduction {}\n", duration(report.product_seconds()),
                            duration(spread_of(report.ranks, [](const RankFacts& facts) { return facts.sum_seconds; }).most));
    }
    return text + fmt::format("  time to solution: {}, of it set-up {}\n", duration(report.setup_seconds() + solve.seconds),
                              duration(report.setup_seconds()));
}

}  // namespace

double RankFacts::hidden() const {
    if (exchange_seconds <= 0) return 1;
    const double beside = product_seconds - inside_seconds - outside_product_seconds;
    return std::clamp(1 - beside / exchange_seconds, 0.0, 1.0);
}

double RanksReport::product_seconds() const {
    return spread_of(ranks, [](const RankFacts& facts) { return facts.product_seconds; }).most;
}

double RanksReport::setup_seconds() const {
    return spread_of(ranks, [](const RankFacts& facts) { return facts.setup_seconds(); }).most + solve->solver_seconds;
}

std::string ranks_text(const RanksReport& report) {
    const MatrixReport& matrix = report.matrix;
    std::string text =
        fmt::format("{}: {}, over {} in {} ({})\n", matrix.source, size_text(matrix.rows, matrix.columns, matrix.nonzeros),
                    counted_with_commas(report.ranks.size(), "rank"), report.partitioning, report.engine);
    text += fmt::format("Inside shares: recipe {}, layout {}, kernel {}, {}; outside shares: {}\n\n", report.recipe,
                        report.layout, report.kernel, name_of(report.precision), report.outside_layout);
    text += table_of_ranks(report) + "\n";
    text += fmt::format(
        "Verified across ranks: exact on {} integer vectors; on real vectors the error is at most {:.2g} of its bound\n\n",
        report.exact_vectors, report.error_over_bound);
    text += table_of_phases(report) + "\n";
    const double seconds = report.product_seconds();
    const auto nonzeros = static_cast<double>(matrix.nonzeros);
    text +=
        fmt::format("Product: {}, {} GFLOP/s; the median of {} of {} each\n", duration(seconds),
                    significant(seconds > 0 ? 2 * nonzeros / seconds / 1e9 : 0), counted_with_commas(report.samples, "sample"),
                    counted_with_commas(report.products_a_sample, "product"));
    double bytes = 0;
    const double bytes_of_value = report.precision == Precision::f64 ? 8 : 4;
    for (const RankFacts& facts : report.ranks) bytes += static_cast<double>(facts.halo) * bytes_of_value;
    if (bytes > 0) {
        const Spread hidden = spread_of(report.ranks, [](const RankFacts& facts) { return facts.hidden(); });
        text += fmt::format("Exchange ({}): {} per product; on average {:.0f} % of its time is hidden, at least {:.0f} %\n",
                            report.exchange_engine, byte_count(bytes), 100 * hidden.mean, 100 * hidden.least);
    } else {
        text += "No exchange: no rank needs elements of another one\n";
    }
    if (report.solve) text += "\n" + solve_lines(report);
    for (const std::string& note : report.notes) text += wrapped("note: " + note + "\n");
    return text;
}

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
    if (report.solve) {
        json["solve"] = json_of(*report.solve);
        json["solve"]["setup_seconds"] = report.setup_seconds();
        json["solve"]["total_seconds"] = report.setup_seconds() + report.solve->seconds;
    }
    json["notes"] = report.notes;
    json["versions"] = report.versions;
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace workbench
