#include "viz/flow_picture.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <fmt/format.h>

#include "core/text/words.hpp"
#include "viz/chart.hpp"
#include "viz/pdf_canvas.hpp"
#include "viz/style.hpp"

namespace workbench {
namespace {

// In nominal lengths (Unit).
constexpr double flow_margin = 48;
constexpr double flow_top = 210;
constexpr double flow_bottom = 1000;
constexpr double phases_apart = 70;
constexpr double least_first_phase = 880;  // the width of its title
// In cells.
constexpr double label_width = 0.9;   // of row numbers
constexpr double result_width = 1.5;  // "=" and the partial results
constexpr double segment_gap = 0.7;
constexpr double block_gap = 0.5;
constexpr double term_width = 1.6;  // a partial result and "+"
constexpr double number_size = 0.42;

constexpr int phase_label_size = 15 * FlowPicture::fineness;  // 7.5 points, as in other pictures for a paper
constexpr int phase_label_height = 26 * FlowPicture::fineness;

Colour pale(std::size_t segment) { return mix(white, series_colour(segment % most_series), 90); }

double points_of_number(double cell) { return number_size * cell * PaperColumn::points_of_pixel / FlowPicture::fineness; }

/// The places of everything, in pixels.
class FlowPlan {
public:
    explicit FlowPlan(const FlowPicture& picture) : flow_(picture.flow) {
        const ProductFlow& flow = flow_;
        const Unit unit = unit_of(picture.width);
        const auto segments = static_cast<double>(segment_count());
        const auto blocks = static_cast<double>(flow.row_starts.size() - 1);
        const double first =
            static_cast<double>(flow.column_numbers.size()) + segments * (label_width + result_width + segment_gap);
        const double second = label_width + segments * term_width + 1.5;
        const double lines = static_cast<double>(flow.row_numbers.size()) + 2 + blocks * block_gap;
        if (picture.is_bare) {
            place_for_paper(picture.width, first, second, lines);
            return;
        }
        const double across = (unit(nominal_width - 2 * flow_margin - phases_apart)) / (first + second);
        const double down = unit(flow_bottom - flow_top) / lines;
        cell = std::min({across, down, static_cast<double>(unit(96))});
        left = unit(flow_margin);
        top = unit(flow_top);
        second_left = left + std::max<double>(first * cell, unit(least_first_phase)) + unit(phases_apart);
    }

    [[nodiscard]] std::size_t segment_count() const { return flow_.column_starts.size() - 1; }
    /// The left edge of the matrix columns of a segment.
    [[nodiscard]] double segment_left(std::size_t segment) const {
        const double before =
            flow_.column_starts[segment] + static_cast<double>(segment) * (label_width + result_width + segment_gap);
        return left + (before + label_width) * cell;
    }
    /// The square of a cell, with a gap around it.
    [[nodiscard]] Rectangle square(double x, double y) const { return {x + gap, y + gap, cell - 2 * gap, cell - 2 * gap}; }
    [[nodiscard]] double block_top(Index block) const { return top + (flow_.row_starts[block] + 2 + block * block_gap) * cell; }

    double cell = 0;
    double gap = 1;
    double left = 0;
    double top = 0;
    double second_left = 0;  // of the second phase
    double second_down = 0;  // from the lines of the first phase to those of the second

    struct FlowBounds {  // of a phase in a paper
        double left = 0;
        double right = 0;
        double bottom = 0;
    };
    FlowBounds first_bounds;
    FlowBounds second_bounds;

private:
    /// Beside each other, or below each other if the numbers would be smaller than other text. Sizes are in cells.
    void place_for_paper(int width, double first, double second, double lines) {
        constexpr double number_points = 7.5;
        constexpr double widest_cell = 40.0 * FlowPicture::fineness;
        cell = width / (first + second);
        const bool is_stacked = points_of_number(cell) < number_points;
        if (is_stacked) cell = width / std::max(first, second);
        cell = std::min(cell, widest_cell);
        gap = FlowPicture::fineness;
        const auto centred = [&](double used) { return (width - used * cell) / 2; };
        left = centred(is_stacked ? first : first + second);
        second_left = is_stacked ? centred(second) + label_width * cell : left + (first + label_width) * cell;
        second_down = is_stacked ? (lines - 2) * cell + 1.5 * phase_label_height : 0;
        first_bounds = {left, left + (first - segment_gap) * cell, lines * cell};
        second_bounds = {second_left, second_left + (second - label_width) * cell, lines * cell + second_down};
    }

    const ProductFlow& flow_;
};

/// A square with a number.
void draw_number(Canvas& canvas, double x, double y, const FlowPlan& plan, Colour colour, const std::string& text, Colour ink) {
    const double cell = plan.cell;
    canvas.box(plan.square(x, y), colour);
    canvas.text(x + cell / 2, y + 0.66 * cell, text, {static_cast<int>(number_size * cell), ink, Align::centre});
}

void draw_sign(Canvas& canvas, double x, double y, double cell, const std::string& sign) {
    canvas.text(x, y + 0.68 * cell, sign, {static_cast<int>(0.5 * cell), style::muted, Align::centre});
}

void draw_piece(Canvas& canvas, const ProductFlow& flow, const FlowPlan& plan, const FlowPiece& piece) {
    const auto segment = static_cast<std::size_t>(piece.segment);
    const double x = plan.segment_left(segment);
    const Index first = flow.column_starts[segment];
    const double width = (flow.column_starts[segment + 1] - first) * plan.cell;
    double y = plan.block_top(piece.row_block);
    for (const auto& [row, columns] : piece.rows) {
        const std::string number = std::to_string(flow.row_numbers[row]);
        canvas.text(x - 0.15 * plan.cell, y + 0.66 * plan.cell, number,
                    {static_cast<int>(0.36 * plan.cell), style::muted, Align::right});
        for (double at = x; at < x + width - 1; at += plan.cell) {
            canvas.box(plan.square(at, y), style::hairline);
        }
        for (const Index column : columns) {
            canvas.box(plan.square(x + (column - first) * plan.cell, y), series_colour(segment % most_series));
        }
        draw_sign(canvas, x + width + 0.25 * plan.cell, y, plan.cell, "=");
        draw_number(canvas, x + width + 0.5 * plan.cell, y, plan, pale(segment), number, style::ink);
        y += plan.cell;
    }
}

void draw_x(Canvas& canvas, const ProductFlow& flow, const FlowPlan& plan) {
    for (std::size_t segment = 0; segment < plan.segment_count(); ++segment) {
        double x = plan.segment_left(segment);
        for (Index column = flow.column_starts[segment]; column < flow.column_starts[segment + 1]; ++column) {
            draw_number(canvas, x, plan.top, plan, pale(segment), fmt::format("x{}", flow.column_numbers[column]), style::ink);
            x += plan.cell;
        }
    }
}

void draw_sums(Canvas& canvas, const ProductFlow& flow, const FlowPlan& plan) {
    for (std::size_t block = 0; block + 1 < flow.row_starts.size(); ++block) {
        double y = plan.block_top(static_cast<Index>(block)) + plan.second_down;
        for (Index row = flow.row_starts[block]; row < flow.row_starts[block + 1]; ++row) {
            const std::string number = std::to_string(flow.row_numbers[row]);
            double x = plan.second_left;
            bool first = true;
            for (const FlowPiece& piece : flow.pieces) {
                const bool has = std::ranges::count(piece.rows, row, [](const auto& stored) { return stored.first; }) > 0;
                if (!has) continue;
                if (!first) draw_sign(canvas, x + 0.3 * plan.cell, y, plan.cell, "+");
                x += first ? 0 : 0.6 * plan.cell;
                draw_number(canvas, x, y, plan, pale(static_cast<std::size_t>(piece.segment)), number, style::ink);
                x += plan.cell;
                first = false;
            }
            const double right = plan.second_left + static_cast<double>(plan.segment_count()) * term_width * plan.cell;
            draw_sign(canvas, right + 0.1 * plan.cell, y, plan.cell, "=");
            draw_number(canvas, right + 0.5 * plan.cell, y, plan, style::ink, "y" + number, white);
            y += plan.cell;
        }
    }
}

void draw_phase_labels(Canvas& canvas, const FlowPlan& plan) {
    const auto label = [&](const FlowPlan::FlowBounds& bounds, const char* text) {
        canvas.text((bounds.left + bounds.right) / 2, bounds.bottom + 0.75 * phase_label_height, text,
                    {phase_label_size, style::ink, Align::centre});
    };
    label(plan.first_bounds, "(a) partial results");
    label(plan.second_bounds, "(b) sums");
}

}  // namespace

Offset ProductFlow::partial_results() const {
    Offset count = 0;
    for (const FlowPiece& piece : pieces) count += static_cast<Offset>(piece.rows.size());
    return count;
}

ProductFlow flow_of(const StagedMatrix& staged) {
    const CsrMatrix& matrix = staged.matrix;
    const Cuts* segments = staged.find_cuts(CutKind::segment);
    if (!staged.has_tiles() || segments == nullptr) throw std::invalid_argument("the nonzeros are in no segments or tiles");
    if (matrix.rows > most_flow_rows || matrix.columns > most_flow_rows || matrix.rows == 0 || matrix.columns == 0) {
        throw std::invalid_argument(
            fmt::format("the matrix has {} and {}", counted(matrix.rows, "row"), counted(matrix.columns, "column")));
    }
    ProductFlow flow;
    for (Index row = 0; row < matrix.rows; ++row) flow.row_numbers.push_back(staged.row_order.old_of_new(row));
    for (Index column = 0; column < matrix.columns; ++column) {
        flow.column_numbers.push_back(staged.column_order.old_of_new(column));
    }
    flow.column_starts = segments->boundaries;
    const bool tiles = staged.shares.front().id.kind == ShareKind::tile;
    flow.row_starts = tiles ? staged.find_cuts(CutKind::row_block)->boundaries : std::vector<Index>{0, matrix.rows};
    for (const Share& share : staged.shares) {
        FlowPiece piece{.row_block = share.id.row_block, .segment = share.id.segment};
        for (Index stored = 0; stored < static_cast<Index>(share.rows.size()); ++stored) {
            std::vector<Index> columns;
            for (Offset k = share.row_offsets[stored]; k < share.row_offsets[stored + 1]; ++k) {
                columns.push_back(matrix.column_indices[share.entries[k]]);
            }
            piece.rows.emplace_back(share.rows[stored], std::move(columns));
        }
        flow.pieces.push_back(std::move(piece));
    }
    return flow;
}

PictureSize size_of(const FlowPicture& picture) {
    if (!picture.is_bare) return {picture.width, height_of(picture.width)};
    return {picture.width, static_cast<int>(std::lround(FlowPlan(picture).second_bounds.bottom)) + phase_label_height};
}

double points_of_numbers(const FlowPicture& picture) { return points_of_number(FlowPlan(picture).cell); }

void draw(Canvas& canvas, const FlowPicture& picture) {
    const ProductFlow& flow = picture.flow;
    const Unit unit = unit_of(picture.width);
    const FlowPlan plan(picture);
    const auto line = [&](double x, int baseline, std::string_view text, int size, Colour colour) {
        if (picture.is_bare) return;
        canvas.text(x, unit(baseline), text,
                    {unit(size), colour, Align::left, static_cast<int>(unit(nominal_width - flow_margin) - x), unit(16)});
    };
    line(plan.left, 62, picture.title, 46, style::ink);
    line(plan.left, 104, picture.subtitle, 26, style::muted);
    line(plan.left, 168,
         fmt::format("phase 1: each piece times its part of x, {}", counted(flow.partial_results(), "partial result")), 28,
         style::ink);
    line(plan.second_left, 168, "phase 2: sums by row", 28, style::ink);
    draw_x(canvas, flow, plan);
    for (const FlowPiece& piece : flow.pieces) draw_piece(canvas, flow, plan, piece);
    draw_sums(canvas, flow, plan);
    if (picture.is_bare) draw_phase_labels(canvas, plan);
    line(plan.left, 1050,
         "numbers: rows and columns of the input; a piece lists only its rows with nonzeros, in the order of storage", 22,
         style::muted);
}

}  // namespace workbench
