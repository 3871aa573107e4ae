// Layout `rows`, and `sell`, which is its slices.
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
        .with({host_kernel_of_rows("slices", "slices in parallel, the rows of a slice side by side")})
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
        .with({host_kernel_of_rows("rows", "blocks of rows in parallel")})
        .cuda<AnyRowsKernel>(
            "rows",
            "threads_per_row threads per row, or as many as suit the mean length; in slices, blocks of threads "
            "for rows longer than split_length",
            walk_any_rows)
        .vectors_on_gpu<RowsOfVectors>();
}

}  // namespace workbench
