#include "stages/vertex_places.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <span>
#include <tuple>

#include "core/matrix/random.hpp"
#include "stages/coarsen_graph.hpp"
#include "stages/levels.hpp"
#include "stages/weighted_graph.hpp"

namespace workbench {
namespace {

struct Packing {
    std::vector<BoxPlace> places;  // [boxes]
    BoxSize used;
};

/// Packs boxes in the given order, which is by descending height, into an area of the given width.
Packing packed(std::span<const BoxSize> boxes, std::span<const std::size_t> order, double width) {
    Packing result{std::vector<BoxPlace>(boxes.size()), {}};
    BoxPlace shelf;
    double shelf_height = 0;
    BoxPlace column;  // in the shelf
    double column_width = 0;
    for (const std::size_t i : order) {
        const BoxSize& box = boxes[i];
        const bool fits_below = box.width <= column_width && column.top + box.height <= shelf.top + shelf_height;
        if (!fits_below) {
            column = {column.left + column_width, shelf.top};
            if (column.left + box.width > width || shelf_height == 0) {
                shelf.top += shelf_height;
                shelf_height = box.height;
                column = shelf;
            }
            column_width = box.width;
        }
        result.places[i] = column;
        column.top += box.height;
        result.used.width = std::max(result.used.width, column.left + box.width);
        result.used.height = std::max(result.used.height, column.top);
    }
    return result;
}

using PlanePoint = std::array<double, 2>;

constexpr Index coarsest_vertices = 24;
constexpr Index most_with_all_pairs = 300;  // vertices of a graph in which each pair repels; larger graphs: near pairs
constexpr double reach = 3;                 // the distance up to which a pair is near
constexpr std::uint64_t places_seed = 1;

/// Uniform in [-1, 1).
double spread(std::uint64_t random) { return static_cast<double>(random >> 11) * 0x1p-52 - 1; }

/// The vertices in square cells, at least `reach` wide.
class Cells {
public:
    Cells(const std::vector<PlanePoint>& points, bool all_in_one) {
        PlanePoint high = points.front();
        low_ = points.front();
        for (const PlanePoint& point : points) {
            for (std::size_t axis = 0; axis < 2; ++axis) {
                low_.at(axis) = std::min(low_.at(axis), point.at(axis));
                high.at(axis) = std::max(high.at(axis), point.at(axis));
            }
        }
        const double width = high[0] - low_[0];
        const double height = high[1] - low_[1];
        // About as many cells as vertices, even if they are spread far.
        side_ = std::max(reach, std::sqrt(width * height / static_cast<double>(points.size())));
        side_ = std::max(side_, std::max(width, height) / static_cast<double>(points.size()));
        if (!all_in_one) {
            columns_ = static_cast<Index>(width / side_) + 1;
            rows_ = static_cast<Index>(height / side_) + 1;
        }
        starts_.assign(static_cast<std::size_t>(columns_) * static_cast<std::size_t>(rows_) + 1, 0);
        for (const PlanePoint& point : points) ++starts_[number(cell_of(point)) + 1];
        std::partial_sum(starts_.begin(), starts_.end(), starts_.begin());
        vertices_.resize(points.size());
        std::vector<Index> next(starts_.begin(), starts_.end() - 1);
        for (std::size_t i = 0; i < points.size(); ++i) {
            vertices_[next[number(cell_of(points[i]))]++] = static_cast<Index>(i);
        }
    }

    /// Calls visit(vertex, weight) for vertices in the cell of the point and in those around it: for all, or for a sample of
    /// about `most` of each line of cells, whose weights are the numbers of vertices that they represent.
    template <typename Visit>
    void for_each_near(const PlanePoint& point, Index most, const Visit& visit) const {
        const auto [column, row] = cell_of(point);
        for (Index y = std::max(row - 1, 0); y <= std::min(row + 1, rows_ - 1); ++y) {
            const Index first = number({std::max(column - 1, 0), y});
            const Index last = number({std::min(column + 1, columns_ - 1), y});
            const Index step = (starts_[last + 1] - starts_[first]) / most + 1;
            for (Index i = starts_[first]; i < starts_[last + 1]; i += step) visit(vertices_[i], static_cast<double>(step));
        }
    }

private:
    [[nodiscard]] std::array<Index, 2> cell_of(const PlanePoint& point) const {
        return {std::min(static_cast<Index>((point[0] - low_[0]) / side_), columns_ - 1),
                std::min(static_cast<Index>((point[1] - low_[1]) / side_), rows_ - 1)};
    }
    [[nodiscard]] Index number(std::array<Index, 2> cell) const { return cell[0] + columns_ * cell[1]; }

    PlanePoint low_{};
    double side_ = 1;
    Index columns_ = 1;
    Index rows_ = 1;
    std::vector<Index> starts_;    // [cells + 1] into vertices_
    std::vector<Index> vertices_;  // by cell
};

/// Neighbours attract each other with the square of their distance, and near vertices repel each other with its inverse.
PlanePoint force_on(Index vertex, const WeightedGraph& graph, const std::vector<PlanePoint>& points, const Cells& cells,
                    bool all_pairs) {
    PlanePoint force{};
    const PlanePoint& here = points[vertex];
    const Index most_near = all_pairs ? most_with_all_pairs + 1 : 64;  // vertices of many neighbours gather others around them
    cells.for_each_near(here, most_near, [&](Index other, double weight) {
        if (other == vertex) return;
        double x = here[0] - points[other][0];
        double y = here[1] - points[other][1];
        double square = x * x + y * y;
        if (!all_pairs && square > reach * reach) return;
        constexpr double least = 1e-6;
        if (square < least) {  // vertices at one place part in a direction that depends on both
            x = vertex < other ? 1e-3 : -1e-3;
            y = static_cast<double>((vertex + other) % 7 - 3) * (vertex < other ? 3e-4 : -3e-4);
            square = x * x + y * y;
        }
        force[0] += x * weight / square;
        force[1] += y * weight / square;
    });
    for (const WeightedEdge edge : graph.edges_of(vertex)) {
        const double x = points[edge.to][0] - here[0];
        const double y = points[edge.to][1] - here[1];
        const double distance = std::sqrt(x * x + y * y);
        force[0] += x * distance;
        force[1] += y * distance;
    }
    return force;
}

/// Moves all vertices by their forces in steps that become shorter, from `longest` on.
void settle(const WeightedGraph& graph, std::vector<PlanePoint>& points, int steps, double longest) {
    constexpr double shortest = 0.02;
    const bool all_pairs = graph.vertex_count() <= most_with_all_pairs;
    const VertexRuns runs(graph);
    std::vector<PlanePoint> forces(points.size());
    for (int step = 0; step < steps; ++step) {
        const double most = longest * (1 - static_cast<double>(step) / steps) + shortest;
        const Cells cells(points, all_pairs);
        const auto find_force = [&](Index vertex) { forces[vertex] = force_on(vertex, graph, points, cells, all_pairs); };
        if (all_pairs) {  // too few to wake other threads
            for (Index vertex = 0; vertex < graph.vertex_count(); ++vertex) find_force(vertex);
        } else {
            runs.for_each_vertex("forces", find_force);
        }
        for (std::size_t i = 0; i < points.size(); ++i) {
            const double size = std::sqrt(forces[i][0] * forces[i][0] + forces[i][1] * forces[i][1]);
            const double share = size > most ? most / size : 1;
            for (std::size_t axis = 0; axis < 2; ++axis) points[i].at(axis) += forces[i].at(axis) * share;
        }
    }
}

/// Several vertices that are connected with each other and with no others.
struct PlacedComponent {
    std::span<const Index> vertices;  // in the whole graph
    WeightedGraph graph;              // of them, numbered in this order, with edges of weight 1
};

/// `number_of` is a table of all vertices to work in.
PlacedComponent component_of(const Graph& graph, std::span<const Index> vertices, std::vector<Index>& number_of) {
    PlacedComponent component{vertices, {}};
    for (std::size_t i = 0; i < vertices.size(); ++i) number_of[vertices[i]] = static_cast<Index>(i);
    for (const Index vertex : vertices) {
        component.graph.offsets.push_back(component.graph.offsets.back() + graph.degree(vertex));
    }
    component.graph.edges.reserve(component.graph.offsets.back());
    for (const Index vertex : vertices) {
        for (const Index neighbour : graph.neighbours_of(vertex)) component.graph.edges.push_back({number_of[neighbour], 1});
    }
    component.graph.vertex_weights.assign(vertices.size(), 1);
    return component;
}

struct CoarseGraphs {
    std::vector<WeightedGraph> graphs;  // the finest first
    std::vector<Clusters> clusters;     // of each graph but the last: its vertices in the next one
};

CoarseGraphs coarsened(WeightedGraph finest) {
    CoarseGraphs all;
    const auto vertices = static_cast<Offset>(finest.vertex_count());
    all.graphs.push_back(std::move(finest));
    while (all.graphs.back().vertex_count() > coarsest_vertices) {
        const WeightedGraph& graph = all.graphs.back();
        const Offset heaviest = 1 + 3 * vertices / graph.vertex_count();
        Clusters clusters = gather_along_heavy_edges(graph, heaviest, places_seed + all.graphs.size());
        if (Offset{clusters.count} * 5 > Offset{graph.vertex_count()} * 4) break;
        WeightedGraph next = contract(graph, clusters);
        all.clusters.push_back(std::move(clusters));
        all.graphs.push_back(std::move(next));
    }
    return all;
}

std::vector<PlanePoint> settled(const CoarseGraphs& all) {
    constexpr int first_steps = 500;
    constexpr int steps = 50;
    auto random = random_stream(places_seed, 0);
    std::vector<PlanePoint> points;
    for (std::size_t level = all.graphs.size(); level-- > 0;) {
        const WeightedGraph& graph = all.graphs[level];
        const double count = graph.vertex_count();
        std::vector<PlanePoint> next(graph.vertex_count());
        const bool is_first = points.empty();
        for (std::size_t i = 0; i < next.size(); ++i) {
            const PlanePoint jitter{spread(random.next()), spread(random.next())};
            // Areas grow with the number of vertices.
            const double scale = is_first ? 0 : std::sqrt(count / static_cast<double>(points.size()));
            const double width = is_first ? std::sqrt(count) : 0.3;
            const PlanePoint from = is_first ? PlanePoint{} : points[all.clusters[level].of[i]];
            next[i] = {from[0] * scale + jitter[0] * width, from[1] * scale + jitter[1] * width};
        }
        points = std::move(next);
        const int more_steps = std::max(steps, std::min(first_steps, 200'000 / std::max(graph.vertex_count(), 1)));
        settle(graph, points, is_first ? more_steps : steps, is_first ? 2 : 0.6);
    }
    return points;
}

/// Places of a component of few vertices, found by a single thread.
std::vector<PlanePoint> settled_small(const WeightedGraph& graph) {
    constexpr int steps = 200;
    auto random = random_stream(places_seed, 0);
    std::vector<PlanePoint> points(graph.vertex_count());
    const double width = std::sqrt(static_cast<double>(points.size()));
    for (PlanePoint& point : points) {
        const double x = spread(random.next()) * width;
        point = {x, spread(random.next()) * width};
    }
    settle(graph, points, steps, 1);
    return points;
}

/// Shifts points so that their least coordinates are `rim`. Returns the size of a box around them with that rim.
BoxSize move_into_box(std::span<PlanePoint> points, double rim) {
    PlanePoint low = points.front();
    PlanePoint high = low;
    for (const PlanePoint& point : points) {
        for (std::size_t axis = 0; axis < 2; ++axis) {
            low.at(axis) = std::min(low.at(axis), point.at(axis));
            high.at(axis) = std::max(high.at(axis), point.at(axis));
        }
    }
    for (PlanePoint& point : points) point = {point[0] - low[0] + rim, point[1] - low[1] + rim};
    return {high[0] - low[0] + 2 * rim, high[1] - low[1] + 2 * rim};
}

}  // namespace

std::vector<BoxPlace> pack_boxes(std::span<const BoxSize> boxes, double aspect) {
    if (boxes.empty()) return {};
    std::vector<std::size_t> order(boxes.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return std::tuple(-boxes[a].height, -boxes[a].width, a) < std::tuple(-boxes[b].height, -boxes[b].width, b);
    });
    double widest = 0;
    double area = 0;
    for (const BoxSize& box : boxes) {
        widest = std::max(widest, box.width);
        area += box.width * box.height;
    }
    // The least width leaves the least room on the shelves; wider ones suit the aspect better.
    constexpr int widths = 16;
    const double least = std::max(widest, std::sqrt(area * aspect) * 0.9);
    Packing best;
    double best_size = 0;
    for (int i = 0; i < widths; ++i) {
        Packing one = packed(boxes, order, least * (1 + i / 12.0));
        const double size = std::max(one.used.width / aspect, one.used.height);
        if (!best.places.empty() && size >= best_size) continue;
        best = std::move(one);
        best_size = size;
    }
    return best.places;
}

std::vector<NodePlace> place_vertices(const Graph& graph) {
    constexpr double aspect = 1.2;
    constexpr double rim = 1;
    constexpr std::ptrdiff_t many_singles = 100;
    // The vertices component by component.
    LevelSearch search(graph);
    std::vector<Index> vertices;
    std::vector<std::size_t> begins;
    vertices.reserve(graph.vertex_count());
    for (Index vertex = 0; vertex < graph.vertex_count(); ++vertex) {
        if (search.seen(vertex)) continue;
        begins.push_back(vertices.size());
        const Index levels = search.from(vertex);
        for (Index level = 0; level < levels; ++level) {
            const auto found = search.level(level);
            vertices.insert(vertices.end(), found.begin(), found.end());
        }
        std::sort(vertices.begin() + static_cast<std::ptrdiff_t>(begins.back()), vertices.end());  // levels are in any order
    }
    const std::size_t count = begins.size();
    begins.push_back(vertices.size());
    // Many vertices without edges would take the space of the others.
    std::ptrdiff_t singles = 0;
    for (std::size_t i = 0; i < count; ++i) singles += begins[i + 1] - begins[i] == 1 ? 1 : 0;
    const double rim_of_single = singles > many_singles ? 0.25 : 0.5;

    std::vector<PlanePoint> points(vertices.size());
    std::vector<BoxSize> boxes(count, BoxSize{2 * rim_of_single, 2 * rim_of_single});
    std::vector<Index> number_of(graph.vertex_count());
    std::vector<PlacedComponent> small;
    const auto keep = [&](std::size_t begin, std::vector<PlanePoint> found) {
        std::copy(found.begin(), found.end(), points.begin() + static_cast<std::ptrdiff_t>(begin));
    };
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t size = begins[i + 1] - begins[i];
        if (size == 1) continue;
        PlacedComponent component = component_of(graph, std::span(vertices).subspan(begins[i], size), number_of);
        if (size <= coarsest_vertices) {
            small.push_back(std::move(component));
        } else {
            keep(begins[i], settled(coarsened(std::move(component.graph))));
        }
    }
    guarded_for("small components", UnevenHostRange<>(0, static_cast<Index>(small.size())), [&](Index i) {
        keep(static_cast<std::size_t>(small[i].vertices.data() - vertices.data()), settled_small(small[i].graph));
    });
    for (std::size_t i = 0; i < count; ++i) {
        const std::span<PlanePoint> own = std::span(points).subspan(begins[i], begins[i + 1] - begins[i]);
        boxes[i] = move_into_box(own, own.size() == 1 ? rim_of_single : rim);
    }

    const std::vector<BoxPlace> packed = pack_boxes(boxes, aspect);
    std::vector<NodePlace> places(graph.vertex_count());
    for (std::size_t i = 0; i < count; ++i) {
        for (std::size_t at = begins[i]; at < begins[i + 1]; ++at) {
            places[vertices[at]] = {packed[i].left + points[at][0], packed[i].top + points[at][1], 0};
        }
    }
    return places;
}

}  // namespace workbench
