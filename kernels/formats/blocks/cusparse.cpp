// cuSPARSE's product on the arrays of bsr.
#include <fmt/format.h>

#include "core/contract/errors.hpp"
#include "kernels/formats/blocks/layout.hpp"
#include "kernels/vendor/cusparse.hpp"

namespace workbench {
namespace {

template <ValueType Value>
std::unique_ptr<Kernel<Value>> prepare(const Layout<Value>& layout, Device& device) {
    require_cusparse(layout.nonzeros());
    const auto* const full = std::get_if<0>(&dynamic_cast<const BsrLayout<Value>&>(layout).stored);
    if (full == nullptr) throw Unsuitable("cuSPARSE takes values in full only (values)");
    const auto& bsr = *full;
    const Index size = bsr.block_size;
    if (bsr.row_count % size != 0 || bsr.column_count % size != 0) {
        throw Unsuitable(
            fmt::format("cuSPARSE takes whole blocks only, and blocks of {} x {} do not divide {} x {} "
                        "(block_size)",
                        size, size, bsr.row_count, bsr.column_count));
    }
    return prepare_cusparse<Value>(
        {.format = CusparseFormat::bsr,
         .rows = bsr.row_count,
         .columns = bsr.column_count,
         .nonzeros = layout.nonzeros(),
         .size = size,
         .offsets = to_device(device, std::span(bsr.block_offsets), "block offsets for cuSPARSE"),
         .column_indices = to_device(device, std::span(bsr.block_columns), "block columns for cuSPARSE"),
         .values = to_device(device, std::span(bsr.values), "values for cuSPARSE")},
        device);
}

}  // namespace

std::vector<KernelEntry> bsr_cusparse_kernels() {
    return {{"bsr_alg1",
             Backend::cusparse,
             "cusparseSpMV on the same blocks, CUSPARSE_SPMV_BSR_ALG1",
             {prepare<float>, prepare<double>}}};
}

}  // namespace workbench
