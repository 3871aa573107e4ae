// Column segments whose part of x fits into a cache, and the split of the nonzeros into segments or tiles.
#include <algorithm>
#include <charconv>
#include <limits>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "core/contract/device.hpp"
#include "core/contract/errors.hpp"
#include "core/text/words.hpp"
#include "stages/blocks.hpp"
#include "stages/parameters.hpp"
#include "stages/stages.hpp"
#include "stages/tile_split.hpp"

namespace workbench {
namespace {

/// A limit on the tables with one element per segment, which every thread has during the split.
constexpr Index most_segments = 1 << 20;

bool is_uniform(const Parameters& parameters) { return parameters.text("method") == "uniform"; }

/// The ascending list of `level_widths`, such as "4096, 16384", above segment_size.
std::vector<std::int64_t> level_widths(const Parameters& parameters) {
    std::vector<std::int64_t> widths;
    if (!parameters.has("level_widths")) return widths;
    const std::string& text = parameters.text("level_widths");
    const std::int64_t segment_size = parameters.integer("segment_size");
    const auto refuse = [&] {
        throw ParameterError("level_widths",
                             fmt::format("found \"{}\", expected ascending numbers of columns, the first of them "
                                         "greater than segment_size = {}",
                                         text, segment_size));
    };
    const char* const end = text.data() + text.size();
    const auto skip_blanks = [end](const char* at) {
        while (at != end && *at == ' ') ++at;
        return at;
    };
    for (const char* at = text.data(); at != end;) {
        std::int64_t width = 0;
        const auto [after, error] = std::from_chars(skip_blanks(at), end, width);
        const std::int64_t least = widths.empty() ? segment_size : widths.back();
        if (error != std::errc{} || width <= least || width > std::numeric_limits<Index>::max()) refuse();
        widths.push_back(width);
        at = skip_blanks(after);
        if (at == end) break;
        if (*at != ',' || ++at == end) refuse();
    }
    return widths;
}

void refuse_beside(const Parameters& parameters, std::string_view method, const std::vector<std::string>& names) {
    for (const std::string& name : names) {
        if (parameters.has(name)) {
            throw ParameterError(name, name + " does not apply to method = \"" + std::string(method) + "\"");
        }
    }
}

StageContract column_segmentation_contract(const Parameters& parameters) {
    StageContract contract{.needs = {.unsplit = true},
                           .gives_cuts = {CutKind::segment},
                           .gives_shares = {{.kind = ShareKind::tile, .only_with = CutKind::row_block},
                                            {.kind = ShareKind::segment, .only_without = CutKind::row_block}}};
    if (is_uniform(parameters)) {
        refuse_beside(parameters, "uniform", {"segment_count", "segment_size", "level_widths"});
        require_one_of(parameters, {"width", "count", "fit"});
        require_value_bytes(parameters);
        if (parameters.has("count")) contract.most_pieces[CutKind::segment] = parameters.integer("count");
        contract.depends_on_precision = parameters.has("fit") && !parameters.has("value_bytes");
        return contract;
    }
    refuse_beside(parameters, "non_uniform", {"width", "count", "fit"});
    for (const std::string name : {"segment_count", "segment_size"}) {
        if (!parameters.has(name)) throw ParameterError(name, "method = \"non_uniform\" needs " + name);
    }
    const auto levels = static_cast<std::int64_t>(level_widths(parameters).size());
    contract.most_pieces[CutKind::segment] = parameters.integer("segment_count") + levels + 1;
    contract.needs.columns_by_density = true;
    return contract;
}

/// The number of entries of x that fit into the cache.
std::int64_t columns_in_cache(const Parameters& parameters, const StageContext& context) {
    const double bytes = static_cast<double>(device_cache(parameters.text("fit")).bytes) * parameters.real("cache_share");
    return std::max<std::int64_t>(1,
                                  static_cast<std::int64_t>(bytes / static_cast<double>(bytes_of_value(parameters, context))));
}

/// Non-uniform segments: narrow segments over the densest columns, then wider and wider ones, then the rest.
std::vector<Index> non_uniform_boundaries(Index columns, const Parameters& parameters) {
    std::vector<Index> boundaries{0};
    const auto add = [&](std::int64_t width) {
        if (boundaries.back() < columns) {
            boundaries.push_back(static_cast<Index>(std::min<std::int64_t>(columns, boundaries.back() + width)));
        }
    };
    const std::int64_t size = parameters.integer("segment_size");
    const std::int64_t count = std::min(parameters.integer("segment_count"), (columns + size - 1) / size);
    for (std::int64_t segment = 0; segment < count; ++segment) add(size);
    for (const std::int64_t width : level_widths(parameters)) add(width);
    add(columns);
    return boundaries;
}

std::vector<Index> found_boundaries(Index columns, const Parameters& parameters, const StageContext& context) {
    if (!is_uniform(parameters)) return non_uniform_boundaries(columns, parameters);
    if (parameters.has("count")) return boundaries_by_count(columns, parameters.integer("count"));
    return boundaries_by_size(columns,
                              parameters.has("width") ? parameters.integer("width") : columns_in_cache(parameters, context));
}

std::vector<Index> boundaries_of(Index columns, const Parameters& parameters, const StageContext& context) {
    std::vector<Index> boundaries = found_boundaries(columns, parameters, context);
    const auto segments = static_cast<Index>(boundaries.size()) - 1;
    if (segments > most_segments) {
        throw Unsuitable(std::to_string(segments) + " segments of " + std::to_string(columns) + " columns, expected at most " +
                         std::to_string(most_segments) + ": make the segments wider");
    }
    return boundaries;
}

std::string describe_widths(const Cuts& segments) {
    if (segments.count() == 0) return "no columns";
    Index narrowest = segments.size(0);
    Index widest = narrowest;
    for (Index segment = 1; segment < segments.count(); ++segment) {
        narrowest = std::min(narrowest, segments.size(segment));
        widest = std::max(widest, segments.size(segment));
    }
    const std::string most = counted(widest, "column");
    return narrowest == widest ? most : std::to_string(narrowest) + " to " + most;
}

StageResult run_column_segmentation(const StagedMatrix& staged, const Parameters& parameters, const StageContext& context) {
    Cuts segments{CutKind::segment, boundaries_of(staged.matrix.columns, parameters, context)};
    const Cuts* row_blocks = staged.find_cuts(CutKind::row_block);
    std::vector<Share> shares = split_into_tiles(staged.matrix, row_blocks, segments);

    StageResult result{.notes = {{"segments", std::to_string(segments.count())}, {"width", describe_widths(segments)}}};
    if (row_blocks != nullptr) {
        const std::int64_t tiles = std::int64_t{row_blocks->count()} * segments.count();
        result.notes.emplace_back("tiles with nonzeros", std::to_string(shares.size()) + " of " + std::to_string(tiles));
    }
    std::int64_t rows_present = 0;
    for (const Share& share : shares) rows_present += static_cast<std::int64_t>(share.rows.size());
    result.notes.emplace_back("rows present, all shares together", std::to_string(rows_present));
    result.change.cuts.push_back(std::move(segments));
    result.change.shares = std::move(shares);
    return result;
}

std::vector<ParameterDeclaration> declarations() {
    return {choice_parameter(
                "method", by_default("uniform"), {"uniform", "non_uniform"},
                "segments of equal width, or narrow segments over the densest columns and wide ones over the rest (NUS)"),
            integer_parameter("width", not_required, between(1, largest_index, "columns"),
                              "uniform: columns per segment; the last segment may have fewer; give width, count or fit"),
            integer_parameter(
                "count", not_required, between(1, most_segments, "segments"),
                "uniform: number of segments, at most the number of columns; their widths differ by at most one column"),
            choice_parameter("fit", not_required, device_cache_names(),
                             "uniform: as many columns as values of x fit into this cache"),
            value_bytes_parameter("with fit: size of a value of x"),
            renamed_from("share", real_parameter("cache_share", by_default(1.0), between(0.001, 1),
                                                 "with fit: fraction of the cache for x; the rest is for streamed arrays")),
            integer_parameter("segment_count", not_required, between(0, most_segments, "segments"),
                              "non_uniform: number of segments over the densest columns (seg_num of the slides)"),
            integer_parameter("segment_size", not_required, between(1, largest_index, "columns"),
                              "non_uniform: columns of each of these segments (seg_size of the slides)"),
            declare("level_widths", ParameterType::text, not_required, {},
                    "non_uniform: ascending widths of the following segments, above segment_size: \"4096, 16384\"; the rest is "
                    "one segment")};
}

}  // namespace

StageEntry column_segmentation_stage() {
    return {
        .name = "column_segmentation",
        .summary = "Cut the columns into segments, and split the nonzeros by segment, or by tile if there are row blocks",
        .source =
            "Nagasaka, 'Exploiting GPU Caches in Sparse Matrix Vector Multiplication', slides, Tokyo Institute of Technology: "
            "segmented and NUS formats",
        .parameters = declarations(),
        .contract = column_segmentation_contract,
        .segment_width = "width",
        .run = run_column_segmentation,
        .on_device = [](const Parameters& parameters) -> std::optional<DeviceStep> {
            return CutColumns{[parameters](Index columns, const StageContext& context) {
                return boundaries_of(columns, parameters, context);
            }};
        }};
}

}  // namespace workbench
