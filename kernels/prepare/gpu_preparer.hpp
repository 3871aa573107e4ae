// The work of stages and layouts on a GPU.
#pragma once

#include <memory>

#include "pipeline/matrix/preparer.hpp"

namespace workbench {

/// On the calling thread's GPU, with a stream and memory of its own; null where there is none (cuda_absence_reason).
/// It takes every task of Preparer on fewer than 2^31 nonzeros whose arrays fit into its free memory, hash tables of up to
/// most_rows_of_hash_table rows; the rest it leaves to the host.
[[nodiscard]] std::unique_ptr<Preparer> make_gpu_preparer();

inline constexpr Index most_rows_of_hash_table = 8192;  // a table lies in a block's shared memory

}  // namespace workbench
