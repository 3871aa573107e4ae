#include <nlohmann/json.hpp>

#include "pipeline/report/report.hpp"
#include "viz/storage_map.hpp"

namespace workbench {
namespace {

using Json = nlohmann::ordered_json;

/// A member of each element of a vector.
template <typename Element, typename Member>
Json list_of(const std::vector<Element>& elements, Member Element::*member) {
    Json list = Json::array();
    for (const Element& element : elements) {
        if constexpr (std::is_same_v<Member, bool>) {
            list.push_back(element.*member ? 1 : 0);
        } else {
            list.push_back(element.*member);
        }
    }
    return list;
}

Json json_of(const StorageArray& array, bool by_cell) {
    Json json{{"name", array.name},         {"role", name_of(array.role)}, {"type", name_of(array.type)},
              {"length", array.length},     {"bytes", array.bytes()},      {"words", array.words},
              {"nonzeros", array.nonzeros}, {"padding", array.padding}};
    if (array.columns >= 0) json["columns"] = array.columns;
    if (array.like >= 0) json["like"] = array.like;
    if (by_cell) {
        Json cells{{"text", list_of(array.cells, &StorageCell::text)}};
        if (array.role != ArrayRole::structure) {
            cells["padding"] = list_of(array.cells, &StorageCell::padding);
            cells["row"] = list_of(array.cells, &StorageCell::row);
            cells["column"] = list_of(array.cells, &StorageCell::column);
            cells["nonzero"] = list_of(array.cells, &StorageCell::nonzero);
            cells["warp"] = list_of(array.cells, &StorageCell::warp);
            cells["lane"] = list_of(array.cells, &StorageCell::lane);
            cells["step"] = list_of(array.cells, &StorageCell::step);
        }
        json["cells"] = std::move(cells);
    } else if (array.role != ArrayRole::structure && array.like < 0) {
        json["bins"] = {{"width", array.width},
                        {"padding", list_of(array.bins, &StorageBin::padding)},
                        {"first_row", list_of(array.bins, &StorageBin::first_row)},
                        {"last_row", list_of(array.bins, &StorageBin::last_row)},
                        {"first_column", list_of(array.bins, &StorageBin::first_column)},
                        {"last_column", list_of(array.bins, &StorageBin::last_column)},
                        {"first_nonzero", list_of(array.bins, &StorageBin::first_nonzero)},
                        {"last_nonzero", list_of(array.bins, &StorageBin::last_nonzero)}};
    }
    return json;
}

Json json_of(const StoragePart& part, bool by_cell, int bytes_of_value) {
    Json json{{"share", part.share},          {"layout", part.layout},
              {"kernel", part.kernel},        {"nonzeros", part.nonzeros() + part.mirrors},
              {"padding", part.padding()},    {"bytes", part.bytes()},
              {"warps", part.warps},          {"reads", part.reads},
              {"lane_steps", part.lane_steps}};
    json["arrays"] = Json::array();
    for (const StorageArray& array : part.arrays) json["arrays"].push_back(json_of(array, by_cell));
    json["shown_warps"] = Json::array();
    for (const WarpReads& warp : part.shown_warps) {
        Json sectors{{"values", Json::array()}, {"x", Json::array()}};
        for (std::int64_t step = 0; step < warp.listed_steps(); ++step) {
            const ReadSectors read = sectors_of(warp, step, bytes_of_value);
            sectors["values"].push_back(read.values);
            sectors["x"].push_back(read.x);
        }
        json["shown_warps"].push_back({{"warp", warp.warp},
                                       {"steps", warp.steps},
                                       {"array", list_of(warp.reads, &LaneRead::array)},
                                       {"index", list_of(warp.reads, &LaneRead::index)},
                                       {"row", list_of(warp.reads, &LaneRead::row)},
                                       {"column", list_of(warp.reads, &LaneRead::column)},
                                       {"padding", list_of(warp.reads, &LaneRead::padding)},
                                       {"sectors", std::move(sectors)}});
    }
    return json;
}

}  // namespace

Json json_of(const StorageMap& map) {
    Json json{{"precision", name_of(map.precision)},
              {"rows", map.rows},
              {"columns", map.columns},
              {"nonzeros", map.nonzeros},
              {"by_cell", map.by_cell}};
    json["parts"] = Json::array();
    for (const StoragePart& part : map.parts) json["parts"].push_back(json_of(part, map.by_cell, value_bytes(map.precision)));
    return json;
}

}  // namespace workbench
