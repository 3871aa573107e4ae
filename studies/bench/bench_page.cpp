#include "studies/bench/bench_page.hpp"

#include <nlohmann/json.hpp>

#include "studies/bench/ranking.hpp"
#include "viz/page_file.hpp"

namespace workbench {
namespace {

nlohmann::json known_or_null(const std::optional<double>& number) {
    return number ? nlohmann::json(*number) : nlohmann::json(nullptr);
}

nlohmann::json metric_or_null(const Record& record, const char* name) {
    const auto found = record.metrics.find(name);
    return found == record.metrics.end() ? nlohmann::json(nullptr) : nlohmann::json(found->second);
}

nlohmann::json json_of(const Record& record) {
    return {
        {"recipe", record.recipe},
        {"matrix", record.matrix},
        {"device", record.device},
        {"precision", record.precision},
        {"status", record.status},
        {"reason", record.reason},
        {"layout", record.layout},
        {"kernel", record.kernel},
        {"backend", record.backend},
        {"seconds", record.seconds},
        {"gflops", record.gflops},
        {"gbytes_per_second", record.gbytes_per_second},
        {"bytes_per_nonzero", record.bytes_per_nonzero},
        {"speedup", known_or_null(record.speedup)},
        {"interval", record.interval ? nlohmann::json{record.interval->low, record.interval->high} : nlohmann::json(nullptr)},
        {"verdict", record.verdict},
        {"break_even", known_or_null(record.break_even)},
        {"warnings", record.warnings},
        {"copy_bandwidth", record.copy_bandwidth},
        {"nonzeros", metric_or_null(record, "nonzeros")}};
}

nlohmann::json json_of(const Ranking& ranking) {
    nlohmann::json recipes = nlohmann::json::array();
    for (const Ranked& one : ranking.recipes) {
        recipes.push_back({{"recipe", one.recipe},
                           {"geometric_mean", one.speedup.geometric_mean},
                           {"least", one.speedup.least},
                           {"most", one.speedup.most},
                           {"count", one.speedup.count},
                           {"won", one.won},
                           {"tied", one.tied},
                           {"warned", one.warned},
                           {"not_measured", one.not_measured}});
    }
    return {{"device", ranking.device},
            {"precision", ranking.precision},
            {"matrices", ranking.matrices},
            {"recipes", std::move(recipes)}};
}

template <typename Things>
nlohmann::json list_of(const Things& things) {
    nlohmann::json list = nlohmann::json::array();
    for (const auto& thing : things) list.push_back(json_of(thing));
    return list;
}

}  // namespace

std::string bench_page(const std::vector<Record>& records, const std::string& title, const std::string& command,
                       const Judgement* judgement) {
    nlohmann::json document{{"kind", "bench"},
                            {"title", title},
                            {"command", command},
                            {"runs", nlohmann::json::array()},
                            {"records", list_of(records)},
                            {"rankings", list_of(rank(records))}};
    if (judgement != nullptr) document["judgement"] = json_of(*judgement);
    return PageFile().html(title, document.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

}  // namespace workbench
