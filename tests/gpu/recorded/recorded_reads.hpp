// Products of kernels with loops of their own that record which thread reads which element of the layout's value arrays.
#pragma once

#include <vector>

#include "kernels/formats/bccoo/layout.hpp"
#include "kernels/formats/blocks/layout.hpp"
#include "kernels/formats/csr/layout.hpp"
#include "kernels/formats/csr5/layout.hpp"
#include "kernels/formats/dasp/layout.hpp"
#include "kernels/formats/ehyb/layout.hpp"
#include "kernels/formats/halo/layout.hpp"
#include "kernels/formats/hbp/layout.hpp"
#include "kernels/formats/hola/layout.hpp"

namespace workbench {

struct Recorded {
    int times = 0;    // how often the element was read
    int thread = -1;  // number in the grid of the last thread that read it
    int turn = -1;    // how many elements of the array this thread had read before

    friend bool operator==(const Recorded&, const Recorded&) = default;
};

struct RecordedArray {
    int array = 0;  // its number in Layout::fields()
    std::vector<Recorded> elements;
};
using RecordedArrays = std::vector<RecordedArray>;

[[nodiscard]] RecordedArrays record_bccoo(const BccooLayout<double>& layout, Device& device);
[[nodiscard]] RecordedArrays record_block_sell(const BlockSellLayout<double>& layout, Device& device);
[[nodiscard]] RecordedArrays record_csr_adaptive(const CsrLayout<double>& layout, Device& device);
[[nodiscard]] RecordedArrays record_csr_merge(const CsrLayout<double>& layout, Device& device);
[[nodiscard]] RecordedArrays record_csr5(const Csr5Layout<double>& layout, Device& device);
template <typename Shape>
[[nodiscard]] RecordedArrays record_dasp(const DaspLayout<double>& layout, Device& device);
[[nodiscard]] RecordedArrays record_ehyb(const EhybLayout<double>& layout, bool fused, Device& device);
[[nodiscard]] RecordedArrays record_halo(const HaloLayout<double>& layout, Device& device);
/// Kernel `fixed`, with chunk t dealt to warp t.
[[nodiscard]] RecordedArrays record_hbp(const HbpLayout<double>& layout, Device& device);
[[nodiscard]] RecordedArrays record_hola(const HolaLayout<double>& layout, Device& device);

}  // namespace workbench
