// HBP's tiles that the GPU divides, places and stores, compared with the stages and the layout on the host.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <vector>

#include "core/matrix/battery.hpp"
#include "gpu/gpu_matrices.hpp"
#include "gpu/on_device_checks.hpp"
#include "kernels/gpu/gpu.hpp"

namespace workbench {
namespace {

std::string tiles(const std::string& rows, const std::string& columns) {
    return fmt::format("[[stage]]\nuse = 'row_blocks'\n{}\n[[stage]]\nuse = 'column_segmentation'\n{}\n", rows, columns);
}

std::string hashed(int sample) {
    return fmt::format("[[stage]]\nuse = 'nonlinear_hash'\nwithin = 'tile'\nsample = {}\n", sample);
}

const std::string in_batches = "[layout]\nuse = 'hbp'\n";
const std::string sorted_rows = "[[stage]]\nid = 'of_tiles'\nuse = 'row_sort'\nshare = 'tile'\n";
const std::string in_windows =
    "[[stage]]\nid = 'of_tiles'\nuse = 'row_sort'\nwithin = 'tile'\nwindow = 5\norder = 'ascending'\n";
const std::string in_windows_again =
    "[[stage]]\nid = 'again'\nuse = 'row_sort'\nwithin = 'tile'\nwindow = 20\norder = 'ascending'\n";
const std::string short_rows = in_batches + "row_limit = 2\nchunk_limit = 3\n";

/// The first like recipes/hbp.toml, then its relatives; most hashes are fitted to some rows of the larger tiles alone.
const std::vector<std::string> tile_recipes{
    tiles("height = 64", "width = 1048576") + hashed(128) + in_batches,
    tiles("height = 64", "count = 3") + in_batches,
    tiles("height = 40", "width = 16") + sorted_rows + short_rows,
    tiles("count = 3", "count = 2") + hashed(2) + in_batches + "column_index = 'u32'\nrow_limit = 1\nfixed_share = 1.0\n",
    tiles("count = 2", "fit = 'k20x:l2'") + hashed(13) + short_rows,
    tiles("height = 100", "count = 4") + in_windows + hashed(7) + in_batches,
    tiles("height = 1", "width = 4") + hashed(512) + in_batches,
    windows + tiles("height = 50", "count = 2") + hashed(9) + short_rows,
    tiles("height = 70", "count = 2") + sorted_rows + "key = 'first_column'\n" + in_windows_again + "key = 'span'\n" +
        in_batches,
    tiles("height = 90", "count = 3") + sorted_rows + "key = 'similarity'\n" + in_batches,
};

}  // namespace

TEST_SUITE("prepare") {
    TEST_CASE("tiles on the device are divided, placed and stored there as on the host") {
        const auto device = make_cuda_device();
        std::vector<NamedMatrix> matrices = battery();
        matrices.push_back({"rows of all lengths", uneven_matrix(1500, 1500, 24)});
        matrices.push_back({"rows of more than 32 results", matrix_of_rows(std::vector<Index>(400, 300), 400)});
        for (const std::string& text : tile_recipes) {
            for (const NamedMatrix& each : matrices) {
                if (!each.matrix.square() || each.matrix.nonzeros() == 0) continue;
                check_like_host<double>(*device, text, each.matrix, each.name);
                check_like_host<float>(*device, text, each.matrix, each.name);
            }
        }
    }

    TEST_CASE("tiles that begin anew in each part are divided on the device as on the host") {
        const auto device = make_cuda_device();
        const std::string parts = "[[stage]]\nuse = 'rcm_blocks'\nparts = 5\n";
        const CsrMatrix matrix = generated("laplace3d", {{"nx", 9_i}});
        for (const char* rows : {"height = 17", "count = 3"}) {
            const std::string cut = tiles(fmt::format("{}\nwithin = 'partition'", rows), "count = 2");
            check_like_host<double>(*device, parts + cut + hashed(6) + in_batches, matrix, "parts");
            check_like_host<double>(*device, parts + inside + cut + sorted_rows + in_batches, matrix, "sorted parts");
        }
    }

    TEST_CASE("one tile on the device is sorted as on the host, and the others keep their order") {
        const auto device = make_cuda_device();
        const CsrMatrix matrix = uneven_matrix(1500, 1500, 24);
        const std::string cut = tiles("height = 400", "count = 3");
        const std::string one = "[[stage]]\nuse = 'row_sort'\nshare = 'tile 2,1'\n";
        check_like_host<double>(*device, cut + one + in_batches, matrix, "one tile");
        check_like_host<double>(*device,
                                cut + sorted_rows + one + "order = 'ascending'\nwithin = 'window'\nwindow = 50\n" + in_batches,
                                matrix, "after all");
        check_like_host<double>(*device, cut + one + "key = 'first_column'\n" + in_batches, matrix, "by columns");
        const std::string none = "[[stage]]\nuse = 'row_sort'\nshare = 'tile 4,0'\n";
        CHECK(left_to_host(*device, cut + none + in_batches, matrix) == "there is no such tile with nonzeros");
        const std::string empty = "[[stage]]\nuse = 'row_sort'\nshare = 'tile 0,1'\n";
        const std::vector<Entry> corner{{0, 0, 1}, {5, 5, 1}};
        CHECK(left_to_host(*device, tiles("count = 2", "count = 2") + empty + in_batches, csr_from_entries(6, 6, corner)) ==
              "there is no such tile with nonzeros");
    }

    TEST_CASE("tiles whose chunks are too wide for 16 bits are left to the host, or have 32") {
        const auto device = make_cuda_device();
        const std::vector<Entry> corners{{0, 0, 1}, {0, 65536, 1}, {65536, 0, 1}};
        const CsrMatrix wide = csr_from_entries(65537, 65537, corners);
        const std::string one_tile = tiles("count = 1", "count = 1") + in_batches;
        CHECK(left_to_host(*device, one_tile + "column_index = 'u16'\n", wide) ==
              "a chunk reaches over more columns than 16 bits count");
        check_like_host<double>(*device, one_tile, wide, "wide");
        const std::vector<Entry> nearer{{0, 0, 1}, {0, 65535, 1}, {65536, 1, 1}};
        check_like_host<double>(*device, one_tile + "column_index = 'u16'\n", csr_from_entries(65537, 65537, nearer),
                                "not wide");
    }
}

TEST_SUITE("shared_memory") {
    TEST_CASE("a small matrix on the device is divided into tiles there") {
        const auto device = make_cuda_device();
        const CsrMatrix matrix = uneven_matrix(120, 120, 20);
        for (const std::string& text : tile_recipes) check_like_host<double>(*device, text, matrix, "small");
    }
}

TEST_SUITE("prepare_large") {
    TEST_CASE("large tiles on the device are divided, placed and stored there as on the host") {
        const auto device = make_cuda_device();
        const std::vector<NamedMatrix> matrices{{"laplace3d", generated("laplace3d", {{"nx", 50_i}})},
                                                {"long rows", uneven_matrix(150000, 150000, 24)}};
        const std::vector<std::string> recipes{
            tile_recipes[0], tiles("height = 512", "width = 4096") + hashed(512) + in_batches,
            tiles("height = 3000", "count = 40") + hashed(512) + in_batches,
            by_cuthill_mckee + tiles("height = 512", "width = 65536") + sorted_rows + in_batches};
        for (const NamedMatrix& each : matrices) {
            for (const std::string& text : recipes) {
                if (each.name == "long rows" && text == recipes[3]) continue;  // its pattern is not symmetric
                check_like_host<double>(*device, text, each.matrix, each.name);
            }
            check_like_host<float>(*device, recipes[2], each.matrix, each.name);
        }
    }
}

}  // namespace workbench
