// The presets of layout `rows` that have layouts of their own shapes, other than csr.
#include "kernels/common/storage/literature_sizes.hpp"
#include "kernels/formats/rows/build.hpp"

namespace workbench {

ParameterDeclaration order_parameter() {
    return {.name = "order",
            .type = ParameterType::choice,
            .default_value = "column_major",
            .words = {"column_major", "row_major"},
            .help = "which slots are neighbours: the k-th of all rows, or those of one row"};
}

LayoutEntry csr16_entry() {
    return preset<Csr16Layout, csr16_shape>(
               {.name = "csr16",
                .summary = "CSR with columns of 16 bits, counted from the first nonzero of their row",
                .source = "docs/new_format.md, which walks through it",
                .kernel_on_device = "lanes"})
        .host<RowsOfOneLane>("rows", "rows in parallel, in chunks to the next idle thread")
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
        .host<RowsOfOneLane>("rows", "blocks of rows in parallel, all slots of a row")
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
        .host<RowsOfOneLane>("rows", "rows in parallel, as many slots of each as it has nonzeros")
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
        .host<RowsOfOneLane>("rows", "blocks of rows in parallel, diagonal by diagonal")
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
