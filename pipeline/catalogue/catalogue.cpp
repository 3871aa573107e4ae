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
namespace {

/// Catalogue::calibration
std::vector<std::string> calibration() {
    const std::string sorted_windows = "[[stage]]\nuse = 'row_sort'\nwithin = 'window'\nwindow = 512\n";
    const std::string sorted_rows = "[[stage]]\nuse = 'row_sort'\napply = 'rows'\n";
    return {
        "[layout]\nuse = 'csr'\n",
        "[layout]\nuse = 'sell'\nslice_height = 32\n",
        "[layout]\nuse = 'coo'\n",
        sorted_windows + "[layout]\nuse = 'sell'\nslice_height = 'auto'\ncolumn_index = 'u16'\n",
        "[layout]\nuse = 'ell'\n",
        "[layout]\nuse = 'csr5'\n",
        "[layout]\nuse = 'bsr'\nblock_size = 'auto'\n",
        "[layout]\nuse = 'hola'\n",
        "[layout]\nuse = 'dasp'\n",
        "[[stage]]\nuse = 'node_blocks'\n[layout]\nuse = 'block_sell'\n",
        "[layout]\nuse = 'bccoo'\nblock_height = 1\nblock_width = 1\n",
        "[layout]\nuse = 'csc'\n",
        "[layout]\nuse = 'ellr'\n",
        sorted_rows + "[layout]\nuse = 'jds'\n",
        "[[stage]]\nuse = 'split'\nby = 'first_k'\n[layout]\nuse = 'hyb'\n",
        "[[stage]]\nuse = 'row_sort'\nwithin = 'window'\nwindow = 32\napply = 'rows'\n[layout]\nuse = 'biell'\nstrip_height = "
        "32\n",
        "[layout]\nuse = 'dia'\n",
        "[layout]\nuse = 'csr16'\n"};
}

}  // namespace

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
        "CSR",
        "RCM",
        calibration(),
    };
    return all;
}

}  // namespace workbench
