#include "stages/value_bytes.hpp"

namespace workbench {

ParameterDeclaration value_bytes_parameter(const std::string& of_what) {
    return {.name = "value_bytes",
            .type = ParameterType::integer,
            .optional = true,
            .minimum = 4,
            .maximum = 8,
            .unit = "bytes",
            .help = of_what + ", 4 (f32) or 8 (f64); where nothing is said, that of the run, for each precision anew"};
}

void require_value_bytes(const Parameters& parameters) {
    if (!parameters.has("value_bytes")) return;
    const std::int64_t bytes = parameters.integer("value_bytes");
    if (bytes == 4 || bytes == 8) return;
    throw ParameterError("value_bytes", "values of " + std::to_string(bytes) + " bytes; expected 4 (f32) or 8 (f64)");
}

std::int64_t bytes_of_value(const Parameters& parameters, const StageContext& context) {
    return parameters.has("value_bytes") ? parameters.integer("value_bytes") : value_bytes(context.precision);
}

}  // namespace workbench
