// Cuthill-McKee on a GPU, vertex for vertex as on the host (stages/cuthill_mckee_order.hpp, stages/levels.hpp): one cooperative
// launch for each connected component with an edge searches its start and numbers it level by level.
#include <vector>

#include "kernels/prepare/cuthill_mckee.cuh"
#include "kernels/prepare/level_orders.cuh"
#include "kernels/primitives/rows.cuh"
#include "kernels/primitives/sort_and_scan.cuh"

namespace workbench {
namespace {

/// The properties of a pattern that decide whether a GPU orders it.
struct PatternFacts {
    int asymmetric;         // an entry has no counterpart
    std::uint32_t longest;  // row
};

/// Finds the degrees, whether each entry has its counterpart, and which vertices have no neighbour.
__global__ void find_degrees(const std::uint32_t* __restrict__ offsets, const Index* __restrict__ columns, Index vertices,
                             Index* __restrict__ degrees, Offset* __restrict__ isolated, PatternFacts* facts) {
    constexpr int lanes = 8;
    const auto tile = cooperative_groups::tiled_partition<lanes>(cooperative_groups::this_thread_block());
    for (std::size_t vertex = (blockIdx.x * std::size_t{block_threads} + threadIdx.x) / lanes;
         vertex < static_cast<std::size_t>(vertices); vertex += gridDim.x * std::size_t{block_threads} / lanes) {
        const auto own = static_cast<Index>(vertex);
        const std::uint32_t begin = offsets[vertex];
        const std::uint32_t end = offsets[vertex + 1];
        bool has_diagonal = false;
        for (std::uint32_t i = begin + tile.thread_rank(); i < end; i += lanes) {
            const Index column = columns[i];
            if (column == own) {
                has_diagonal = true;
                continue;
            }
            std::uint32_t low = offsets[column];
            std::uint32_t high = offsets[column + 1];
            while (low < high) {
                const std::uint32_t middle = low + (high - low) / 2;
                if (columns[middle] < own) {
                    low = middle + 1;
                } else {
                    high = middle;
                }
            }
            if (low == offsets[column + 1] || columns[low] != own) facts->asymmetric = 1;
        }
        has_diagonal = tile.any(has_diagonal);
        if (tile.thread_rank() != 0) continue;
        const Index degree = static_cast<Index>(end - begin) - (has_diagonal ? 1 : 0);
        degrees[vertex] = degree;
        isolated[vertex] = degree == 0 ? 1 : 0;
        if (end - begin > *static_cast<volatile std::uint32_t*>(&facts->longest)) atomicMax(&facts->longest, end - begin);
    }
}

/// The first vertex with neighbours and without a place.
__global__ void find_next(const Index* __restrict__ degrees, const Index* __restrict__ parent, Index vertices, Index* next) {
    for (std::size_t vertex = blockIdx.x * std::size_t{block_threads} + threadIdx.x;
         vertex < static_cast<std::size_t>(vertices); vertex += gridDim.x * std::size_t{block_threads}) {
        const auto own = static_cast<Index>(vertex);
        if (degrees[vertex] == 0 || parent[vertex] == level_orders::placed) continue;
        if (own < *static_cast<volatile Index*>(next)) atomicMin(next, own);
    }
}

/// A component with edges: its first vertex, and the vertices of this and all earlier such components.
struct ComponentStart {
    Index first;
    Index vertices;
};

/// Vertices without neighbours are also components; all components are numbered in the order of their first vertices.
__global__ void place_isolated(const Index* __restrict__ degrees, const Offset* __restrict__ isolated_until, Index vertices,
                               const ComponentStart* __restrict__ components, Index component_count,
                               Index* __restrict__ order) {
    for (std::size_t vertex = blockIdx.x * std::size_t{block_threads} + threadIdx.x;
         vertex < static_cast<std::size_t>(vertices); vertex += gridDim.x * std::size_t{block_threads}) {
        if (degrees[vertex] != 0) continue;
        Index before = 0;
        for (Index i = 0; i < component_count && components[i].first < static_cast<Index>(vertex); ++i) {
            before = components[i].vertices;
        }
        order[static_cast<Index>(isolated_until[vertex]) - 1 + before] = static_cast<Index>(vertex);
    }
}

__global__ void reverse(Index* order, Index vertices) {
    for (std::size_t i = blockIdx.x * std::size_t{block_threads} + threadIdx.x; i < static_cast<std::size_t>(vertices / 2);
         i += gridDim.x * std::size_t{block_threads}) {
        const Index first = order[i];
        order[i] = order[vertices - 1 - i];
        order[vertices - 1 - i] = first;
    }
}

template <typename Item>
void fill_bytes(const WorkspaceArray<Item>& array, int byte, cudaStream_t stream) {
    check_cuda(cudaMemsetAsync(array.data(), byte, array.size() * sizeof(Item), stream), "cudaMemsetAsync");
}

unsigned blocks_of_order() {
    int device = 0;
    check_cuda(cudaGetDevice(&device), "cudaGetDevice");
    int processors = 0;
    check_cuda(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device), "cudaDeviceGetAttribute");
    return static_cast<unsigned>(processors);
}

__global__ void fill_with(Index* array, std::size_t count, Index value) {
    for (std::size_t i = blockIdx.x * std::size_t{block_threads} + threadIdx.x; i < count;
         i += gridDim.x * std::size_t{block_threads}) {
        array[i] = value;
    }
}

/// The graph of a pattern.
struct Degrees {
    WorkspaceArray<Index> of_vertices;  // [vertices]
    WorkspaceArray<Offset> isolated;    // [vertices] 1 if the vertex has no neighbour
    PatternFacts facts{};
};

Degrees degrees_of(Workspace& workspace, const PatternOnGpu& pattern) {
    const auto vertices = static_cast<std::size_t>(pattern.vertices);
    Degrees degrees{workspace.make<Index>(vertices), workspace.make<Offset>(vertices)};
    const auto facts = workspace.make<PatternFacts>(1);
    fill_bytes(facts, 0, workspace.stream());
    find_degrees<<<blocks_of(vertices * 8, block_threads), block_threads, 0, workspace.stream()>>>(
        pattern.offsets, pattern.columns, pattern.vertices, degrees.of_vertices.data(), degrees.isolated.data(), facts.data());
    check_launch("find_degrees");
    degrees.facts = workspace.download_item(facts, 0);
    return degrees;
}

/// Keys that ascend in the order of degrees, which are at most `longest`, and the vertices.
__global__ void key_by_degree(const Index* __restrict__ degrees, Index vertices, bool descending, std::uint32_t longest,
                              std::uint64_t* __restrict__ keys, std::uint32_t* __restrict__ order) {
    for (std::size_t vertex = blockIdx.x * std::size_t{block_threads} + threadIdx.x;
         vertex < static_cast<std::size_t>(vertices); vertex += gridDim.x * std::size_t{block_threads}) {
        const auto degree = static_cast<std::uint32_t>(degrees[vertex]);
        keys[vertex] = descending ? longest - degree : degree;
        order[vertex] = static_cast<std::uint32_t>(vertex);
    }
}

/// The components of one graph, numbered one after the other.
class ComponentOrderer {
public:
    ComponentOrderer(Workspace& workspace, const PatternOnGpu& pattern)
        : workspace_(workspace), pattern_(pattern), blocks_(blocks_of_order()) {}

    std::optional<OrderOnGpu> run(bool reversed) {
        if (!is_suitable()) return std::nullopt;
        prepare();
        while (const std::optional<Index> first = next_vertex()) {
            if (static_cast<Index>(components_.size()) == level_orders::most_components) return std::nullopt;
            if (!number_component(*first)) return std::nullopt;
        }
        finish(reversed);
        const auto isolated = static_cast<Index>(workspace_.download_item(isolated_, isolated_.size() - 1));
        return OrderOnGpu{std::move(order_), static_cast<Index>(components_.size()) + isolated};
    }

private:
    [[nodiscard]] std::size_t vertices() const { return static_cast<std::size_t>(pattern_.vertices); }

    bool is_suitable() {
        Degrees found = degrees_of(workspace_, pattern_);
        degrees_ = std::move(found.of_vertices);
        isolated_ = std::move(found.isolated);
        sum_up(workspace_, isolated_);
        return found.facts.asymmetric == 0 && found.facts.longest <= level_orders::longest_row;
    }

    void prepare() {
        seen_ = workspace_.make<unsigned>(vertices());
        for (auto* array : {&queue_, &parent_, &order_, &first_child_}) *array = workspace_.make<Index>(vertices());
        totals_ = workspace_.make<Index>(std::size_t{2} * blocks_);
        progress_ = workspace_.make<level_orders::SearchProgress>(1);
        next_ = workspace_.make<Index>(1);
        fill_bytes(seen_, 0, workspace_.stream());
        fill_with<<<blocks_of(vertices(), block_threads), block_threads, 0, workspace_.stream()>>>(parent_.data(), vertices(),
                                                                                                   level_orders::unreached);
        check_launch("fill_with");
    }

    std::optional<Index> next_vertex() {
        fill_with<<<1, 1, 0, workspace_.stream()>>>(next_.data(), 1, level_orders::unreached);
        check_launch("fill_with");
        find_next<<<blocks_of(vertices(), block_threads), block_threads, 0, workspace_.stream()>>>(
            degrees_.data(), parent_.data(), pattern_.vertices, next_.data());
        check_launch("find_next");
        const Index next = workspace_.download_item(next_, 0);
        return next == level_orders::unreached ? std::nullopt : std::optional(next);
    }

    /// Returns false if the component has too many levels, or if not all blocks can be resident at once.
    bool number_component(Index first) {
        fill_bytes(progress_, 0xFF, workspace_.stream());
        const Index placed_before = components_.empty() ? 0 : components_.back().vertices;
        Index base = placed_before + static_cast<Index>(workspace_.download_item(isolated_, first));
        auto number = static_cast<unsigned>(components_.size() * (level_orders::most_turns + 1) + 1);
        level_orders::SearchedPattern graph{pattern_.offsets, pattern_.columns, degrees_.data()};
        level_orders::Arrays arrays{seen_.data(),  queue_.data(),       parent_.data(),
                                    order_.data(), first_child_.data(), totals_.data()};
        level_orders::SearchProgress* progress = progress_.data();
        void* arguments[] = {&graph, &arrays, &progress, &first, &base, &number};
        const cudaError_t result =
            cudaLaunchCooperativeKernel(reinterpret_cast<void*>(level_orders::order_component), dim3(blocks_),
                                        dim3(level_orders::order_threads), arguments, 0, workspace_.stream());
        if (result == cudaErrorCooperativeLaunchTooLarge) {  // the GPU is shared
            (void)cudaGetLastError();
            return false;
        }
        check_cuda(result, "cudaLaunchCooperativeKernel");
        const level_orders::SearchProgress found = workspace_.download_item(progress_, 0);
        if (found.gave_up == 1) return false;
        components_.push_back({first, placed_before + found.size});
        return true;
    }

    void finish(bool reversed) {
        const auto components = workspace_.upload<ComponentStart>(std::span<const ComponentStart>(components_));
        place_isolated<<<blocks_of(vertices(), block_threads), block_threads, 0, workspace_.stream()>>>(
            degrees_.data(), isolated_.data(), pattern_.vertices, components.data(), static_cast<Index>(components_.size()),
            order_.data());
        check_launch("place_isolated");
        if (!reversed) return;
        reverse<<<blocks_of(vertices() / 2, block_threads), block_threads, 0, workspace_.stream()>>>(order_.data(),
                                                                                                     pattern_.vertices);
        check_launch("reverse");
    }

    Workspace& workspace_;
    PatternOnGpu pattern_;
    unsigned blocks_;
    WorkspaceArray<Index> degrees_, queue_, parent_, order_, first_child_, totals_, next_;
    WorkspaceArray<unsigned> seen_;
    WorkspaceArray<Offset> isolated_;  // inclusive prefix sums
    WorkspaceArray<level_orders::SearchProgress> progress_;
    std::vector<ComponentStart> components_;
};

}  // namespace

std::optional<WorkspaceArray<Index>> degree_order_on_gpu(Workspace& workspace, const PatternOnGpu& pattern, bool descending) {
    const Degrees degrees = degrees_of(workspace, pattern);
    if (degrees.facts.asymmetric != 0) return std::nullopt;
    const auto vertices = static_cast<std::size_t>(pattern.vertices);
    auto keys = workspace.make<std::uint64_t>(vertices);
    auto sorted = workspace.make<std::uint32_t>(vertices);
    key_by_degree<<<blocks_of(vertices, block_threads), block_threads, 0, workspace.stream()>>>(
        degrees.of_vertices.data(), pattern.vertices, descending, degrees.facts.longest, keys.data(), sorted.data());
    check_launch("key_by_degree");
    sort_pairs(workspace, keys, sorted, 0, on_gpu::bits_of(degrees.facts.longest));
    auto order = workspace.make<Index>(vertices);
    check_cuda(
        cudaMemcpyAsync(order.data(), sorted.data(), vertices * sizeof(Index), cudaMemcpyDeviceToDevice, workspace.stream()),
        "cudaMemcpyAsync");
    return order;
}

std::optional<OrderOnGpu> cuthill_mckee_on_gpu(Workspace& workspace, const PatternOnGpu& pattern, bool reversed) {
    return ComponentOrderer(workspace, pattern).run(reversed);
}

}  // namespace workbench
