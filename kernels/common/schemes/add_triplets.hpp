// The product of triplets with x on the host, for the Kokkos kernels of layouts that store triplets.
#pragma once

#include <algorithm>

#include "kernels/common/schemes/triplets.hpp"
#include "kernels/device/host_loops.hpp"

namespace workbench {

/// y += A x. Threads take runs of triplets and add the sum of each row atomically, since a row may belong to two runs.
template <ValueType Value>
void add_triplets(const auto& triplets, const Value* x, Value* y) {
    constexpr Offset run = 4096;
    const Index* rows = triplets.row_indices.data();
    const Index* columns = triplets.column_indices.data();
    const auto& values = triplets.values;
    const auto count = static_cast<Offset>(values.size());
    for_each_in_parallel((count + run - 1) / run, 1, [&](std::int64_t number) {
        const Offset end = std::min((number + 1) * run, count);
        for (Offset i = number * run; i < end;) {
            const Index row = rows[i];
            Value sum = 0;
            for (; i < end && rows[i] == row; ++i) sum += static_cast<Value>(values[i]) * x[columns[i]];
            add_atomically(y, row, sum);
        }
    });
}

}  // namespace workbench
