#include "viz/graph_picture.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/text/text_table.hpp"
#include "viz/palette.hpp"
#include "viz/pattern_view.hpp"

namespace workbench {
namespace {

// In nominal lengths (Unit).
constexpr int graph_margin = 48;
constexpr int graph_top = 150;
constexpr int graph_width = 930;
constexpr int graph_height = 770;
constexpr int beside_left = 1100;
constexpr int beside_top = 180;
constexpr int beside_side = 740;
constexpr int legend_top = 940;
constexpr int text_height = 22;

/// Places a graph in a box.
class GraphPlaces {
public:
    GraphPlaces(const GraphView& graph, const Box& box, double rim) : graph_(graph) {
        const double width = box.width - 2 * rim;
        const double height = box.height - 2 * rim;
        const double wide = std::max(graph.extent.x, 1e-9);
        const double high = std::max(graph.extent.y, 1e-9);
        scale_ = std::min(width / wide, height / high);
        left_ = box.x + rim + (width - wide * scale_) / 2;
        top_ = box.y + rim + (height - high * scale_) / 2;
    }

    [[nodiscard]] Point operator()(Index vertex) const {
        const Point& place = graph_.places[vertex];
        return {left_ + place.x * scale_, top_ + place.y * scale_};
    }

    /// The distance of vertices in pixels if they were on a regular grid.
    [[nodiscard]] double spacing() const {
        const double area = std::max(graph_.extent.x, 0.01) * std::max(graph_.extent.y, 0.01) * scale_ * scale_;
        return std::sqrt(area / std::max(1.0, static_cast<double>(graph_.places.size())));
    }

    /// The median length of some thousand edges in pixels; for a graph without edges, the spacing.
    [[nodiscard]] double edge_length() const {
        std::vector<double> lengths;
        const std::size_t step = graph_.edges.size() / 4000 + 1;
        for (std::size_t i = 0; i < graph_.edges.size(); i += step) {
            const Point a = (*this)(graph_.edges[i][0]);
            const Point b = (*this)(graph_.edges[i][1]);
            lengths.push_back(std::sqrt((a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y)));
        }
        if (lengths.empty()) return spacing();
        const auto middle = lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() / 2);
        std::nth_element(lengths.begin(), middle, lengths.end());
        return *middle;
    }

private:
    const GraphView& graph_;
    double scale_ = 1;
    double left_ = 0;
    double top_ = 0;
};

void draw_edges(Canvas& canvas, const GraphView& graph, const GraphColours& colours, const GraphPlaces& places, double width) {
    const auto is_between = [&](Index a, Index b) { return !colours.pieces.empty() && colours.pieces[a] != colours.pieces[b]; };
    for (const bool between : {false, true}) {  // edges between pieces lie above all others
        for (const auto& [a, b] : graph.edges) {
            if (is_between(a, b) != between) continue;
            const Colour colour = between ? style::ink : mix(colours.colours[a], colours.colours[b], 128);
            canvas.line(places(a), places(b), colour, width);
        }
    }
}

void draw_vertices(Canvas& canvas, const GraphColours& colours, const GraphPlaces& places, double radius, bool has_numbers) {
    for (Index vertex = 0; vertex < static_cast<Index>(colours.colours.size()); ++vertex) {
        const Colour colour = colours.colours[vertex];
        const Point at = places(vertex);
        canvas.marker(Marker::circle, at, radius, colour);
        if (!has_numbers) continue;
        const std::string number = std::to_string(colours.numbers[vertex]);
        const int size = fitting_size(number, static_cast<int>(radius * 1.1), 1, static_cast<int>(radius * 1.7));
        canvas.text(at.x, at.y + size * 0.36, number, {size, text_on(colour), Align::centre});
    }
}

void draw_graph_legend(Canvas& canvas, const GraphColours& colours, const TextPlace& place, bool has_numbers) {
    const auto [x, y, width, size] = place;
    const int baseline = y + size * 9 / 10;
    if (colours.by == GraphColouring::pieces) {
        canvas.text(x, baseline,
                    fmt::format("{} in colours; edges between them are black{}", colours.name,
                                has_numbers ? "; numbers: current rows" : ""),
                    {size, style::ink, Align::left, width});
        return;
    }
    constexpr int parts = 64;
    const int part = std::max(1, size * 10 / parts);
    for (int i = 0; i < parts; ++i) {
        canvas.box(Box{x + i * part, y, part, size}, colours.scale_colour(static_cast<double>(i) / (parts - 1)));
    }
    const int right = x + parts * part;
    canvas.text(right + size / 2, baseline,
                colours.name + (!has_numbers                          ? ""
                                : colours.by == GraphColouring::order ? ", as numbered"
                                                                      : "; the numbers are rows"),
                {size, style::ink, Align::left, width - parts * part});
    canvas.text(x, baseline + size * 4 / 3, with_commas(colours.lowest), {size, style::muted});
    canvas.text(right, baseline + size * 4 / 3, with_commas(colours.highest), {size, style::muted, Align::right});
}

}  // namespace

bool draw_graph(Canvas& canvas, const GraphView& graph, const GraphColours& colours, const Box& box, Unit unit, double pixel) {
    constexpr double widest_radius = 30;
    constexpr double least_radius = 1.2;
    constexpr double least_with_number = 11;
    const GraphPlaces places(graph, box, widest_radius * unit.pixels + 2 * pixel);
    const double length = places.edge_length();
    const double radius = std::min({length * 0.3, places.spacing() * 0.35, widest_radius * unit.pixels});
    draw_edges(canvas, graph, colours, places, std::clamp(length * 0.1, 0.6 * pixel, 4 * unit.pixels));
    const bool has_numbers = radius >= least_with_number * pixel;
    if (radius >= least_radius * pixel) draw_vertices(canvas, colours, places, radius, has_numbers);
    return has_numbers;
}

int graph_resolution(int width) { return resolution_for(unit_of(width)(beside_side)); }

PictureSize size_of(const GraphPicture& picture) { return {picture.width, height_of(picture.width)}; }

void draw(Canvas& canvas, const GraphPicture& picture) {
    constexpr int figures = 3;
    const Unit unit = unit_of(picture.width);
    const StageCaption& caption = picture.caption;
    const int title_width = unit(beside_left - 2 * graph_margin);
    canvas.text(unit(graph_margin), unit(62), caption.title, {unit(46), style::ink, Align::left, title_width});
    canvas.text(unit(graph_margin), unit(104), caption.subtitle, {unit(28), style::muted, Align::left, title_width});
    const int pitch = unit((nominal_width - graph_margin - beside_left) / figures);
    int shown_figures = 0;
    for (const CaptionLine& line : caption.lines) {
        if (line.value == "-" || shown_figures == figures) continue;
        draw_caption_line(canvas, line,
                          {unit(beside_left) + shown_figures++ * pitch, unit(34), pitch - unit(16), unit(text_height)}, unit);
    }

    const Box box{unit(graph_margin), unit(graph_top), unit(graph_width), unit(graph_height)};
    const bool has_numbers = draw_graph(canvas, picture.graph, picture.colours, box, unit);
    const TextPlace below{unit(graph_margin), unit(legend_top), unit(graph_width), unit(text_height)};
    draw_graph_legend(canvas, picture.colours, below, has_numbers);

    const Box pattern = pattern_box(picture.raster, unit(beside_left), unit(beside_top), unit(beside_side));
    const PatternRaster& shown = picture.moving == nullptr ? picture.raster : *picture.moving;
    draw_pattern(canvas, {shown, picture.scale, pattern, unit});
    draw_axes(canvas, shown, pattern, unit(text_height));
    const TextPlace under{pattern.x, unit(legend_top), unit(nominal_width - graph_margin) - pattern.x, unit(text_height)};
    static_cast<void>(draw_legend(canvas, picture.raster, picture.scale, under));
    canvas.text(unit(graph_margin), unit(nominal_height - 22), caption.origin,
                {unit(text_height), style::muted, Align::left, unit(nominal_width - 2 * graph_margin), unit(18)});
}

}  // namespace workbench
