#include "pipeline/bench/bench_page.hpp"

#include <nlohmann/json.hpp>

#include "pipeline/bench/ranking.hpp"
#include "viz/page_file.hpp"

namespace workbench {
namespace {

using Json = nlohmann::json;

Json known(const std::optional<double>& number) { return number ? Json(*number) : Json(nullptr); }

Json metric(const Record& record, const char* name) {
    const auto found = record.metrics.find(name);
    return found == record.metrics.end() ? Json(nullptr) : Json(found->second);
}

Json json_of(const Record& record) {
    return {{"recipe", record.recipe},
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
            {"speedup", known(record.speedup)},
            {"interval", record.interval ? Json{record.interval->low, record.interval->high} : Json(nullptr)},
            {"verdict", record.verdict},
            {"break_even", known(record.break_even)},
            {"copy_bandwidth", record.copy_bandwidth},
            {"nonzeros", metric(record, "nonzeros")}};
}

Json json_of(const Ranking& ranking) {
    Json recipes = Json::array();
    for (const Ranked& one : ranking.recipes) {
        recipes.push_back({{"recipe", one.recipe},
                           {"geometric_mean", one.speedup.geometric_mean},
                           {"least", one.speedup.least},
                           {"most", one.speedup.most},
                           {"count", one.speedup.count},
                           {"won", one.won},
                           {"tied", one.tied},
                           {"not_measured", one.not_measured}});
    }
    return {{"device", ranking.device},
            {"precision", ranking.precision},
            {"matrices", ranking.matrices},
            {"recipes", std::move(recipes)}};
}

template <typename Things>
Json list_of(const Things& things) {
    Json list = Json::array();
    for (const auto& thing : things) list.push_back(json_of(thing));
    return list;
}

}  // namespace

std::string bench_page(const std::vector<Record>& records, const std::string& title, const std::string& command) {
    const Json document{{"kind", "bench"},
                        {"title", title},
                        {"command", command},
                        {"runs", Json::array()},
                        {"records", list_of(records)},
                        {"rankings", list_of(rank(records))}};
    return PageFile().html(title, document.dump(-1, ' ', false, Json::error_handler_t::replace));
}

}  // namespace workbench
