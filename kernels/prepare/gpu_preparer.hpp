// Preprocessing of stages and layouts on a GPU.
#pragma once

#include <memory>

#include "core/matrix/preparer.hpp"

namespace workbench {

/// A preparer on the calling thread's GPU with its own stream and memory; null if there is no GPU (cuda_absence_reason). It
/// runs every task of Preparer on fewer than 2^31 nonzeros whose arrays fit into free memory, and hash tables of up to
/// most_rows_of_hash_table rows; the host runs the rest.
[[nodiscard]] std::unique_ptr<Preparer> make_gpu_preparer();

inline constexpr Index most_rows_of_hash_table = 8192;  // a table must fit into a block's shared memory

}  // namespace workbench
