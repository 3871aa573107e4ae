#include "stages/parameters.hpp"

#include <utility>

namespace workbench {

ParameterDeclaration seed_parameter(Limits limits) {
    return integer_parameter("seed", by_default(1), std::move(limits), "seed of the random number generator");
}

ParameterDeclaration direction_parameter(const std::string& items) {
    return choice_parameter("order", by_default("descending"), {"descending", "ascending"},
                            items + " first (descending) or last (ascending); ties keep their order");
}

bool descends(const Parameters& parameters) { return parameters.text("order") == "descending"; }

ParameterDeclaration apply_parameter(IfAbsent if_absent, std::vector<std::string> axes, const std::string& remark) {
    return choice_parameter("apply", std::move(if_absent), std::move(axes),
                            "reorder rows and columns alike (symmetric), or one axis only" + remark);
}

Acts axes_of(const Parameters& parameters) {
    if (!parameters.has("apply")) return Acts::symmetric;
    const std::string& axes = parameters.text("apply");
    return axes == "rows" ? Acts::rows : (axes == "columns" ? Acts::columns : Acts::symmetric);
}

ParameterDeclaration value_bytes_parameter(const std::string& purpose) {
    return integer_parameter("value_bytes", not_required, between(4, 8, "bytes"),
                             purpose + ": 4 (f32) or 8 (f64); default: the precision of the run");
}

void require_value_bytes(const Parameters& parameters) {
    if (!parameters.has("value_bytes")) return;
    const std::int64_t bytes = parameters.integer("value_bytes");
    if (bytes == 4 || bytes == 8) return;
    throw ParameterError("value_bytes", "found values of " + std::to_string(bytes) + " bytes; expected 4 (f32) or 8 (f64)");
}

void require_one_of(const Parameters& parameters, const std::vector<std::string_view>& names) {
    std::string all;
    std::string_view found;
    for (const std::string_view name : names) {
        all += (all.empty() ? "" : name == names.back() ? " or " : ", ") + std::string(name);
    }
    for (const std::string_view name : names) {
        if (!parameters.has(name)) continue;
        if (!found.empty()) {
            throw ParameterError(std::string(name), "found " + std::string(name) + " beside " + std::string(found) +
                                                        ", expected only one of " + all);
        }
        found = name;
    }
    if (found.empty()) throw ParameterError(std::string(names.front()), "found none, expected one of " + all);
}

}  // namespace workbench
