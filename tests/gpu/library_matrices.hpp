// What the GPU tests of the library's operators and solvers share.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <spmv_workbench/spmv_workbench.hpp>

#include "core/contract/device.hpp"
#include "core/matrix/csr_matrix.hpp"
#include "kernels/device/cuda_device.hpp"

namespace workbench {

using spmv_workbench::on_device;

inline spmv_workbench::Recipe recipe_of(const std::string& text) { return spmv_workbench::Recipe::from_text(text); }

/// Recipes that keep the input's order, that permute rows and columns alike, that permute rows only, and with several layouts
/// and a branch of the device.
inline const std::vector<std::string> recipes{
    "[layout]\nuse = \"csr\"\n",
    "[[stage]]\nuse = \"random_order\"\n[layout]\nuse = \"sell\"\n",
    "[[stage]]\nuse = \"row_sort\"\napply = \"rows\"\n[layout]\nuse = \"ellr\"\nslots_per_nonzero = 1000\n",
    "[[stage]]\nuse = \"split\"\nby = \"row_length\"\nlonger_than = 3\n"
    "[[stage]]\nuse = \"row_sort\"\nshare = \"short\"\n[kernel]\nside_by_side = true\n"
    "[[layout]]\nshare = \"short\"\nuse = \"jds\"\n[[layout]]\nshare = \"long\"\nuse = \"csr\"\n",
};

/// A matrix in GPU memory, with ascending columns.
template <typename Value>
struct MatrixThere {
    MatrixThere(Device& device, const CsrMatrix& matrix)
        : rows(matrix.rows),
          columns(matrix.columns),
          nonzeros(matrix.values.size()),
          offsets(to_device(device, std::span<const Offset>(matrix.row_offsets), "row offsets")),
          indices(to_device(device, std::span<const Index>(matrix.column_indices), "columns")) {
        const std::vector<Value> rounded(matrix.values.begin(), matrix.values.end());
        values = to_device(device, std::span(rounded), "values");
    }
    /// With offsets of 32 bits.
    [[nodiscard]] spmv_workbench::DeviceCsrView<Value> short_view(Device& device, const CsrMatrix& matrix) {
        const std::vector<std::int32_t> narrow(matrix.row_offsets.begin(), matrix.row_offsets.end());
        short_offsets = to_device(device, std::span(narrow), "row offsets");
        return {rows, columns, on_device(short_offsets.as<const std::int32_t>(), narrow.size()),
                on_device(indices.as<const std::int32_t>(), nonzeros), on_device(values.template as<const Value>(), nonzeros)};
    }
    [[nodiscard]] spmv_workbench::DeviceCsrView<Value> view() const {
        return {rows, columns, on_device(offsets.as<const std::int64_t>(), static_cast<std::size_t>(rows) + 1),
                on_device(indices.as<const std::int32_t>(), nonzeros), on_device(values.template as<const Value>(), nonzeros)};
    }

    Index rows;
    Index columns;
    std::size_t nonzeros;
    DeviceMemory offsets, short_offsets, indices, values;
};

/// Column j of `count`, row by row.
template <typename Value>
[[nodiscard]] std::vector<Value> column_of(const std::vector<Value>& all, int j, int count) {
    std::vector<Value> one;
    for (std::size_t i = j; i < all.size(); i += count) one.push_back(all[i]);
    return one;
}

inline spmv_workbench::Options on_stream_of(Device& device) {
    spmv_workbench::Options options;
    options.device = spmv_workbench::Device::gpu;
    options.stream = stream_of(device);
    return options;
}

inline const std::string prepared_there =
    "[[stage]]\nuse = \"cuthill_mckee\"\n[[stage]]\nuse = \"row_sort\"\nwithin = \"window\"\nwindow = 64\n"
    "[layout]\nuse = \"sell\"\nslice_height = \"auto\"\ncolumn_index = \"u16\"\n";

inline const std::string node_blocks_there =
    "[[stage]]\nuse = \"node_blocks\"\n[[stage]]\nuse = \"cuthill_mckee\"\n[layout]\nuse = \"block_sell\"\n";

inline const std::string rcm_blocks_there =
    "[[stage]]\nuse = \"rcm_blocks\"\nparts = 3\n"
    "[[stage]]\nuse = \"row_sort\"\nwithin = \"partition\"\nkey = \"nonzeros_inside_partition\"\n"
    "[[stage]]\nuse = \"split\"\nby = \"inside_partition\"\n"
    "[[stage]]\nid = \"sort_outside\"\nuse = \"row_sort\"\nshare = \"outside\"\n[layout]\nuse = \"ehyb\"\n";

}  // namespace workbench
