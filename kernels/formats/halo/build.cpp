#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/contract/errors.hpp"
#include "core/forecast/partition_forecast.hpp"
#include "core/matrix/block_rows.hpp"
#include "kernels/common/entry/format.hpp"
#include "kernels/common/refusal/refusals.hpp"
#include "kernels/common/schedule/choice.hpp"
#include "kernels/common/storage/predicted.hpp"
#include "kernels/device/tuned.hpp"
#include "kernels/formats/halo/host_parts.hpp"
#include "kernels/formats/halo/parts.hpp"
#include "kernels/formats/halo/places.hpp"

namespace workbench {
namespace {

/// Two parts of three rows; only the diagonal is symmetric.
constexpr std::string_view example = R"(
[[stage]]
use = "metis_partition"
parts = 2

[layout]
use = "halo"
warps = 1
slots_per_nonzero = 50
)";

HaloOptions options_of(const StagedMatrix& staged, const Parameters& parameters, std::size_t value_bytes) {
    HaloOptions options;
    options.block_size =
        parameters.is_word("block_size", "auto") ? staged.node_size : static_cast<Index>(parameters.integer("block_size"));
    if (options.block_size > largest_halo_block) {
        throw Unsuitable(fmt::format("nodes of {} unknowns, but blocks have at most {}: set block_size", options.block_size,
                                     largest_halo_block));
    }
    options.warps = static_cast<Index>(parameters.integer("warps"));
    options.piece = static_cast<Index>(parameters.integer("piece"));
    options.shared_bytes = parameters.integer("shared_memory");
    options.value_bytes = value_bytes;
    options.pairs = staged.matrix.square() && parameters.is_word("symmetric", "auto");
    const Index nodes = block_count_of(staged.matrix.rows, options.block_size);
    options.diagonal = options.pairs && count_in_parallel(nodes, [&](std::int64_t node) {
                                            const auto number = static_cast<Index>(node);
                                            return halo_is_mirrored(staged.matrix, options.block_size, number, number);
                                        }) == nodes;
    return options;
}

/// Appends the offsets of pieces of these lengths.
void append_lengths(HostArray<Index>& offsets, const HostArray<Index>& lengths) {
    for (const Index length : lengths) offsets.push_back(offsets.back() + length);
}

void append(auto& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); }

template <ValueType Value>
void store_structure(HaloLayout<Value>& halo, const std::vector<PlannedPart>& parts) {
    halo.halo_offsets = {0};
    halo.warp_steps = {0};
    halo.warp_segments = {0};
    halo.segment_steps = {0};
    halo.far_steps = {0};
    for (const PlannedPart& part : parts) {
        for (Index warp = 0; warp < halo.warps; ++warp) {
            halo.rest_segments.push_back(halo.warp_segments.back() + part.pair_segments_of_warp[warp]);
            halo.warp_segments.push_back(halo.warp_segments.back() + part.segments_of_warp[warp]);
        }
        append_lengths(halo.segment_steps, part.steps_of_segment);
        for (Index warp = 0; warp < halo.warps; ++warp) {
            const std::size_t number = halo.warp_steps.size();
            halo.warp_steps.push_back(halo.segment_steps[halo.warp_segments[number]]);
        }
        append(halo.segment_rows, part.rows);
        append(halo.column_places, part.columns);
        append(halo.halo_nodes, part.halo);
        halo.halo_offsets.push_back(static_cast<Index>(halo.halo_nodes.size()));
        append(halo.far_rows, part.far_rows);
        append(halo.far_columns, part.far_columns);
        halo.far_steps.push_back(static_cast<Index>(halo.far_rows.size() / halo_lanes));
        halo.pairs += part.pairs;
        halo.blocks += part.blocks;
        halo.far_blocks += part.far_blocks;
    }
}

/// Stores the values of every block, whose places are known by now.
template <ValueType Value>
void store_values(HaloLayout<Value>& halo, const CsrMatrix& matrix) {
    const Index d = halo.block_size;
    for_each_in_parallel(halo.parts(), 1, [&](std::int64_t number) {
        const auto part = static_cast<Index>(number);
        for_each_halo_block(halo.stored(), part, [&](const PlacedBlock& block) {
            if (block.row_node < 0) return;
            auto& values = block.is_far ? halo.far_values : halo.values;
            const Offset first = halo_slot(block.step, halo.area(), block.lane);
            for_each_in_halo_block(matrix, d, block.row_node, block.column_node, [&](Index r, Index c, Offset nonzero) {
                values[first + (r * d + c) * halo_lanes] = static_cast<Value>(matrix.values[nonzero]);
            });
        });
        if (!halo.has_diagonal()) return;
        const HaloPart place = halo_part(halo, part);
        for (Index i = 0; i < place.own; ++i) {
            const HaloBlock block = halo_block(matrix, d, place.first_node + i, place.first_node + i);
            Offset slot = halo_slot(halo.diagonal_groups[part] + i / halo_lanes, halo.triangle(), i % halo_lanes);
            for (Index r = 0; r < d; ++r) {
                for (Index c = r; c < d; ++c, slot += halo_lanes) {
                    const Offset nonzero = block[r * d + c];
                    if (nonzero >= 0) halo.diagonal[slot] = static_cast<Value>(matrix.values[nonzero]);
                }
            }
        }
    });
}

constexpr auto fill = []<ValueType Value>(HaloLayout<Value>& layout, const StagedMatrix& staged, const Parameters& parameters) {
    const CsrMatrix& matrix = staged.matrix;
    const HaloOptions options = options_of(staged, parameters, sizeof(Value));
    layout.block_size = options.block_size;
    layout.warps = options.warps;
    layout.part_nodes = halo_part_nodes(staged, options, static_cast<Index>(parameters.integer("parts")), layout.parts_cut);
    std::vector<PlannedPart> parts(layout.parts());
    for_each_in_parallel(layout.parts(), 1, [&](std::int64_t part) {
        parts[part] = plan_halo_part(matrix, options, layout.part_nodes[part], layout.part_nodes[part + 1]);
    });
    store_structure(layout, parts);
    parts.clear();
    if (options.diagonal) {
        layout.diagonal_groups = {0};
        for (Index part = 0; part < layout.parts(); ++part) {
            layout.diagonal_groups.push_back(layout.diagonal_groups.back() +
                                             block_count_of(halo_part(layout, part).own, halo_lanes));
        }
    }
    const auto slots = static_cast<double>(layout.column_places.size() + layout.far_columns.size()) * layout.area();
    require_bounded_slots(fmt::format("{} blocks of {} x {}", layout.blocks, options.block_size, options.block_size), slots,
                          matrix.nonzeros(), sizeof(Value),
                          {parameters.real("slots_per_nonzero"),
                           fmt::format("{}slots_per_nonzero allows more",
                                       options.block_size > 1 ? "smaller blocks (block_size) have fewer, and " : "")});
    make_zeros(layout.values, layout.column_places.size() * layout.area());
    make_zeros(layout.far_values, layout.far_columns.size() * layout.area());
    if (options.diagonal) {
        layout.diagonal.assign(Offset{layout.diagonal_groups.back()} * layout.triangle() * halo_lanes, Value{0});
    }
    store_values(layout, matrix);
    layout.pattern = Pattern(matrix);
};

std::vector<ParameterDeclaration> parameters() {
    return {
        integer_parameter("block_size", by_default("auto"), between(1, largest_halo_block, "rows", {"auto"}),
                          "rows and columns of a block; auto: the unknowns of a mesh node (node_size)"),
        choice_parameter("symmetric", by_default("auto"), {"auto", "off"},
                         "auto: a block whose mirror in the same part has the same values is stored once for both; off: never"),
        {.name = "parts",
         .type = ParameterType::integer,
         .default_value = std::string("auto"),
         .minimum = 1,
         .maximum = 1048576,
         .words = {"auto"},
         .help = "parts of neighbouring rows with about equal nonzeros, if no stage has made a partition; auto: two for each "
                 "multiprocessor",
         .for_device = tuned::halo_parts},
        integer_parameter("warps", by_default(std::int64_t{most_halo_warps}), between(1, most_halo_warps),
                          "warps that share the steps of a part: the size of a block of threads"),
        integer_parameter("piece", by_default(8), between(1, 65536, "blocks"),
                          "the most consecutive blocks of a row that one lane adds up; shorter pieces pad less"),
        {.name = "shared_memory",
         .type = ParameterType::integer,
         .default_value = std::string("auto"),
         .minimum = 32,
         .maximum = 1048576,
         .words = {"auto"},
         .unit = "bytes",
         .help = "for x and y of a part: larger parts are cut, and columns for which nothing is left are read from "
                 "memory; auto: a multiprocessor holds two parts at a time",
         .for_device = tuned::halo_shared_memory},
        slots_per_nonzero_parameter(16)};
}

/// The bytes that a product reads for a part: its blocks, columns and diagonal, x and the nodes of its halo.
template <ValueType Value>
std::int64_t bytes_of_part(const HaloLayout<Value>& halo, Index number) {
    const HaloPart part = halo_part(halo, number);
    const auto value_bytes = static_cast<std::int64_t>(sizeof(Value));
    const std::int64_t steps = halo.warp_steps[(number + 1) * halo.warps] - halo.warp_steps[number * halo.warps];
    std::int64_t bytes = steps * halo_lanes * (halo.area() * value_bytes + 2);
    bytes += std::int64_t{part.places()} * halo.block_size * value_bytes + std::int64_t{part.halo} * 4;
    if (halo.has_diagonal()) {
        const Index groups = halo.diagonal_groups[number + 1] - halo.diagonal_groups[number];
        bytes += std::int64_t{groups} * halo.triangle() * halo_lanes * value_bytes;
    }
    const std::int64_t far_steps = halo.far_steps[number + 1] - halo.far_steps[number];
    return bytes + far_steps * halo_lanes * (halo.area() * value_bytes + 6);
}

/// Into how many pieces parts are cut, so that x and y of one, and x of the columns around it, fit into the shared memory.
std::int64_t pieces_of_part(const PartitionForecast& parts, double nodes, double bytes_of_node, double shared_bytes) {
    const double bytes = ratio(nodes, static_cast<double>(parts.parts)) * bytes_of_node * (2 + parts.halo);
    return std::max<std::int64_t>(1, std::llround(std::ceil(ratio(bytes, shared_bytes))));
}

/// The parts of a stage are cut without regard to the order of their rows: each piece reads columns of the whole part.
PartitionForecast in_pieces(PartitionForecast parts, std::int64_t pieces) {
    const auto count = static_cast<double>(pieces);
    parts.inside /= count;
    parts.halo = count * (1 + parts.halo) - 1;
    return parts;
}

/// Parts of consecutive rows read more columns than the balls by which partitions are estimated: as many more as in samples.
PartitionForecast of_consecutive_rows(PartitionForecast parts, const PatternForecast& pattern, Precision precision) {
    constexpr Index sampled_rows = 960;
    const auto rows = static_cast<double>(pattern.rows());
    if (rows < 2 * sampled_rows || parts.halo <= 0) return parts;
    PatternForecast balls = pattern;
    balls.set_partition(std::max<std::int64_t>(1, pattern.rows() / sampled_rows));
    const double usual = 1 + balls.partition()->halo;
    const auto elements = static_cast<Index>(cache_sector / value_bytes(precision));
    const double locality = ratio(pattern.sectors(precision), static_cast<double>(pattern.blocks(sampled_rows, elements)));
    const double read = std::max(usual, static_cast<double>(pattern.blocks(sampled_rows, 1)) * locality / rows);
    parts.inside *= usual / read;
    parts.halo = (1 + parts.halo) * read / usual - 1;
    return parts;
}

LayoutCost predict_halo(const PatternForecast& pattern, const Parameters& parameters, Precision precision) {
    // An addition in shared memory takes about as long as looking up a sector in L2, and pieces of rows need some padding.
    constexpr double sectors_of_block = 1.1;
    constexpr double padding = 1.03;
    // On an H100, half of the warps on a multiprocessor take 1.05 to 1.4 times as long (docs/results/search-h100.md).
    constexpr double power_of_warps = 0.2;
    const Index size =
        parameters.is_word("block_size", "auto") ? pattern.node_size() : static_cast<Index>(parameters.integer("block_size"));
    const auto blocks = static_cast<double>(pattern.blocks(size, size));
    const Offset nodes = pieces_of(pattern.rows(), size);
    const bool pairs = parameters.is_word("symmetric", "auto") && pattern.symmetric();
    PatternForecast cut = pattern;
    if (!pattern.partition()) cut.set_partition(parameters.integer("parts"));
    const std::int64_t pieces =
        pieces_of_part(*cut.partition(), static_cast<double>(nodes), static_cast<double>(size * value_bytes(precision)),
                       static_cast<double>(parameters.integer("shared_memory")));
    if (!pattern.partition() && pieces > 1) cut.set_partition(parameters.integer("parts") * pieces);
    const PartitionForecast parts =
        pattern.partition() ? in_pieces(*cut.partition(), pieces) : of_consecutive_rows(*cut.partition(), pattern, precision);
    const double inside = blocks * parts.inside - static_cast<double>(nodes);
    const double stored = pairs ? std::max(inside, 0.0) / 2 + blocks * (1 - parts.inside) : blocks;
    const auto slots = static_cast<Offset>(stored * padding);
    const Offset area = Offset{size} * size;
    const Offset triangle = pairs ? Offset{size} * (size + 1) / 2 : 0;
    const auto halo_nodes = static_cast<Offset>(parts.halo * static_cast<double>(nodes));
    const std::int64_t bytes = slots * (area * value_bytes(precision) + short_bytes) +
                               nodes * triangle * value_bytes(precision) + halo_nodes * index_bytes + slots / 4;
    LayoutCost cost = cost_of_arrays(pattern, precision, slots * area + nodes * triangle, bytes, 1);
    cost.exact = false;
    cost.sectors = stored * sectors_of_block + static_cast<double>(halo_nodes);
    const double warps = static_cast<double>(parameters.integer("warps")) / most_halo_warps;
    const double blocks_of_threads = ratio(static_cast<double>(cut.partition()->parts * (pattern.partition() ? pieces : 1)),
                                           static_cast<double>(parameters.integer("parts")));
    cost.bandwidth *= std::pow(warps * std::min(1.0, blocks_of_threads), power_of_warps);
    refuse_slots(cost, parameters, pattern.nonzeros());
    return cost;
}

}  // namespace

template <ValueType Value>
std::vector<std::pair<std::string, std::string>> HaloLayout<Value>::notes() const {
    const auto stored = static_cast<Offset>(this->column_places.size() + this->far_columns.size());
    Index own = 0;
    Index outside = 0;
    std::int64_t bytes = 0;
    std::int64_t heaviest = 0;
    for (Index part = 0; part < this->parts(); ++part) {
        own = std::max(own, halo_part(*this, part).own);
        outside = std::max(outside, halo_part(*this, part).halo);
        const std::int64_t of_part = bytes_of_part(*this, part);
        bytes += of_part;
        heaviest = std::max(heaviest, of_part);
    }
    std::vector<std::pair<std::string, std::string>> notes;
    notes.emplace_back("parts", fmt::format("{}, of at most {} nodes and a halo of {}", this->parts(), own, outside));
    notes.emplace_back("blocks", fmt::format("{} of {} x {}, {} of them for their mirrors too", blocks, this->block_size,
                                             this->block_size, pairs));
    notes.emplace_back("padding",
                       fmt::format("{:.1f} % of the blocks", blocks == 0 ? 0.0 : 100.0 * (stored - blocks) / blocks));
    if (bytes > 0) {
        const double above = static_cast<double>(heaviest) * this->parts() / static_cast<double>(bytes) - 1;
        notes.emplace_back("heaviest part", fmt::format("{:.1f} % above the mean, in bytes", 100 * above));
    }
    if (!this->has_diagonal()) notes.emplace_back("diagonal", "among the other blocks: not all of its blocks are symmetric");
    if (parts_cut > 0) notes.emplace_back("parts cut", fmt::format("{} were too large for the shared memory", parts_cut));
    if (far_blocks > 0) {
        notes.emplace_back("blocks outside", fmt::format("{}: their columns did not fit into the shared memory", far_blocks));
    }
    return notes;
}

LayoutEntry halo_entry() {
    return format<HaloLayout>(
               {.summary =
                    "parts with their x, the columns around them and their y in shared memory; symmetric blocks stored once",
                .source = "SpMV workbench: a design of this project",
                .examples = {std::string(example)},
                .parameters = parameters(),
                .rows_of_share = RowsOfShare::all,
                .predict = predict_halo},
               fill)
        .host<HaloParts>("parts", "parts in parallel, from a copy in compressed rows of blocks")
        .cuda<halo::PartsKernel>("parts", "one thread block per part, whose x and sums are in shared memory",
                                 [](const auto& layout, const auto& visit) { walk_halo(layout, visit); });
}

template struct HaloLayout<float>;
template struct HaloLayout<double>;

}  // namespace workbench
