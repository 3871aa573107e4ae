#include "pipeline/input/text_format.hpp"

#include <algorithm>
#include <array>

#include "pipeline/input/matrix_market.hpp"
#include "pipeline/input/metis_graph.hpp"
#include "pipeline/input/rutherford_boeing.hpp"
#include "pipeline/input/words.hpp"

namespace workbench {
namespace {

// Accepts a byte order mark and a wrong number of percent signs, so that the reader reports what is wrong with the banner.
bool is_matrix_market(std::string_view start) {
    constexpr std::string_view name = "matrixmarket";
    constexpr std::string_view mark = "\xef\xbb\xbf";
    if (start.starts_with(mark)) start.remove_prefix(mark.size());
    start.remove_prefix(std::min(start.find_first_not_of("% "), start.size()));
    return lower_case(start.substr(0, name.size())) == name;
}

const std::array formats{
    TextFormat{"Matrix Market", is_matrix_market, read_matrix_market},
    TextFormat{"Rutherford-Boeing", is_rutherford_boeing, read_rutherford_boeing},
    TextFormat{"METIS graph", is_metis_graph, read_metis_graph},
};

}  // namespace

const TextFormat* text_format_of(std::string_view start) {
    for (const TextFormat& format : formats) {
        if (format.begins(start)) return &format;
    }
    return nullptr;
}

}  // namespace workbench
