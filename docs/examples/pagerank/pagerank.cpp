// PageRank by power iteration, in the storage format of a recipe: pagerank [RECIPE] [PAGES | GRAPH.mtx]
//
// GRAPH.mtx: a Matrix Market file (coordinate, general), whose entry (i, j) is a link from page i to page j; values are
// ignored. Otherwise the links of PAGES pages are drawn at random. The transition matrix has 1 / (links of page j) throughout
// column j, so that a layout with values = "by_column" stores one value a page instead of one a link. Source: Page, Brin,
// Motwani, Winograd, "The PageRank citation ranking: bringing order to the web" (1999).
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <numeric>
#include <random>
#include <spmv_workbench/spmv_workbench.hpp>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using Vector = std::vector<double>;

struct Graph {
    int pages = 0;
    std::vector<std::pair<int, int>> links;  // to, from
};

Graph read_graph(const std::string& name) {
    std::ifstream file(name);
    std::string line;
    while (std::getline(file, line) && line.rfind('%', 0) == 0) continue;
    Graph graph;
    int columns = 0, from = 0, to = 0;
    std::istringstream(line) >> graph.pages >> columns;
    if (!file || graph.pages < 1 || columns != graph.pages) throw std::runtime_error(name + " is not a square matrix");
    while (std::getline(file, line)) {
        if (!(std::istringstream(line) >> from >> to)) continue;
        if (std::min(from, to) < 1 || std::max(from, to) > columns) throw std::runtime_error(name + ": no such page: " + line);
        graph.links.emplace_back(to - 1, from - 1);
    }
    return graph;
}

/// Few pages receive most links, and every seventh page has none.
Graph random_graph(int pages) {
    Graph graph{pages, {}};
    std::mt19937 random;
    for (int from = 0; from < pages; ++from) {
        for (unsigned link = 0; from % 7 != 0 && link < 1 + random() % 16; ++link) {
            const double place = random() / 4294967296.0;
            graph.links.emplace_back(static_cast<int>(place * place * place * pages), from);
        }
    }
    return graph;
}

int main(int argc, char** argv) try {
    const std::string input = argc > 2 ? argv[2] : "20000";
    const bool is_number = input.find_first_not_of("0123456789") == std::string::npos;
    Graph graph = is_number ? random_graph(std::max(1, std::atoi(input.c_str()))) : read_graph(input);
    const int pages = graph.pages;
    auto& links = graph.links;
    std::sort(links.begin(), links.end());
    links.erase(std::unique(links.begin(), links.end()), links.end());

    std::vector<std::int32_t> offsets(pages + 1, 0), columns;
    Vector links_of(pages, 0), values;
    for (const auto& [to, from] : links) ++offsets[to + 1], ++links_of[from];
    std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
    for (const auto& [to, from] : links) columns.push_back(from), values.push_back(1 / links_of[from]);

    const auto recipe = argc > 1 ? spmv_workbench::Recipe::from_file(argv[1])
                                 : spmv_workbench::Recipe::from_text("[layout]\nuse = \"csr\"\nvalues = \"auto\"\n");
    spmv_workbench::Operator<double> transition(recipe, {pages, pages, offsets, columns, values});
    const auto facts = transition.facts();
    std::printf("%s, %s on %s: %d pages, %zu links, %lld bytes\n", facts.layout.c_str(), facts.kernel.c_str(),
                facts.device_name.c_str(), pages, links.size(), static_cast<long long>(facts.bytes));

    // A surfer follows a link with this probability, and otherwise, or from a page without links, goes to any page.
    constexpr double damping = 0.85;
    Vector no_links(pages), dangling(pages), rank(pages, 1.0 / pages), next(pages), result(pages);
    std::transform(links_of.begin(), links_of.end(), no_links.begin(), [](double count) { return count == 0 ? 1.0 : 0.0; });
    transition.to_recipe_order(no_links, dangling);  // all vectors below are in the recipe's order
    int iteration = 0;
    for (double change = 1; change > 1e-12 && iteration < 1000; ++iteration) {
        transition.multiply_in_recipe_order(rank, next);
        const double lost = std::inner_product(rank.begin(), rank.end(), dangling.begin(), 0.0);
        change = 0;
        for (int page = 0; page < pages; ++page) {
            next[page] = damping * (next[page] + lost / pages) + (1 - damping) / pages;
            change += std::abs(next[page] - rank[page]);
        }
        std::swap(rank, next);
    }

    transition.from_recipe_order(rank, result);
    // One more step, without the operator, shows how far the result is from a fixed point.
    Vector step(pages, 0);
    double lost = 0, residual = 0;
    for (const auto& [to, from] : links) step[to] += result[from] / links_of[from];
    for (int page = 0; page < pages; ++page) lost += no_links[page] * result[page];
    for (int page = 0; page < pages; ++page) {
        residual += std::abs(damping * (step[page] + lost / pages) + (1 - damping) / pages - result[page]);
    }
    const auto first = std::max_element(result.begin(), result.end());
    std::printf("page %d has the highest rank, %.6f\n", static_cast<int>(first - result.begin()) + 1, *first);
    std::printf("%d iterations, sum of ranks %.9f, residual %.1e\n", iteration,
                std::accumulate(result.begin(), result.end(), 0.0), residual);
    return residual < 1e-10 ? 0 : 1;
} catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
}
