// Matrices that the GPU orders and stores in slices where they lie, compared with the stages and the layout on the host.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/contract/errors.hpp"
#include "core/matrix/battery.hpp"
#include "core/matrix/random.hpp"
#include "gpu/gpu_matrices.hpp"
#include "gpu/on_device_checks.hpp"
#include "gpu/on_device_recipes.hpp"
#include "kernels/gpu/gpu.hpp"
#include "pipeline/engine/chain.hpp"
#include "support/given.hpp"
#include "support/message_of.hpp"
#include "support/temporary_folder.hpp"

namespace workbench {
namespace {

/// Two-dimensional grid of five points, with isolated rows and several components.
CsrMatrix grid(Index width, Index height) {
    std::vector<Entry> entries;
    const auto is_isolated = [](Index vertex) { return vertex % 37 == 5; };
    const auto at = [&](Index x, Index y) { return y * width + x; };
    for (Index y = 0; y < height; ++y) {
        for (Index x = 0; x < width; ++x) {
            const Index own = at(x, y);
            entries.push_back({own, own, 4.0 + static_cast<double>(own % 7)});
            if (is_isolated(own)) continue;
            const bool cut = y + 1 < height && (y + 1) % 29 == 0;  // components of 29 lines
            if (x + 1 < width && !is_isolated(own + 1)) {
                entries.push_back({own, own + 1, -1.25});
                entries.push_back({own + 1, own, -1.25});
            }
            if (y + 1 < height && !cut && !is_isolated(at(x, y + 1))) {
                entries.push_back({own, at(x, y + 1), -0.75});
                entries.push_back({at(x, y + 1), own, -0.75});
            }
        }
    }
    return csr_from_entries(width * height, width * height, entries);
}

/// Each row has its diagonal, some neighbours, and some entries far from it, with their mirror images.
CsrMatrix scattered(Index rows, int per_row, std::uint64_t seed) {
    std::vector<Entry> entries;
    for (Index row = 0; row < rows; ++row) entries.push_back({row, row, 9});
    for (Index row = 0; row < rows; ++row) {
        for (int k = 0; k < per_row; ++k) {
            const std::uint64_t number = mixed(seed + static_cast<std::uint64_t>(row) * 64 + static_cast<std::uint64_t>(k));
            const auto column = static_cast<Index>(number % static_cast<std::uint64_t>(rows));
            if (column == row) continue;
            entries.push_back({row, column, 0.5});
            entries.push_back({column, row, 0.5});
        }
    }
    return csr_from_entries(rows, rows, entries);
}

/// Nodes of `size` unknowns, coupled as the rows of a matrix. Blocks lack a few values, some rows and some nodes are empty; the
/// pattern is symmetric if that of the nodes is.
CsrMatrix with_unknowns(const CsrMatrix& of_nodes, Index size) {
    std::vector<Entry> entries;
    const auto is_empty = [size](Index row) { return row / size % 41 == 7 && row % size == 1; };
    for (Index node = 0; node < of_nodes.rows; ++node) {
        const auto neighbours = of_nodes.row_columns(node);
        if (neighbours.size() == 1 && node % 2 == 1) continue;
        for (const Index neighbour : neighbours) {
            for (Index place = 0; place < size * size; ++place) {
                const Index row = node * size + place / size;
                const Index column = neighbour * size + place % size;
                const auto [low, high] = std::minmax(row, column);
                const std::uint64_t number = mixed(static_cast<std::uint64_t>(low) << 32 | static_cast<std::uint64_t>(high));
                if (place > 0 && (number % 25 == 0 || is_empty(row) || is_empty(column))) continue;
                entries.push_back({row, column, 0.25 * static_cast<double>(1 + number % 31)});
            }
        }
    }
    return csr_from_entries(of_nodes.rows * size, of_nodes.rows * size, entries);
}

/// A grid of nodes of three unknowns in a random order.
CsrMatrix elasticity(std::int64_t nx, std::int64_t ny, std::int64_t nz) {
    return generated("elasticity3d", {{"nx", nx}, {"ny", ny}, {"nz", nz}, {"scramble", 1_i}});
}

/// The first row and the first column are full, and rows of the middle have many entries; the rest is banded.
CsrMatrix arrow(Index rows) {
    std::vector<Entry> entries;
    for (Index row = 0; row < rows; ++row) {
        entries.push_back({row, row, 3.0 + row % 5});
        if (row == 0) continue;
        entries.push_back({0, row, 0.5});
        entries.push_back({row, 0, -0.5});
        if (row % 3 != 0 || row == 1) continue;
        entries.push_back({row, row - 1, 2});
        entries.push_back({row - 1, row, -2});
    }
    return csr_from_entries(rows, rows, entries);
}

/// A stage with an order or with the parts of rows from a file, of numbers(row).
std::string imported(const TemporaryFolder& folder, const std::string& what, Index rows,
                     const std::function<Index(Index)>& number) {
    const std::filesystem::path file = folder.path() / fmt::format("{}_{}.txt", what, rows);
    std::ofstream text(file);
    for (Index row = 0; row < rows; ++row) text << number(row) << '\n';
    return fmt::format("[[stage]]\nid = 'from_file'\nuse = 'imported'\n{} = '{}'\n", what, file.string());
}

/// The unknowns of a node, as the host finds them.
Index found_nodes(const CsrMatrix& matrix) {
    StagedMatrix staged = stage_input(matrix);
    (void)apply_stages(parsed(block_recipes[1]), staged, {});
    return staged.node_size;
}

}  // namespace

TEST_SUITE("prepare") {
    TEST_CASE("a matrix on the device is ordered and sliced there as on the host") {
        const auto device = make_cuda_device();
        const std::vector<NamedMatrix> matrices{{"grid", grid(23, 61)},
                                                {"long grid", grid(3, 700)},
                                                {"scattered", scattered(700, 3, 1)},
                                                {"long rows", scattered(400, 30, 2)},
                                                {"few components", grid(80, 28)}};
        for (const std::string& text : sliced_recipes) {
            for (const NamedMatrix& each : matrices) {
                check_like_host<double>(*device, text, each.matrix, each.name);
                check_like_host<float>(*device, text, each.matrix, each.name);
            }
        }
        // By the lengths of the rows: long ones, of one part and of several, much padding, slices that do not fill a warp.
        const CsrMatrix padded = arrow(9001);
        const std::string half = "values = 'f32'\n";
        for (const std::string& text : std::vector<std::string>{
                 "[layout]\nuse = 'sell'\n" + half, short_columns, "[layout]\nuse = 'sell'\nslice_height = 12\n" + half,
                 "[layout]\nuse = 'sell'\nsplit_length = 3\nvalues = 'dictionary'\n", by_length + "[layout]\nuse = 'sell'\n",
                 rows_by_length + "[layout]\nuse = 'sell'\n"}) {
            check_like_host<double>(*device, text, padded, "arrow");
            check_like_host<double>(*device, text, grid(9, 9), "grid");
        }
        check_like_host<float>(*device, short_columns, arrow(70001), "wide slices");
        check_like_host<double>(*device, sliced_recipes[1], grid(1, 1), "one row");
        check_like_host<double>(*device, sliced_recipes[1], grid(3, 2), "six rows");
    }

    TEST_CASE("whole and padded rows on the device are ordered and stored there as on the host") {
        const auto device = make_cuda_device();
        const std::vector<NamedMatrix> matrices{{"grid", grid(23, 61)},
                                                {"scattered", scattered(700, 3, 1)},
                                                {"long rows", scattered(400, 30, 2)},
                                                {"empty rows", with_unknowns(grid(13, 29), 2)}};
        for (const std::string& text : row_recipes) {
            for (const NamedMatrix& each : matrices) {
                check_like_host<double>(*device, text, each.matrix, each.name);
                check_like_host<float>(*device, text, each.matrix, each.name);
            }
        }
        // Rows of more than 1,024 entries are sorted all at once.
        const CsrMatrix matrix = arrow(3001);
        const std::string last_by_length = "[[stage]]\nid = 'last'\nuse = 'row_sort'\n";
        const std::vector<Entry> two_entries{{1, 2, 3}, {2, 0, 1}};
        for (const char* layout : {"csr", "csr16"}) {
            const std::string stored = fmt::format("[layout]\nuse = '{}'\n", layout);
            for (const std::string& orders : {std::string(), by_length, by_degree, by_degree + windows + last_by_length}) {
                check_like_host<double>(*device, orders + stored, matrix, "arrow");
            }
            check_like_host<double>(*device, by_degree + stored, grid(1, 1), "one row");
            check_like_host<double>(*device, stored, csr_from_entries(4, 4, two_entries), "empty rows at the ends");
        }
        check_like_host<float>(*device, by_length + "[layout]\nuse = 'ellr'\n" + any_padding, arrow(1301), "arrow");
        check_like_host<double>(*device, nodes + by_degree + windows + in_blocks, with_unknowns(grid(10, 18), 3), "of nodes");
    }

    TEST_CASE("rows are hashed, and sorted by any key and within parts, on the device as on the host") {
        const auto device = make_cuda_device();
        const std::string parts = "[[stage]]\nuse = 'rcm_blocks'\nparts = 5\n";
        const std::string sort = "[[stage]]\nuse = 'row_sort'\n";
        const std::string hash = "[[stage]]\nuse = 'nonlinear_hash'\n";
        const std::string in_parts = "within = 'partition'\n";
        const std::string csr = "[layout]\nuse = 'csr'\n";
        const std::string again = "[[stage]]\nid = 'again'\nuse = 'row_sort'\nshare = 'outside'\n";
        const std::string slices = "[layout]\nuse = 'sell'\nthreads_per_row = 1\n";
        const std::vector<std::string> of_any{
            hash + csr,
            hash + "sample = 2\n" + slices,
            windows + hash + "sample = 37\n" + csr,
            sort + "key = 'first_column'\n" + slices,
            sort + "key = 'similarity'\n" + csr,
            windows + "[[stage]]\nid = 'similar'\nuse = 'row_sort'\n" +
                "key = 'similarity'\norder = 'ascending'\nwithin = 'window'\nwindow = 90\napply = 'rows'\n" + slices,
            hash + "[[stage]]\nuse = 'row_sort'\nkey = 'span'\norder = 'ascending'\nwithin = 'window'\nwindow = 50\n" + csr,
        };
        const std::vector<std::string> of_symmetric{
            parts + hash + in_parts + csr,
            by_cuthill_mckee + sort + "key = 'span'\n" + slices,
            parts + sort + in_parts + slices,
            parts + sort + in_parts + "window = 7\norder = 'ascending'\n" + csr,
            parts + sort + in_parts + "key = 'first_column'\nwindow = 30\n" + csr,
            parts + inside + "window = 20\n" + divided + outside + by_parts,
            parts + hash + in_parts + "sample = 3\n" + inside + divided + outside + by_parts,
            parts + sort + in_parts + "key = 'nonzeros_inside_partition'\n" + csr,
            parts + divided + by_parts,
            parts + divided + outside + "key = 'first_column'\n" + again + "order = 'ascending'\n" + by_parts,
            parts + divided + outside + again + in_parts + "window = 6\n" + by_parts,
            parts + divided + outside + "key = 'similarity'\nwithin = 'window'\nwindow = 40\n" + by_parts,
            parts + divided + outside + "key = 'span'\n" + in_parts + by_parts,
        };
        std::vector<NamedMatrix> matrices = battery();
        matrices.push_back({"rows of all lengths", uneven_matrix(3000, 3000, 60)});
        for (const std::string& text : of_any) {
            for (const NamedMatrix& each : matrices) {
                if (!each.matrix.square() || each.matrix.nonzeros() == 0) continue;
                check_like_host<double>(*device, text, each.matrix, each.name);
            }
        }
        for (const NamedMatrix& each :
             {NamedMatrix{"grid", grid(23, 61)}, NamedMatrix{"scattered", scattered(700, 3, 1)},
              NamedMatrix{"long rows", scattered(1400, 30, 2)}, NamedMatrix{"few rows", grid(3, 2)}}) {
            for (const std::string& text : of_symmetric) check_like_host<double>(*device, text, each.matrix, each.name);
        }
        check_like_host<double>(*device, nodes + by_cuthill_mckee + hash + in_blocks, with_unknowns(grid(9, 31), 3), "nodes");
    }

    TEST_CASE("rows are ordered without their columns on the device as on the host") {
        const auto device = make_cuda_device();
        std::vector<NamedMatrix> matrices = battery();
        matrices.push_back({"rows of all lengths", uneven_matrix(3000, 1700, 60)});
        matrices.push_back({"long rows", arrow(1301)});
        for (const std::string& text : row_order_recipes) {
            for (const NamedMatrix& each : matrices) {
                if (each.matrix.nonzeros() == 0) continue;
                check_like_host<double>(*device, text, each.matrix, each.name);
                check_like_host<float>(*device, text, each.matrix, each.name);
            }
        }
        // Before and after orders of rows and columns alike.
        const std::string in_parts = rows_by_length + "within = 'partition'\n";
        for (const std::string& text :
             {by_cuthill_mckee + rows_in_windows + short_columns, rows_in_windows + by_length + "[layout]\nuse = 'csr'\n",
              by_degree + rows_in_windows + windows + "[layout]\nuse = 'csr16'\n",
              "[[stage]]\nuse = 'rcm_blocks'\nparts = 5\n" + in_parts + one_thread}) {
            for (const NamedMatrix& each :
                 {NamedMatrix{"grid", grid(23, 61)}, NamedMatrix{"scattered", scattered(700, 3, 1)}}) {
                check_like_host<double>(*device, text, each.matrix, each.name);
            }
        }
    }

    TEST_CASE("orders and parts from files are uploaded") {
        const auto device = make_cuda_device();
        const TemporaryFolder folder;
        const CsrMatrix matrix = grid(23, 61);
        const Index rows = matrix.rows;
        const std::string backwards = imported(folder, "order", rows, [&](Index row) { return rows - 1 - row; });
        const std::string parts = imported(folder, "partition", rows, [](Index row) { return row * 7 % 5; });
        for (const std::string& rest :
             {std::string(short_columns), by_cuthill_mckee + windows + short_columns, std::string("[layout]\nuse = 'csr'\n")}) {
            check_like_host<double>(*device, backwards + rest, matrix, "an order");
            check_like_host<double>(*device, by_degree + backwards + rest, matrix, "after another order");
        }
        for (const std::string& rest : {std::string(short_columns), std::string("[layout]\nuse = 'csr'\n")}) {
            check_like_host<float>(*device, parts + rest, matrix, "parts");  // Cuthill-McKee would move rows out of them
        }
        check_like_host<double>(*device, parts + inside + divided + outside + by_parts, matrix, "parts of EHYB");
        const std::string pieces =
            imported(folder, "cuts", 8, [&](Index piece) { return rows / 7 * piece + rows % 7 * (piece == 7); });
        check_like_host<double>(*device, by_degree + pieces + "kind = 'partition'\n" + inside + divided + outside + by_parts,
                                matrix, "cuts of EHYB");
        check_like_host<double>(
            *device, pieces + "kind = 'row_block'\n[[stage]]\nuse = 'column_segmentation'\ncount = 2\n[layout]\nuse = 'hbp'\n",
            matrix, "row blocks");
        for (const std::string& axis : {std::string("rows"), std::string("columns")}) {
            const std::string alone = backwards + "apply = '" + axis + "'\n";
            check_like_host<double>(*device, alone + one_thread, matrix, axis);
            check_like_host<float>(*device, by_degree + alone + by_length + "[layout]\nuse = 'csr'\n", matrix, axis);
        }
        const auto end_of = [&](Index row) { return row / 200 == 6 ? rows : row / 200 * 200 + 200; };
        const std::string turned = imported(folder, "order", rows, [&](Index row) {
            return row >= 1400 ? row : end_of(row) - 1 - row % 200 - (row / 200 == 6 ? 3 : 0);
        });
        const std::string then = "[[stage]]\nid = 'then'\n" + turned.substr(turned.find("use")) + "within = 'partition'\n";
        check_like_host<double>(*device, pieces + "kind = 'partition'\n" + then + inside + divided + outside + by_parts, matrix,
                                "an order in parts");
        const CsrMatrix of_nodes = with_unknowns(grid(9, 31), 3);
        const Index count = of_nodes.rows / 3;
        const std::string order = imported(folder, "order", count, [&](Index node) { return (node + 100) % count; });
        const std::string three = "[matrix]\nnode_size = 3\n";
        check_like_host<double>(*device, three + order + windows + in_blocks, of_nodes, "an order of nodes");
        check_like_host<double>(*device, three + order + by_degree + "[layout]\nuse = 'csr'\n", of_nodes, "and then by degree");
        const std::string labels = imported(folder, "partition", count, [](Index node) { return node * 7 % 5; });
        for (const std::string& rest : {inside + divided + outside + by_parts, inside + in_blocks}) {
            check_like_host<double>(*device, three + labels + rest, of_nodes, "parts of nodes");
        }
    }

    TEST_CASE("whole and padded rows that a GPU does not prepare are left to the host, with the reason") {
        const auto device = make_cuda_device();
        const std::vector<Entry> corners{{0, 0, 1}, {0, 65536, 1}, {65536, 0, 1}};
        CHECK(left_to_host(*device, "[layout]\nuse = 'csr16'\n", csr_from_entries(65537, 65537, corners)) ==
              "a row reaches over more columns than 16 bits count");
        CHECK(left_to_host(*device, "[layout]\nuse = 'ell'\nslots_per_nonzero = 2\n", arrow(99)) ==
              "rows as wide as the longest have more than slots_per_nonzero slots for each nonzero");
    }

    TEST_CASE("a matrix that a GPU does not prepare is left to the host, with the reason") {
        const auto device = make_cuda_device();
        CsrMatrix unsorted = grid(5, 5);
        std::swap(unsorted.column_indices[0], unsorted.column_indices[1]);
        CHECK(left_to_host(*device, sliced_recipes[0], unsorted) == "the columns of a row do not ascend");
        CsrMatrix wrong = grid(5, 5);
        wrong.column_indices.back() = 25;
        CHECK(left_to_host(*device, sliced_recipes[0], wrong) == "the arrays are not a CSR matrix");
        wrong = grid(5, 5);
        wrong.row_offsets[3] = 1000000;
        CHECK(left_to_host(*device, sliced_recipes[0], wrong) == "the arrays are not a CSR matrix");
        CHECK(left_to_host(*device, by_length + short_columns, csr_from_entries(2, 3, std::vector<Entry>{{0, 0, 1}})) ==
              "the matrix is not square");
    }

    TEST_CASE("node blocks on the device are found, ordered and sliced there as on the host") {
        const auto device = make_cuda_device();
        std::vector<NamedMatrix> matrices{{"elasticity", elasticity(5, 6, 7)},
                                          {"one node", elasticity(1, 1, 1)},
                                          {"no nodes", grid(23, 61)},
                                          {"scattered", with_unknowns(scattered(400, 12, 5), 3)}};
        for (const Index size : {2, 3, 4, 6}) {
            const CsrMatrix matrix = with_unknowns(grid(23, 29), size);
            REQUIRE(found_nodes(matrix) == size);
            matrices.push_back({fmt::format("nodes of {} unknowns", size), matrix});
        }
        for (const std::vector<std::string>& recipes : {block_recipes, node_recipes}) {
            for (const std::string& text : recipes) {
                for (const NamedMatrix& each : matrices) {
                    check_like_host<double>(*device, text, each.matrix, each.name);
                    check_like_host<float>(*device, text, each.matrix, each.name);
                }
            }
        }
    }

    TEST_CASE("blocks of a size that the recipe states are sliced on the device as on the host") {
        const auto device = make_cuda_device();
        const CsrMatrix matrix = with_unknowns(grid(10, 18), 6);
        for (const Index size : {1, 2, 3, 6}) {
            const std::string of_size = fmt::format("block_size = {}\n", size);
            const std::string ordered = by_cuthill_mckee + windows + many_slots;
            check_like_host<double>(*device, fmt::format("[matrix]\nnode_size = {}\n", size) + ordered, matrix,
                                    "of the matrix");
            check_like_host<double>(*device, nodes + fmt::format("unknowns = {}\n", size) + ordered + of_size, matrix,
                                    "stated");
            check_like_host<double>(*device, many_slots + of_size, matrix, "not nodes");
        }
        for (const Index size : {2, 3, 4, 6}) {
            const std::string of_size = many_slots + fmt::format("block_size = {}\n", size);
            check_like_host<double>(*device, of_size, grid(7, 25), "the last blocks exceed the matrix");
            check_like_host<float>(*device, of_size, grid(1, 1), "one row");
        }
    }

    TEST_CASE("node blocks that a GPU does not prepare are left to the host, with the reason") {
        const auto device = make_cuda_device();
        CHECK(left_to_host(*device, nodes + "unknowns = 3\n" + in_blocks, grid(5, 5)) ==
              "nodes of 3 rows do not divide 25 rows");
        CHECK(left_to_host(*device, nodes + "unknowns = 5\n" + in_blocks, grid(5, 5)) == "no kernel has blocks of 5 rows");
        CHECK(left_to_host(*device, windows + in_blocks + "block_size = 2\n", grid(5, 5)) ==
              "blocks of 2 rows after an order of nodes of 1");
        CHECK(left_to_host(*device, in_blocks + "block_size = 2\nslots_per_nonzero = 1\n", grid(5, 5)) ==
              "blocks have more than slots_per_nonzero slots for each nonzero");
    }

    TEST_CASE("blocks of an RCM order are divided and sliced on the device as on the host") {
        const auto device = make_cuda_device();
        const std::vector<NamedMatrix> matrices{{"grid", grid(23, 61)},
                                                {"long grid", grid(3, 700)},
                                                {"scattered", scattered(700, 3, 1)},
                                                {"long rows", scattered(400, 30, 2)},
                                                {"empty rows", with_unknowns(grid(13, 29), 2)}};
        const std::string ascending = "[[stage]]\nuse = 'rcm_blocks'\nparts = 5\n" + inside + "order = 'ascending'\n" +
                                      divided + outside + "order = 'ascending'\n" + by_parts;
        const std::vector<std::string> recipes{rcm_blocks("1"),
                                               rcm_blocks("16"),
                                               rcm_blocks("3000"),
                                               rcm_blocks("12\ncapacity = 'shared_memory'\ndevice = 'a100'"),
                                               rcm_blocks("'auto'"),
                                               ascending,
                                               rcm_blocks("5") + "column_index = 'u32'\n",
                                               rcm_blocks("7\nweights = 'nonzeros'"),
                                               rcm_blocks("9\nweights = 'bytes'")};
        const std::vector<Entry> mirrored{{0, 1, 2}, {1, 0, 3}};
        for (const std::string& text : recipes) {
            for (const NamedMatrix& each : matrices) {
                check_like_host<double>(*device, text, each.matrix, each.name);
                check_like_host<float>(*device, text, each.matrix, each.name);
            }
            check_like_host<double>(*device, text, grid(1, 1), "one row");
            check_like_host<double>(*device, text, csr_from_entries(2, 2, mirrored), "no diagonal");
            check_like_host<double>(*device, text, csr_from_entries(3, 3, mirrored), "no diagonal, and an empty row");
        }
    }

    TEST_CASE("parts that a GPU does not prepare are left to the host, with the reason") {
        const auto device = make_cuda_device();
        CHECK(left_to_host(*device, rcm_blocks("1"), grid(1000, 70)) ==
              "partition 0 has 70000 columns, but columns of 16 bits reach 65536: raise parts of rcm_blocks, or set "
              "column_index = \"u32\"");
        CHECK(left_to_host(*device, rcm_blocks("1"), grid(1000, 40)).find("bytes of shared memory") != std::string::npos);
        CHECK_THROWS_AS(left_to_host(*device, rcm_blocks("1\ncapacity = 'shared_memory'"), grid(1000, 40)), InputError);
    }

    TEST_CASE("a difference between the slices and the matrix is found") {
        const auto device = make_cuda_device();
        const CsrMatrix matrix = grid(40, 40);
        const OnDevice<double> there(*device, matrix, true);
        const auto sliced = run_plan(*device, plan_of(parsed(sliced_recipes[3])), there.view);
        CHECK(sliced->difference(there.view) == "");
        CsrMatrix other = matrix;
        const Offset last = other.row_offsets[801] - 1;  // of row 800
        other.column_indices[last] = 1598;
        const OnDevice<double> changed(*device, other, true);
        CHECK(sliced->difference(changed.view) == "y = A x with integers: row 800 is wrong");
    }
}

// One matrix, because racecheck takes long for kernels whose thread blocks wait for each other.
TEST_SUITE("shared_memory") {
    TEST_CASE("a small matrix on the device is ordered and sliced there") {
        const auto device = make_cuda_device();
        check_like_host<double>(*device, sliced_recipes[3], grid(9, 31), "grid");
        check_like_host<double>(*device, block_recipes[0], with_unknowns(grid(9, 31), 3), "grid of nodes");
        check_like_host<double>(*device, rcm_blocks("5"), grid(9, 31), "grid in parts");
        for (const std::string& text : row_recipes) check_like_host<double>(*device, text, grid(9, 31), "grid in rows");
        check_like_host<double>(*device, by_length + "[layout]\nuse = 'csr'\n", arrow(1301), "long rows");
        check_like_host<double>(*device, "[[stage]]\nuse = 'nonlinear_hash'\nsample = 9\n[layout]\nuse = 'csr'\n", grid(9, 31),
                                "hashed");
    }
}

TEST_SUITE("prepare_large") {
    TEST_CASE("large matrices on the device are ordered and sliced there as on the host") {
        const auto device = make_cuda_device();
        const std::vector<NamedMatrix> matrices{{"grid", grid(1000, 28)},
                                                {"scattered, wide slices", scattered(150000, 4, 3)},
                                                {"long rows", scattered(30000, 40, 4)}};
        for (const std::string& text : sliced_recipes) {
            for (const NamedMatrix& each : matrices) check_like_host<double>(*device, text, each.matrix, each.name);
        }
        check_like_host<float>(*device, sliced_recipes[3], matrices[1].matrix, matrices[1].name);
        for (const std::string& text : row_recipes) {
            check_like_host<double>(*device, text, matrices[0].matrix, matrices[0].name);
            check_like_host<float>(*device, text, matrices[2].matrix, matrices[2].name);
        }
        const CsrMatrix with_long_rows = arrow(1000000);
        for (const std::string& order : {std::string(), by_length, by_degree}) {
            check_like_host<double>(*device, order + "[layout]\nuse = 'csr'\n", with_long_rows, "arrow");
        }
        check_like_host<double>(*device, "[[stage]]\nuse = 'nonlinear_hash'\n[layout]\nuse = 'csr'\n", matrices[1].matrix,
                                "hashed");
        for (const std::string& text : {rcm_blocks("'auto'"), rcm_blocks("1000")}) {
            for (const NamedMatrix& each : matrices) check_like_host<double>(*device, text, each.matrix, each.name);
        }
        const std::vector<NamedMatrix> of_nodes{{"elasticity", elasticity(30, 30, 30)},
                                                {"nodes, wide slices", with_unknowns(scattered(150000, 4, 3), 2)}};
        for (const std::string& text :
             {block_recipes[0], block_recipes[2], node_recipes[0], node_recipes[4], node_recipes[8]}) {
            for (const NamedMatrix& each : of_nodes) check_like_host<double>(*device, text, each.matrix, each.name);
        }
    }
}

}  // namespace workbench
