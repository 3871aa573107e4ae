// Layout `rows` and its presets, without their kernels of the host (host.cpp).
#include "kernels/common/storage/literature_sizes.hpp"
#include "kernels/formats/rows/build.hpp"

namespace workbench {
namespace {

ParameterDeclaration split_length_parameter() {
    return integer_parameter("split_length", by_default(std::int64_t{tuned::sell_split_length}),
                             between(1, 1048576, "nonzeros"),
                             "with threads_per_row = auto, rows of more nonzeros are split among the threads of one or "
                             "several blocks of a GPU");
}

}  // namespace

ParameterDeclaration order_parameter() {
    return {.name = "order",
            .type = ParameterType::choice,
            .default_value = "column_major",
            .words = {"column_major", "row_major"},
            .help = "which slots are neighbours: the k-th of all rows, or those of one row"};
}

template struct RowsLayout<float, decltype(AnyRowsLayout<float>::stored)>;
template struct RowsLayout<double, decltype(AnyRowsLayout<double>::stored)>;

LayoutEntry sell_entry() {
    return format_of_rows<AnyRowsLayout, named_shape>(
               {.name = "sell",
                .summary = "sliced ELL: slices of equal height, each padded to its longest row and stored column by column",
                .source = "Monakov, Lokhmotov and Avetisyan, 'Automatically tuning sparse matrix-vector multiplication for GPU "
                          "architectures' (2010)",
                .examples = {"\n[layout]\nuse = \"sell\"\nslice_height = 2\n"},
                .parameters =
                    {integer_parameter("slice_height", by_default(std::int64_t{32}), between(1, 65536, "rows", {"auto"}),
                                       "rows stored together (the C of SELL-C-sigma); 32 is a warp; auto: the rows of a warp, "
                                       "which are fewer if several threads share a row (more than 20 nonzeros per row on "
                                       "average)"),
                     integer_parameter("threads_per_row", by_default(std::string("auto")), between(1, 32, "threads", {"auto"}),
                                       "threads of a GPU that share a row, a power of two: a warp has 32 / threads_per_row "
                                       "rows, and reads neighbouring slots if slice_height is that number; auto: chosen by "
                                       "slice_height, two in slices of 32 long rows, otherwise one, and blocks of threads for "
                                       "rows longer than split_length"),
                     split_length_parameter(),
                     {.name = "column_index",
                      .type = ParameterType::choice,
                      .default_value = std::string("u32"),
                      .words = {"u32", "u16", "word", "auto"},
                      .help = "u16: columns of 16 bits, counted from the first column of their slice; a slice that reaches "
                              "over more than 65536 keeps 32 bits; word: 32 bits for the column and the code of the value "
                              "(values = \"dictionary\"); auto: word for a dictionary, otherwise u16, or u32 if many slices "
                              "are wide; "
                              "it is the default for codes and values of fewer bytes",
                      .default_beside = columns_beside},
                     values_parameter({"full", "one", "dictionary", "f32", "auto", "rounded_f32", "rounded_bf16"})},
                .needs = needs_of_rows,
                .settle = settle_rows,
                .fields = field_lists_of<SellArrays>(),
                .storage_sizes = sell_storage_sizes,
                .on_device = rows_on_device,
                .kernel_on_device = "slices"})
        .with({host_kernel_of_rows<AnyRowsLayout>("slices", "slices in parallel, the rows of a slice side by side")})
        .cuda<AnyRowsKernel>("slices", "one or several threads per row; blocks of threads for rows longer than split_length",
                             walk_any_rows)
        .vectors_on_gpu<RowsOfVectors>()
        .with_cuda<sell_cusparse_kernels>();
}

LayoutEntry rows_entry() {
    return format_of_rows<AnyRowsLayout, named_shape>(
               {.summary = "rows of slots, by parameters that combine: csr, csr16, ell, ellr, jds and sell are combinations "
                           "of it",
                .source = "the sources of csr, csr16, ell, ellr, jds and sell",
                .examples = {"\n[[stage]]\nuse = \"row_sort\"\napply = \"rows\"\n\n[layout]\nuse = \"rows\"\nrows = "
                             "\"jagged\"\ncolumn_index = \"u16\"\n",
                             "\n[layout]\nuse = \"rows\"\nrows = \"slices\"\nslice_height = 2\nrow_lengths = true\n"},
                .parameters = {{.name = "rows",
                                .type = ParameterType::choice,
                                .default_value = "all",
                                .words = {"one", "all", "slices", "jagged"},
                                .help = "the rows that are stored together: one: row after row; all: every row has as many "
                                        "slots as the longest; slices: those of a slice have as many as its longest; "
                                        "jagged: diagonals of rows in descending length"},
                               integer_parameter("slice_height", by_default(std::int64_t{32}),
                                                 between(1, 65536, "rows", {"auto"}),
                                                 "with rows = \"slices\": rows stored together; auto: the rows of a warp"),
                               {.name = "column_index",
                                .type = ParameterType::choice,
                                .default_value = "u16",
                                .words = {"u32", "u16", "word", "auto"},
                                .help = "u16: columns of 16 bits, counted from the first column of their row; word and auto, "
                                        "with columns_from = \"slice\": as in layout sell"},
                               {.name = "columns_from",
                                .type = ParameterType::choice,
                                .default_value = "row",
                                .words = {"row", "slice"},
                                .help = "with rows = \"slices\": slice: columns count from the first column of their slice; "
                                        "a slice that reaches over more than 65536 keeps 32 bits"},
                               {.name = "row_lengths",
                                .type = ParameterType::boolean,
                                .default_value = false,
                                .help = "the length of each row is stored, so that padding is never read"},
                               order_parameter(),
                               integer_parameter(
                                   "threads_per_row", by_default(std::string("auto")), between(1, 32, "threads", {"auto"}),
                                   "with rows = \"one\", \"slices\" or order = \"row_major\": threads of a GPU that "
                                   "share a row, a power of two; auto: as many as suit the mean length or the slices, "
                                   "and blocks of threads for rows longer than split_length"),
                               split_length_parameter(),
                               slots_per_nonzero_parameter(10),
                               any_coding_parameter()},
                .needs = needs_of_rows,
                .settle = settle_rows,
                .on_device = rows_on_device,
                .kernel_on_device = "rows"})
        .with({host_kernel_of_rows<AnyRowsLayout>("rows", "blocks of rows in parallel")})
        .cuda<AnyRowsKernel>(
            "rows",
            "threads_per_row threads per row, or as many as suit the mean length; in slices, blocks of threads "
            "for rows longer than split_length",
            walk_any_rows)
        .vectors_on_gpu<RowsOfVectors>();
}

// ---- The presets that have layouts of their own shapes, other than csr.

LayoutEntry csr16_entry() {
    return preset<Csr16Layout, csr16_shape>(
               {.name = "csr16",
                .summary = "CSR with columns of 16 bits, counted from the first nonzero of their row",
                .source = "docs/new_format.md, which walks through it",
                .kernel_on_device = "lanes"})
        .with({host_kernel_of_rows<Csr16Layout>("rows", "rows in parallel, in chunks to the next idle thread")})
        .cuda<RowsOfThreads>("lanes", "one, four or eight threads per row, by the mean length")
        .vectors_on_gpu<RowsOfVectors>();
}

LayoutEntry ell_entry() {
    return preset<EllLayout, ell_shape>(
               {.name = "ell",
                .summary = "ELL: every row padded to the longest one, stored column by column or row by row",
                .source =
                    "Kincaid, Oppe and Young, 'ITPACKV 2D user's guide' (1989); kernels after Wikberg, 'Unstructured mesh FVM "
                    "with GPU' (2025), section 4.2.3",
                .examples = {"\n[layout]\nuse = \"ell\"\n", "\n[layout]\nuse = \"ell\"\norder = \"row_major\"\n"},
                .parameters = {order_parameter(), slots_per_nonzero_parameter(10)},
                .storage_sizes = ell_storage_sizes,
                .kernel_on_device = "rows"})
        .with({host_kernel_of_rows<EllLayout>("rows", "blocks of rows in parallel, all slots of a row")})
        .cuda<RowsOfOneLane>("rows", "one thread per row")
        .cuda<EllReduction, EllReduce>("reduce",
                                       "several threads per row, by the width, whose sums meet in shared memory or by shuffles")
        .cuda<EllEachSlot>("atomic", "one thread per slot, which adds to y atomically");
}

LayoutEntry ellr_entry() {
    return preset<EllrLayout, ellr_shape>(
               {.name = "ellr",
                .summary = "ELLPACK-R: ELL column by column with the length of each row, so that padding is never read",
                .source = "Vazquez, Ortega, Fernandez and Garzon, 'Improving the performance of the sparse matrix vector "
                          "product with "
                          "GPUs' (2010)",
                .parameters = {slots_per_nonzero_parameter(10)},
                .kernel_on_device = "rows"})
        .with({host_kernel_of_rows<EllrLayout>("rows", "rows in parallel, as many slots of each as it has nonzeros")})
        .cuda<RowsOfOneLane>("rows", "one thread per row, which stops at the end of the row");
}

LayoutEntry jds_entry() {
    using Row = RowLanes<jds_shape, 1>;
    return preset<JdsLayout, jds_shape, false>(
               {.name = "jds",
                .summary =
                    "jagged diagonals: of rows in descending length the first entries, then the second ones, without padding",
                .source = "Saad, 'Krylov subspace methods on supercomputers' (1989)",
                .examples = {"\n[[stage]]\nuse = \"row_sort\"\napply = \"rows\"\n\n[layout]\nuse = \"jds\"\n"}})
        .with({host_kernel_of_rows<JdsLayout>("rows", "blocks of rows in parallel, diagonal by diagonal")})
        .cuda<JdsStreaming, Row>("streaming",
                                 "one thread per row; streaming loads of the matrix, offsets of the diagonals through L1")
        .vectors_on_gpu<Row>()
        .cuda<JdsConstant, Row>(
            "constant",
            "one thread per row; streaming loads of the matrix, offsets of the diagonals in constant memory if they fit")
        .cuda<JdsUncached, Row>(
            "uncached",
            "as in the slides: ld.global.cv for the matrix, st.global.cs for y, offsets in constant memory if they fit");
}

}  // namespace workbench
