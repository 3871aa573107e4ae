// The only file that lists all stages and layouts; add new ones here.
#include "pipeline/catalogue/catalogue.hpp"

#include "core/input/generators/generators.hpp"
#include "kernels/formats/staircase_sell/length_groups.hpp"
#include "kernels/source/format_file.hpp"
#include "kernels/source/kernel_from_source.hpp"
#include "stages/beside/beside.hpp"
#include "stages/stages.hpp"
#include "workbench_layouts.hpp"  // kernels/formats/*/layout.hpp, found by CMake

namespace workbench {

const Catalogue& catalogue() {
    static const Catalogue all{
        {
            approximate_minimum_degree_stage(),
            bfs_blocks_stage(),
            colouring_stage(),
            column_segmentation_stage(),
            column_sort_stage(),
            cuthill_mckee_stage(),
            degree_sort_stage(),
            dynamic_program_groups_stage(),
            gorder_stage(),
            gray_stage(),
            imported_stage(),
            king_stage(),
            length_groups_stage(),
            louvain_stage(),
            metis_partition_stage(),
            multilevel_partition_stage(),
            natural_stage(),
            nested_dissection_stage(),
            node_blocks_stage(),
            nonlinear_hash_stage(),
            program_stage(),
            rabbit_order_stage(),
            random_order_stage(),
            rcm_blocks_stage(),
            row_blocks_stage(),
            row_sort_stage(),
            sloan_stage(),
            source_stage(),
            split_stage(),
            unite_stage(),
        },
        // clang-format off
        {
            banded_block_entry(),
            bccoo_entry(),
            biell_entry(),
            bijad_entry(),
            block_sell_entry(),
            bsr_entry(),
            coo_entry(),
            csc_entry(),
            csr_entry(),
            csr16_entry(),
            csr5_entry(),
            dasp_entry(),
            dia_entry(),
            ehyb_entry(),
            ell_entry(),
            ellr_entry(),
            halo_entry(),
            hbp_entry(),
            hola_entry(),
            hyb_entry(),
            jds_entry(),
            rows_entry(),
            segmented_entry(),
            sell_entry(),
            staircase_sell_entry(),
        },
        // clang-format on
        generators(),
        "csr",
        "cuthill_mckee",
        {"sell", "node_blocks", {{"metis", "metis_partition"}, {"multilevel", "multilevel_partition"}}},
        kernel_from_source,
        format_from_file,
    };
    return all;
}

}  // namespace workbench
