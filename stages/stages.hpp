// The stages of this folder, one file each. pipeline/catalogue lists them.
#pragma once

#include "core/contract/stage.hpp"

namespace workbench {

[[nodiscard]] StageEntry approximate_minimum_degree_stage();
[[nodiscard]] StageEntry bfs_blocks_stage();
[[nodiscard]] StageEntry colouring_stage();
[[nodiscard]] StageEntry column_segmentation_stage();
[[nodiscard]] StageEntry column_sort_stage();
[[nodiscard]] StageEntry cuthill_mckee_stage();
[[nodiscard]] StageEntry degree_sort_stage();
[[nodiscard]] StageEntry dynamic_program_groups_stage();
[[nodiscard]] StageEntry gorder_stage();
[[nodiscard]] StageEntry gray_stage();
[[nodiscard]] StageEntry king_stage();
[[nodiscard]] StageEntry louvain_stage();
[[nodiscard]] StageEntry metis_partition_stage();
[[nodiscard]] StageEntry multilevel_partition_stage();
[[nodiscard]] StageEntry natural_stage();
[[nodiscard]] StageEntry nested_dissection_stage();
[[nodiscard]] StageEntry node_blocks_stage();
[[nodiscard]] StageEntry nonlinear_hash_stage();
[[nodiscard]] StageEntry rabbit_order_stage();
[[nodiscard]] StageEntry random_order_stage();
[[nodiscard]] StageEntry rcm_blocks_stage();
[[nodiscard]] StageEntry row_blocks_stage();
[[nodiscard]] StageEntry row_sort_stage();
[[nodiscard]] StageEntry sloan_stage();
[[nodiscard]] StageEntry split_stage();
[[nodiscard]] StageEntry unite_stage();

}  // namespace workbench
