// Recipes that a device can prepare in its own memory, and those that it leaves to the host.
#include <doctest/doctest.h>

#include <fstream>
#include <string>
#include <variant>
#include <vector>

#include "core/contract/errors.hpp"
#include "core/contract/stage.hpp"
#include "core/contract/value_facts.hpp"
#include "run/plans.hpp"
#include "support/message_of.hpp"
#include "support/temporary_folder.hpp"

namespace workbench {
namespace {

/// The order that the host finds for a step, for a matrix without entries.
GivenOrder found(const DevicePlan& plan, std::size_t i, Index size, Index node_size, const std::vector<Index>& parts) {
    StagedMatrix staged;
    staged.matrix.rows = staged.matrix.columns = size;
    staged.node_size = node_size;
    if (!parts.empty()) staged.cuts = {{CutKind::partition, parts}};
    CHECK_FALSE(step<TakeOrder>(plan, i).reads_entries);
    return step<TakeOrder>(plan, i).find(staged, {});
}

const std::string rcm = "[[stage]]\nuse = 'cuthill_mckee'\n";
const std::string windows = "[[stage]]\nid = 'windows'\nuse = 'row_sort'\nwithin = 'window'\nwindow = 512\n";
const std::string sell = "[layout]\nuse = 'sell'\n";
const std::string nodes = "[[stage]]\nuse = 'node_blocks'\n";
const std::string in_blocks = "[layout]\nuse = 'block_sell'\n";
const std::string blocks = "[[stage]]\nuse = 'rcm_blocks'\nparts = 7\n";
const std::string inside = "[[stage]]\nuse = 'row_sort'\nwithin = 'partition'\nkey = 'nonzeros_inside_partition'\n";
const std::string divided = "[[stage]]\nuse = 'split'\nby = 'inside_partition'\n";
const std::string outside = "[[stage]]\nid = 'outside'\nuse = 'row_sort'\nshare = 'outside'\n";
const std::string by_parts = "[layout]\nuse = 'ehyb'\n";
const std::string by_degree = "[[stage]]\nuse = 'degree_sort'\n";

}  // namespace

TEST_CASE("the plan of orders and slices of rows") {
    const DevicePlan plain = plan_of(sell);
    CHECK(plain.steps.empty());
    CHECK(plain.kernel == "slices");
    const auto& slices = std::get<RowSlices>(plain.storage);
    CHECK(slices.slice_height == 32);
    CHECK(slices.threads_per_row == 0);
    CHECK(slices.split_length == 512);
    CHECK(slices.columns == DeviceColumns::of_32_bits);

    const DevicePlan whole = plan_of(rcm + windows + "order = 'ascending'\n" + sell +
                                     "slice_height = 'auto'\nthreads_per_row = 2\nsplit_length = 100\ncolumn_index = 'u16'\n");
    CHECK(whole.steps.at(0).stage == "cuthill_mckee");
    CHECK(step<OrderByLevels>(whole, 0).reversed);
    CHECK(whole.steps.at(1).stage == "windows");
    CHECK(step<SortRows>(whole, 1).window == 512);
    CHECK_FALSE(step<SortRows>(whole, 1).descending);
    CHECK_FALSE(step<SortRows>(whole, 1).within_partition);
    CHECK(step<SortRows>(whole, 1).key == RowKey::nonzeros);
    const auto& short_slices = std::get<RowSlices>(whole.storage);
    CHECK(short_slices.slice_height == 0);
    CHECK(short_slices.threads_per_row == 2);
    CHECK(short_slices.split_length == 100);
    CHECK(short_slices.columns == DeviceColumns::of_16_bits);

    const DevicePlan other = plan_of(rcm + "variant = 'plain'\n[[stage]]\nuse = 'row_sort'\n" + sell);
    CHECK_FALSE(step<OrderByLevels>(other, 0).reversed);
    CHECK_FALSE(step<SortRows>(other, 1).window.has_value());
    CHECK(step<SortRows>(other, 1).descending);
}

TEST_CASE("the plan of node blocks") {
    const DevicePlan found = plan_of(nodes + rcm + windows + in_blocks);
    CHECK(found.node_size == 1);
    CHECK(found.kernel == "warps");
    CHECK(step<KeepNodes>(found, 0).rows == 0);
    CHECK(step<OrderByLevels>(found, 1).reversed);
    CHECK(step<SortRows>(found, 2).window == 512);
    const auto& automatic = std::get<BlockSlices>(found.storage);
    CHECK(automatic.block_size == 0);
    CHECK(automatic.threads_per_row == 0);
    CHECK(automatic.slots_per_nonzero == 4);

    const DevicePlan given = plan_of("[matrix]\nnode_size = 3\n" + nodes + "unknowns = 2\n" + in_blocks +
                                     "block_size = 3\nthreads_per_row = 2\nslots_per_nonzero = 9\n");
    CHECK(given.node_size == 3);
    CHECK(step<KeepNodes>(given, 0).rows == 2);
    const auto& set = std::get<BlockSlices>(given.storage);
    CHECK(set.block_size == 3);
    CHECK(set.threads_per_row == 2);
    CHECK(set.slots_per_nonzero == 9);
}

TEST_CASE("the plan of parts") {
    const DevicePlan found = plan_of(blocks + inside + divided + outside + by_parts);
    CHECK(found.model == nullptr);
    CHECK(found.kernel == "fused");
    CHECK(std::holds_alternative<PartSlices>(found.storage));
    CHECK(step<CutLevels>(found, 0).parameters.integer("parts") == 7);
    CHECK(step<CutLevels>(found, 0).stage == "rcm_blocks");
    CHECK(step<SortRows>(found, 1).within_partition);
    CHECK(step<SortRows>(found, 1).key == RowKey::inside_partition);
    CHECK(step<SortRows>(found, 1).descending);
    CHECK(step<SplitNonzeros>(found, 2).key == SplitKey::inside_partition);
    CHECK(step<SortShare>(found, 3).descending);

    const DevicePlan ascending = plan_of("device = 'h200'\n" + blocks + inside + "order = 'ascending'\n" + divided + outside +
                                         "order = 'ascending'\n" + by_parts);
    CHECK(ascending.model == find_device_model("h200"));
    CHECK_FALSE(step<SortRows>(ascending, 1).descending);
    CHECK_FALSE(step<SortShare>(ascending, 3).descending);

    CHECK(std::get<PartSlices>(found.storage).short_columns);
    const DevicePlan other = plan_of(blocks + divided + outside + "key = 'similarity'\nwindow = 9\nwithin = 'partition'\n" +
                                     by_parts + "column_index = 'u32'\n");
    CHECK_FALSE(std::get<PartSlices>(other.storage).short_columns);
    CHECK(step<SortShare>(other, 2).key == RowKey::similarity);
    CHECK(step<SortShare>(other, 2).window == 9);
    CHECK(step<SortShare>(other, 2).within_partition);
    CHECK_FALSE(step<SortShare>(found, 3).within_partition);
    CHECK(step<SortShare>(found, 3).key == RowKey::nonzeros);
}

TEST_CASE("the plan of whole and of padded rows") {
    const DevicePlan csr = plan_of(by_degree + "[layout]\nuse = 'csr'\n");
    CHECK(csr.kernel == "adaptive");
    CHECK(step<SortByDegree>(csr, 0).descending);
    CHECK_FALSE(std::get<WholeRows>(csr.storage).short_columns);
    CHECK_FALSE(step<SortByDegree>(plan_of(by_degree + "order = 'ascending'\n" + sell), 0).descending);

    const DevicePlan csr16 = plan_of(rcm + "[layout]\nuse = 'csr16'\n");
    CHECK(csr16.kernel == "lanes");
    CHECK(std::get<WholeRows>(csr16.storage).short_columns);

    const DevicePlan ell = plan_of("[layout]\nuse = 'ell'\n");
    CHECK(ell.kernel == "rows");
    CHECK_FALSE(std::get<PaddedRows>(ell.storage).row_major);
    CHECK_FALSE(std::get<PaddedRows>(ell.storage).with_lengths);
    CHECK(std::get<PaddedRows>(ell.storage).slots_per_nonzero == 10);
    const DevicePlan by_rows = plan_of("[layout]\nuse = 'ell'\norder = 'row_major'\nslots_per_nonzero = 3\n");
    CHECK(std::get<PaddedRows>(by_rows.storage).row_major);
    CHECK(std::get<PaddedRows>(by_rows.storage).slots_per_nonzero == 3);

    const DevicePlan ellr = plan_of(windows + "[layout]\nuse = 'ellr'\n");
    CHECK(ellr.kernel == "rows");
    CHECK_FALSE(std::get<PaddedRows>(ellr.storage).row_major);
    CHECK(std::get<PaddedRows>(ellr.storage).with_lengths);

    const std::string rows = "[layout]\nuse = 'rows'\n";
    const DevicePlan one = plan_of(rows + "rows = 'one'\ncolumn_index = 'u32'\nthreads_per_row = 4\n");
    CHECK(one.kernel == "rows");
    CHECK_FALSE(std::get<WholeRows>(one.storage).values_of_lines);
    CHECK(std::get<WholeRows>(csr.storage).values_of_lines);
    CHECK(std::get<WholeRows>(one.storage).threads_per_row == 4);
    CHECK(std::get<PaddedRows>(plan_of(rows + "column_index = 'u32'\norder = 'row_major'\n").storage).threads_per_row == 0);
    CHECK(std::get<PaddedRows>(by_rows.storage).threads_per_row == 1);
    const DevicePlan in_slices = plan_of(rows + "rows = 'slices'\nrow_lengths = true\ncolumn_index = 'u32'\n");
    CHECK(std::get<RowSlices>(in_slices.storage).with_lengths);
    CHECK_FALSE(std::get<RowSlices>(plan_of(sell).storage).with_lengths);
    CHECK(std::get<RowSlices>(plan_of(rows + "rows = 'slices'\ncolumns_from = 'slice'\n").storage).columns ==
          DeviceColumns::of_16_bits);
    for (const char* others : {"rows = 'jagged'\n", "rows = 'slices'\n", "rows = 'all'\n"}) {
        CHECK(reason_of(rows + others) == "a GPU does not store layout rows");
    }
}

TEST_CASE("the plan of tiles") {
    const std::string cut = "[[stage]]\nuse = 'row_blocks'\nheight = 4\n[[stage]]\nuse = 'column_segmentation'\n";
    const std::string hashed = "[[stage]]\nuse = 'nonlinear_hash'\nwithin = 'tile'\nsample = 7\n";
    const std::string sorted = "[[stage]]\nuse = 'row_sort'\nwithin = 'tile'\nwindow = 9\norder = 'ascending'\n";
    const std::string batches = "[layout]\nuse = 'hbp'\n";
    const StageContext context{nullptr, Precision::f32};
    const DevicePlan found = plan_of(rcm + cut + "count = 3\n" + hashed + batches);
    CHECK(found.kernel == "fixed");
    CHECK(step<CutRows>(found, 1).boundaries(10, {}) == std::vector<Index>{0, 4, 8, 10});
    CHECK(step<CutColumns>(found, 2).boundaries(10, context) == std::vector<Index>{0, 3, 6, 10});
    CHECK(step<PlaceInTiles>(found, 3).sample == 7);
    const auto& automatic = std::get<TileBatches>(found.storage);
    CHECK(automatic.row_limit == 32);
    CHECK(automatic.chunk_limit == 1024);
    CHECK(automatic.fixed_share == 0.5);
    CHECK_FALSE(automatic.short_columns.has_value());

    const DevicePlan given = plan_of(cut + "fit = 'k20x:l2'\n" + sorted + batches +
                                     "row_limit = 5\nchunk_limit = 6\nfixed_share = 0.25\ncolumn_index = 'u32'\n");
    CHECK(step<CutColumns>(given, 1).boundaries(500000, context) == std::vector<Index>{0, 393216, 500000});  // 1.5 MiB
    CHECK(step<PlaceInTiles>(given, 2).sample == 0);
    CHECK(step<PlaceInTiles>(given, 2).window == 9);
    CHECK_FALSE(step<PlaceInTiles>(given, 2).descending);
    const auto& set = std::get<TileBatches>(given.storage);
    CHECK(set.row_limit == 5);
    CHECK(set.chunk_limit == 6);
    CHECK(set.fixed_share == 0.25);
    CHECK(set.short_columns == false);
    const DevicePlan plain =
        plan_of(cut + "width = 5\n[[stage]]\nuse = 'row_sort'\nshare = 'tile'\n" + batches + "column_index = 'u16'\n");
    CHECK_FALSE(step<PlaceInTiles>(plain, 2).window.has_value());
    CHECK(step<PlaceInTiles>(plain, 2).descending);
    CHECK(std::get<TileBatches>(plain.storage).short_columns == true);
    const auto too_many = [&] {
        (void)step<CutColumns>(plan_of(cut + "width = 1\n" + batches), 1).boundaries(1048577, context);
    };
    CHECK(message_of<Unsuitable>(too_many) ==
          "1048577 segments of 1048577 columns, expected at most 1048576: make the segments wider");

    const std::string of_all = "[[stage]]\nuse = 'nonlinear_hash'\n";
    CHECK(step<SortRows>(plan_of(of_all + sell), 0).sample == 512);
    CHECK_FALSE(step<SortRows>(plan_of(of_all + sell), 0).within_partition);
    CHECK(step<SortRows>(plan_of(blocks + of_all + "within = 'partition'\n" + sell), 1).within_partition);
    CHECK(step<SortRows>(plan_of(of_all + sell), 0).acts == Acts::symmetric);
    CHECK(step<SortRows>(plan_of(of_all + "apply = 'rows'\n" + sell), 0).acts == Acts::rows);
    const DevicePlan one =
        plan_of(cut + "count = 3\n[[stage]]\nuse = 'row_sort'\nshare = 'tile 1,2'\nkey = 'span'\n" + batches);
    REQUIRE(step<PlaceInTiles>(one, 2).only.has_value());
    CHECK(step<PlaceInTiles>(one, 2).only->row_block == 1);
    CHECK(step<PlaceInTiles>(one, 2).only->segment == 2);
    CHECK(step<PlaceInTiles>(one, 2).key == RowKey::span);
    CHECK_FALSE(step<PlaceInTiles>(plain, 2).only.has_value());
    CHECK(reason_of(blocks + cut +
                    "count = 3\n[[stage]]\nuse = 'row_sort'\nshare = 'tile 1,2'\nkey = 'nonzeros_inside_partition'\n" +
                    batches) == "a GPU does not do stage 'row_sort'");
    CHECK(reason_of(cut + "count = 3\n[[stage]]\nuse = 'dynamic_program_groups'\nwithin = 'tile'\ngroups = 2\n" + batches) ==
          "a GPU does not do stage 'dynamic_program_groups'");
    const std::string in_parts = "[[stage]]\nuse = 'row_blocks'\nheight = 4\nwithin = 'partition'\n";
    CHECK(step<CutRows>(plan_of(blocks + in_parts + sell), 1).boundaries(12, {0, 5, 5, 12}) ==
          std::vector<Index>{0, 4, 5, 9, 12});
    CHECK(plan_of("[matrix]\nnode_size = 3\n" + rcm + cut + "count = 3\n" + batches).steps.size() == 3);
}

TEST_CASE("the plan of coded values") {
    const auto whole = [](const std::string& text) {
        return std::get<WholeRows>(plan_of("[layout]\nuse = " + text).storage).values;
    };
    const auto padded = [](const std::string& text) {
        return std::get<PaddedRows>(plan_of("[layout]\nuse = " + text).storage).values;
    };
    CHECK(whole("'csr'\n") == DeviceValues::full);
    CHECK(whole("'csr'\nvalues = 'dictionary'\n") == DeviceValues::dictionary);
    CHECK(whole("'csr'\nvalues = 'one'\n") == DeviceValues::one);
    CHECK(whole("'csr'\nvalues = 'by_column'\n") == DeviceValues::by_column);
    CHECK(whole("'csr16'\nvalues = 'f32'\n") == DeviceValues::f32);
    CHECK(whole("'csr16'\nvalues = 'auto'\n") == DeviceValues::full);
    CHECK(padded("'ellr'\nvalues = 'dictionary'\n") == DeviceValues::dictionary);
    CHECK(padded("'ellr'\n") == DeviceValues::full);
    const std::string slices = sell + "column_index = 'u16'\n";
    CHECK(std::get<RowSlices>(plan_of(slices).storage).values == DeviceValues::full);
    CHECK(std::get<RowSlices>(plan_of(slices + "values = 'dictionary'\n").storage).values == DeviceValues::dictionary);
    CHECK(std::get<RowSlices>(plan_of(slices + "values = 'rounded_bf16'\n").storage).values == DeviceValues::rounded_bf16);
    CHECK(std::get<BlockSlices>(plan_of(in_blocks + "values = 'dictionary'\n").storage).values == DeviceValues::dictionary);

    CHECK_FALSE(plan_of(slices).settle);
    const auto settled = [](const std::string& text, const ValueFacts& facts) { return *plan_of(text).settle(facts); };
    const ValueFacts few{.columns = 1000, .distinct = 2};
    const ValueFacts many{.columns = 1000};
    CHECK(std::get<PaddedRows>(settled("[layout]\nuse = 'ell'\nvalues = 'auto'\n", few)).values == DeviceValues::dictionary);
    CHECK(std::get<PaddedRows>(settled("[layout]\nuse = 'ell'\nvalues = 'auto'\n", many)).values == DeviceValues::full);
    const std::string automatic = sell + "values = 'auto'\ncolumn_index = 'auto'\n";
    CHECK(std::get<RowSlices>(settled(automatic, few)).columns == DeviceColumns::in_words);
    CHECK(std::get<RowSlices>(settled(automatic, many)).columns == DeviceColumns::automatic);
    CHECK(std::get<RowSlices>(settled(automatic, {.columns = 1000, .exact_in_f32 = true})).values == DeviceValues::f32);
}

TEST_CASE("an order from a file is read when the plan is carried out, and its parts are cut") {
    const TemporaryFolder folder;
    const std::string file = (folder.path() / "order.txt").string();
    const std::string labels = (folder.path() / "parts.txt").string();
    std::ofstream(file) << "2\n0\n1\n3\n";
    std::ofstream(labels) << "1\n0\n1\n0\n";
    const std::string imported = "[[stage]]\nuse = 'imported'\n";
    const DevicePlan ordered = plan_of(imported + "order = '" + file + "'\n" + rcm + sell);
    CHECK_FALSE(step<TakeOrder>(ordered, 0).has_parts);
    const GivenOrder rows = found(ordered, 0, 4, 1, {});
    CHECK(rows.old_of_new == std::vector<Index>{2, 0, 1, 3});
    CHECK(rows.partition.empty());
    CHECK(found(ordered, 0, 8, 2, {}).old_of_new == std::vector<Index>{4, 5, 0, 1, 2, 3, 6, 7});
    CHECK(message_of<Unsuitable>([&] { (void)found(ordered, 0, 5, 1, {}); }) ==
          file + ": found 4 numbers; expected 5, one for each row");
    const DevicePlan backwards =
        plan_of(imported + "order = '" + file + "'\ndirection = 'new_of_old'\n[layout]\nuse = 'csr'\n");
    CHECK(found(backwards, 0, 4, 1, {}).old_of_new == std::vector<Index>{1, 2, 0, 3});

    const DevicePlan parts = plan_of(imported + "partition = '" + labels + "'\n" + inside + divided + outside + by_parts);
    CHECK(step<TakeOrder>(parts, 0).has_parts);
    const GivenOrder given = found(parts, 0, 4, 1, {});
    CHECK(given.old_of_new == std::vector<Index>{1, 3, 0, 2});
    CHECK(given.partition == std::vector<Index>{0, 2, 4});

    for (const Acts acts : {Acts::rows, Acts::columns, Acts::symmetric}) {
        const DevicePlan alone =
            plan_of(imported + "order = '" + file + "'\napply = '" + std::string(name_of(acts)) + "'\n" + sell);
        CHECK(step<TakeOrder>(alone, 0).acts == acts);
        CHECK(found(alone, 0, 4, 1, {}).old_of_new == std::vector<Index>{2, 0, 1, 3});
    }
    CHECK(step<TakeOrder>(ordered, 0).acts == Acts::symmetric);
    const std::string cuts = (folder.path() / "cuts.txt").string();
    std::ofstream(cuts) << "0\n1\n4\n";
    const std::string cut = imported + "cuts = '" + cuts + "'\nkind = ";
    CHECK(step<CutRows>(plan_of(cut + "'row_block'\n" + sell), 0).boundaries(4, {}) == std::vector<Index>{0, 1, 4});
    const DevicePlan in_two = plan_of(cut + "'partition'\n" + inside + divided + outside + by_parts);
    CHECK(found(in_two, 0, 4, 1, {}).old_of_new.empty());
    CHECK(found(in_two, 0, 4, 1, {}).partition == std::vector<Index>{0, 1, 4});
    const DevicePlan segments = plan_of(cut + "'segment'\n" + sell);
    CHECK(step<CutColumns>(segments, 0).boundaries(4, {nullptr, Precision::f64}) == std::vector<Index>{0, 1, 4});
    const DevicePlan stays = plan_of(cut + "'partition'\n[[stage]]\nid = 'then'\nuse = 'imported'\norder = '" + labels +
                                     "'\nwithin = 'partition'\n" + sell);
    CHECK(step<TakeOrder>(stays, 1).keeps_parts);
    CHECK(step<TakeOrder>(stays, 1).needs_parts);
    CHECK(message_of<Unsuitable>([&] { (void)found(stays, 1, 4, 1, {0, 1, 4}); }).starts_with(labels));
    const DevicePlan of_nodes = plan_of("[matrix]\nnode_size = 2\n" + imported + "partition = '" + labels + "'\n" + in_blocks);
    CHECK(found(of_nodes, 0, 8, 2, {}).partition == std::vector<Index>{0, 4, 8});
}

TEST_CASE("a device carries out stages in any order that its layouts can store") {
    CHECK(plan_of(windows + rcm + sell).steps.size() == 2);
    CHECK(plan_of(rcm + "[[stage]]\nid = 'again'\nuse = 'cuthill_mckee'\nvariant = 'plain'\n" + windows + sell).steps.size() ==
          3);
    CHECK(plan_of(rcm + blocks + inside + divided + outside + by_parts).steps.size() == 5);
    CHECK(plan_of(blocks + divided + outside + by_parts).steps.size() == 3);
    const std::string within_parts = "[[stage]]\nid = 'again'\nuse = 'row_sort'\nwithin = 'partition'\nwindow = 9\n";
    CHECK(plan_of(blocks + inside + within_parts + divided + outside + by_parts).steps.size() == 5);
    CHECK(step<SortRows>(plan_of("[[stage]]\nuse = 'row_sort'\nkey = 'span'\n" + sell), 0).key == RowKey::span);
    CHECK(step<CutLevels>(plan_of(blocks + sell), 0).keeps_parts);
    CHECK_FALSE(step<CutLevels>(plan_of(blocks + "keep = 'order'\n" + sell), 0).keeps_parts);
    CHECK(plan_of(blocks + "weights = 'nonzeros'\n" + sell).steps.size() == 1);
    CHECK(plan_of(windows + by_degree + rcm + "[layout]\nuse = 'ellr'\n").steps.size() == 3);
    CHECK(plan_of(by_degree + windows + in_blocks).steps.size() == 2);
    CHECK(plan_of("[matrix]\nnode_size = 3\n" + blocks + inside + divided + outside + by_parts).node_size == 3);
    CHECK(plan_of(nodes + blocks + inside + in_blocks).steps.size() == 3);
    CHECK(plan_of(nodes + windows + rcm + blocks + sell).steps.size() == 4);
}

TEST_CASE("the plan of shares, and the tables that divide nonzeros into them") {
    const auto split = [](const std::string& by) { return "[[stage]]\nuse = 'split'\nby = " + by + "\n"; };
    const auto stored = [](const std::string& share, const std::string& layout) {
        return "[[layout]]\nshare = '" + share + "'\nuse = " + layout + "\n";
    };
    const std::string long_and_short = stored("short", "'sell'\nslice_height = 4") + stored("long", "'csr'");
    const std::string lengths = split("'row_length'\nlonger_than = 2");
    const DevicePlan plan = plan_of(
        rcm + lengths + "[[stage]]\nuse = 'row_sort'\nshare = 'short'\n[kernel]\nside_by_side = true\n" + long_and_short);
    REQUIRE(plan.shares.size() == 2);
    CHECK(plan.side_by_side);
    CHECK(plan.shares[0].share.kind == ShareKind::short_rows);
    CHECK(std::get<RowSlices>(plan.shares[0].storage).slice_height == 4);
    CHECK(plan.kernel_of(0) == "slices");
    CHECK(plan.kernel_of(1) == "adaptive");
    CHECK(step<SortShare>(plan, 2).share.kind == ShareKind::short_rows);
    CHECK(step<SplitNonzeros>(plan, 1).shares == std::vector<ShareKind>{ShareKind::long_rows, ShareKind::short_rows});
    CHECK(step<SplitNonzeros>(plan, 1).parent == ShareId{});
    const DevicePlan again =
        plan_of(lengths + "[[stage]]\nid = 'again'\nuse = 'split'\nby = 'distance'\ndistance = 1\nshare = 'long'\n" +
                stored("short", "'csr'") + stored("long/near", "'csr'") + stored("long/far", "'csr'"));
    CHECK(step<SplitNonzeros>(again, 1).parent == ShareId{ShareKind::long_rows});
    CHECK(step<SplitNonzeros>(again, 1).shares == std::vector<ShareKind>{ShareKind::near, ShareKind::far});

    // Rows of 1, 3 and 2 nonzeros, of 5 columns.
    CsrMatrix rows;
    rows.rows = 3;
    rows.columns = 5;
    rows.row_offsets = {0, 1, 4, 6};
    const ShareView view(rows);
    const std::vector<Index> parts{0, 1, 3};
    const auto table = [&](const std::string& text, SplitKey key, const std::vector<Offset>& counts = {}) {
        const DevicePlan made = plan_of(blocks + text);
        const auto& made_split = step<SplitNonzeros>(made, 1);
        CHECK(made_split.key == key);
        CHECK((made_split.reads == SplitReads::counts) == !counts.empty());
        return made_split.table({view, rows, parts, counts}).shares;
    };
    using Numbers = std::vector<std::uint8_t>;
    const auto two = [&](const std::string& first, const std::string& second) {
        return stored(first, "'sell'") + stored(second, "'csr'");
    };
    CHECK(table(lengths + long_and_short, SplitKey::row) == Numbers{1, 0, 1});
    CHECK(table(split("'row_length'\nbounds = [1, 2]") + two("bin_0", "bin_1") + stored("bin_2", "'ell'"), SplitKey::row) ==
          Numbers{0, 2, 1});
    CHECK(table(split("'rows'\nbounds = [1]") + two("bin_0", "bin_1"), SplitKey::row) == Numbers{0, 1, 1});
    CHECK(table(split("'rows'\nbounds = ['p50']") + two("bin_0", "bin_1"), SplitKey::row) == Numbers{0, 0, 1});
    CHECK(table(split("'columns'\nbounds = ['p50']") + two("bin_0", "bin_1"), SplitKey::column) == Numbers{0, 0, 0, 1, 1});
    CHECK(table(split("'columns'\nbounds = [2]") + two("bin_0", "bin_1"), SplitKey::column) == Numbers{0, 0, 1, 1, 1});
    CHECK(table(split("'first_k'\nk = 2") + two("first", "rest"), SplitKey::place) == Numbers{0, 0, 1});
    CHECK(table(split("'distance'\ndistance = 1") + two("near", "far"), SplitKey::diagonal) == Numbers{1, 0, 0, 0, 1, 1, 1});
    CHECK(table(split("'diagonals'\nfill = 0.6") + two("dense_diagonals", "sparse_diagonals"), SplitKey::diagonal,
                {1, 1, 2, 0, 0, 1, 1}) == Numbers{0, 1, 0, 1, 1, 1, 0});
    CHECK(table(split("'columns'\ndensity = 0.5") + two("dense_columns", "sparse_columns"), SplitKey::column,
                {1, 2, 3, 0, 0}) == Numbers{1, 0, 0, 1, 1});
    CHECK(table(split("'partition'\npartitions = [1]") + two("chosen", "others"), SplitKey::row) == Numbers{1, 0, 0});

    // Blocks and values depend on the nonzeros themselves.
    rows.column_indices = {1, 0, 1, 4, 0, 4};
    rows.values = {3, -3, 1, 2, 3, 0.5};
    const auto of_nonzeros = [&](const std::string& text, SplitReads reads) {
        const DevicePlan made = plan_of(text);
        CHECK(step<SplitNonzeros>(made, 0).key == SplitKey::nonzero);
        CHECK(step<SplitNonzeros>(made, 0).reads == reads);
        return step<SplitNonzeros>(made, 0).table({view, rows});
    };
    const auto by_value = [&](const std::string& which) {
        return of_nonzeros(split("'value'\n" + which) + two("chosen", "others"), SplitReads::values);
    };
    CHECK(by_value("larger_than = 1").shares == Numbers{0, 0, 1, 0, 0, 1});
    CHECK(by_value("value = 0.5").shares == Numbers{1, 1, 1, 1, 1, 0});
    CHECK(by_value("value = 'commonest'").shares == Numbers{0, 1, 1, 1, 0, 1});
    CHECK(by_value("value = 'commonest'").notes ==
          std::vector<std::pair<std::string, std::string>>{{"commonest value", "3.0"}});
    const SplitTable in_blocks_of_two =
        of_nonzeros(split("'blocks'\nsize = 2\nfill = 0.6") + two("dense_blocks", "sparse_blocks"), SplitReads::columns);
    CHECK(in_blocks_of_two.shares == Numbers{0, 0, 0, 1, 1, 0});
    CHECK(in_blocks_of_two.notes.front().second == "2 of 4");
    CHECK(reason_of(lengths + stored("short", "'coo'") + stored("long", "'csr'")) == "a GPU does not store layout coo + csr");
    const DevicePlan coded =
        plan_of(lengths + stored("short", "'ell'\nvalues = 'auto'") + stored("long", "'csr'\nvalues = 'one'"));
    CHECK(std::get<PaddedRows>(*coded.shares[0].settle({.columns = 5, .distinct = 2})).values == DeviceValues::dictionary);
    CHECK_FALSE(coded.shares[1].settle);
    CHECK(std::get<WholeRows>(coded.shares[1].storage).values == DeviceValues::one);
    CHECK(reason_of(lengths + stored("short", "'csr'\nvalues = 'by_row'") + stored("long", "'csr'")) ==
          "short: a share has one value for each of its rows or columns");
    CHECK(reason_of(lengths + stored("short", "'sell'\nvalues = 'rounded_f32'") + stored("long", "'csr'")) ==
          "short: the values of a share are rounded");
    CHECK(reason_of(lengths + stored("short", "'block_sell'\nblock_size = 2") + stored("long", "'csr'")) ==
          "short: a share is not stored row by row");
    CHECK(reason_of(blocks + divided + "[[stage]]\nuse = 'row_sort'\nshare = 'inside'\n" + by_parts) ==
          "row_sort: rows of share 'inside' are sorted");
    CHECK(step<SortShare>(plan_of(blocks + divided + outside + "within = 'partition'\n" + two("inside", "outside")), 2)
              .within_partition);
}

TEST_CASE("labels from a file divide nonzeros, if no share has a meaning that is to be checked") {
    const TemporaryFolder folder;
    const std::string labels = (folder.path() / "labels.txt").string();
    std::ofstream(labels) << "1\n2\n2\n1\n1\n2\n";
    const auto imported = [&](const std::string& names) {
        return "[[stage]]\nuse = 'imported'\nshares = '" + labels + "'\nbase = 1\nnames = '" + names + "'\n";
    };
    const auto stored = [](const std::string& share) { return "[[layout]]\nshare = '" + share + "'\nuse = 'csr'\n"; };
    const DevicePlan plan = plan_of(imported("near, far") + stored("far") + stored("near"));
    const auto& split = step<SplitNonzeros>(plan, 0);
    CHECK(split.shares == std::vector<ShareKind>{ShareKind::near, ShareKind::far});
    CHECK(split.key == SplitKey::nonzero);
    CsrMatrix rows;
    rows.rows = 3;
    rows.row_offsets = {0, 1, 4, 6};
    CHECK(split.table({ShareView(rows), rows}).shares == std::vector<std::uint8_t>{0, 1, 1, 0, 0, 1});
    rows.row_offsets.back() = 5;
    CHECK(message_of<Unsuitable>([&] {
              (void)split.table({ShareView(rows), rows});
          }) == labels + ": found 6 numbers; expected 5, one for each nonzero");
    CHECK(reason_of(imported("first, rest") + stored("first") + stored("rest")) == "a GPU does not do stage 'imported'");
}

TEST_CASE("recipes that the host prepares, and why") {
    const std::string other_sort = "[[stage]]\nuse = 'row_sort'\n";
    CHECK(reason_of("[layout]\nuse = 'coo'\n") == "a GPU does not store layout coo");
    Recipe own = parse_recipe("[recipe]\nname = 'x'\n" + sell, "x.toml", catalogue());
    CHECK(std::holds_alternative<DevicePlan>(device_plan_of(own)));
    own.layouts.front().own_kernels = {own.layouts.front().entry->kernels.front()};  // which needs the layout's own arrays
    CHECK(std::holds_alternative<std::string>(device_plan_of(own)));
    for (const std::string layout : {"csr", "csr16", "ell", "ellr"}) {
        const std::string stored = "[layout]\nuse = '" + layout + "'\n";
        CHECK(reason_of(stored + "values = 'auto'\n") == "");
        CHECK(reason_of(nodes + rcm + stored) == "");
    }
    for (const char* layout : {"block_sell", "hbp", "ehyb"}) {
        const bool is_ehyb = std::string(layout) == "ehyb";
        const std::string before = is_ehyb ? blocks + other_sort + "apply = 'rows'\nwithin = 'partition'\n" + divided
                                           : other_sort + "apply = 'rows'\n";
        const std::string cut = "[[stage]]\nuse = 'row_blocks'\ncount = 2\n[[stage]]\nuse = 'column_segmentation'\ncount = 2\n";
        CHECK(reason_of(before + (std::string(layout) == "hbp" ? cut : "") + "[layout]\nuse = '" + layout + "'\n") ==
              "rows and columns have different orders");
    }
    CHECK(reason_of(nodes + other_sort + "key = 'span'\n" + in_blocks) == "row_sort: nodes are sorted by their columns");
    CHECK(reason_of(rcm + nodes + in_blocks) == "node_blocks: nodes are found in an order of the matrix");
    CHECK(reason_of(windows + rcm + in_blocks) == "cuthill_mckee: blocks are reordered twice");
    CHECK(reason_of(windows + by_degree + in_blocks) == "degree_sort: blocks are reordered twice");
    CHECK(reason_of(windows + other_sort + in_blocks) == "row_sort: blocks are reordered twice");
    CHECK(reason_of(windows + blocks + in_blocks) == "rcm_blocks: blocks are reordered twice");
}

}  // namespace workbench
