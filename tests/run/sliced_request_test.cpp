// Recipes that a device can prepare as a whole, and those that it leaves to the host.
#include <doctest/doctest.h>

#include <limits>
#include <string>

#include "pipeline/catalogue/catalogue.hpp"
#include "pipeline/recipe/sliced_request.hpp"

namespace workbench {
namespace {

std::optional<SlicedRequest> request_of(const std::string& text) {
    return sliced_request(parse_recipe("[recipe]\nname = 'x'\n" + text, "x.toml", catalogue()));
}

const std::string rcm = "[[stage]]\nuse = 'cuthill_mckee'\n";
const std::string windows = "[[stage]]\nuse = 'row_sort'\nwithin = 'window'\nwindow = 512\n";
const std::string sell = "[layout]\nuse = 'sell'\n";
const std::string nodes = "[[stage]]\nuse = 'node_blocks'\n";
const std::string in_blocks = "[layout]\nuse = 'block_sell'\n";
const std::string blocks = "[[stage]]\nuse = 'rcm_blocks'\nparts = 7\n";
const std::string inside = "[[stage]]\nuse = 'row_sort'\nwithin = 'partition'\nkey = 'nonzeros_inside_partition'\n";
const std::string divided = "[[stage]]\nuse = 'split'\nby = 'inside_partition'\n";
const std::string outside = "[[stage]]\nid = 'outside'\nuse = 'row_sort'\nshare = 'outside'\n";
const std::string ehyb = "[layout]\nuse = 'ehyb'\n";

}  // namespace

TEST_CASE("the request of a recipe that a device prepares") {
    const SlicedRequest plain = request_of(sell).value();
    CHECK_FALSE(plain.cuthill_mckee);
    CHECK_FALSE(plain.window.has_value());
    CHECK(plain.slice_height == 32);
    CHECK(plain.threads_per_row == 0);
    CHECK(plain.split_length == 512);
    CHECK_FALSE(plain.short_columns);

    const SlicedRequest whole =
        request_of(rcm + windows + "order = 'ascending'\n" + sell +
                   "slice_height = 'auto'\nthreads_per_row = 2\nsplit_length = 100\ncolumn_index = 'u16'\n")
            .value();
    CHECK(whole.cuthill_mckee);
    CHECK(whole.reversed);
    CHECK(whole.window == 512);
    CHECK_FALSE(whole.descending);
    CHECK(whole.slice_height == 0);
    CHECK(whole.threads_per_row == 2);
    CHECK(whole.split_length == 100);
    CHECK(whole.short_columns);

    const SlicedRequest other = request_of(rcm + "variant = 'plain'\n[[stage]]\nuse = 'row_sort'\n" + sell).value();
    CHECK_FALSE(other.reversed);
    CHECK(other.window == std::numeric_limits<Index>::max());
    CHECK(other.descending);
}

TEST_CASE("the request of a recipe of node blocks") {
    const SlicedRequest found = request_of(nodes + rcm + windows + in_blocks).value();
    CHECK(found.in_blocks);
    CHECK(found.cuthill_mckee);
    CHECK(found.window == 512);
    CHECK(found.node_size == 0);
    CHECK(found.block_size == 0);
    CHECK(found.threads_per_row == 0);
    CHECK(found.slots_per_nonzero == 4);

    const SlicedRequest given = request_of("[matrix]\nnode_size = 3\n" + nodes + in_blocks +
                                           "block_size = 3\nthreads_per_row = 2\nslots_per_nonzero = 9\n")
                                    .value();
    CHECK(given.node_size == 3);
    CHECK(given.block_size == 3);
    CHECK(given.threads_per_row == 2);
    CHECK(given.slots_per_nonzero == 9);

    CHECK(request_of("[matrix]\nnode_size = 3\n" + nodes + "unknowns = 2\n" + in_blocks).value().node_size == 2);
    CHECK(request_of(in_blocks).value().node_size == 1);
    CHECK_FALSE(request_of(sell).value().in_blocks);
}

TEST_CASE("the request of a recipe of RCM blocks") {
    const SlicedRequest found = request_of(blocks + inside + divided + outside + ehyb).value();
    REQUIRE(found.parts.has_value());
    CHECK(found.parts->parameters.integer("parts") == 7);
    CHECK(found.parts->device == nullptr);
    CHECK(found.cuthill_mckee);
    CHECK(found.reversed);
    CHECK_FALSE(found.in_blocks);
    CHECK_FALSE(found.window.has_value());
    CHECK(found.descending);
    CHECK(found.outside_descending);

    const SlicedRequest ascending = request_of("device = 'h200'\n" + blocks + inside + "order = 'ascending'\n" + divided +
                                               outside + "order = 'ascending'\n" + ehyb)
                                        .value();
    CHECK(ascending.parts->device == find_device_model("h200"));
    CHECK_FALSE(ascending.descending);
    CHECK_FALSE(ascending.outside_descending);
    CHECK_FALSE(request_of(sell).value().parts.has_value());
}

TEST_CASE("recipes that a device leaves to the host") {
    for (const std::string& text :
         {std::string("[layout]\nuse = 'csr'\n"),
          windows + rcm + sell,
          rcm + rcm + sell,
          windows + windows + sell,
          "[[stage]]\nuse = 'random_order'\n" + sell,
          windows + "apply = 'rows'\n" + sell,
          windows + "key = 'span'\n" + sell,
          "[matrix]\nnode_size = 3\n" + rcm + sell,
          nodes + sell,
          rcm + nodes + in_blocks,
          in_blocks + "values = 'auto'\n",
          sell + "values = 'auto'\n",
          sell + "column_index = 'auto'\n",
          "[[stage]]\nuse = 'metis_partition'\nparts = 4\n[[stage]]\nuse = 'row_sort'\nwithin = 'partition'\n" + sell,
          std::string("[[stage]]\nuse = 'split'\nby = 'row_length'\nlonger_than = 3\n"
                      "[[layout]]\nuse = 'sell'\nshare = 'long'\n[[layout]]\nuse = 'sell'\nshare = 'short'\n"),
          blocks + inside + divided + outside + ehyb + "column_index = 'u32'\n",
          blocks + divided + outside + ehyb,
          blocks + inside + divided + ehyb,
          blocks + "weights = 'nonzeros'\n" + inside + divided + outside + ehyb,
          blocks + inside + "window = 64\n" + divided + outside + ehyb,
          blocks + inside + divided + outside + "key = 'span'\n" + ehyb,
          "[matrix]\nnode_size = 3\n" + blocks + inside + divided + outside + ehyb,
          "[[stage]]\nuse = 'bfs_blocks'\nparts = 7\n" + inside + divided + outside + ehyb,
          blocks + sell,
          rcm + blocks + inside + divided + outside + ehyb}) {
        CHECK_MESSAGE(!request_of(text).has_value(), text);
    }
}

}  // namespace workbench
