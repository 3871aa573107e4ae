#include "gpu/recorded/recording.cuh"
#include "kernels/formats/hbp/kernel.cuh"

namespace workbench {

RecordedArrays record_hbp(const HbpLayout<double>& layout, Device& device) {
    return std::visit(
        [&](const auto& own) {
            const auto stored = copy_to(device, own, "hbp");
            const unsigned blocks = blocks_for(own.chunk_count(), hbp::warps_per_block);
            HostArray<Index> first_chunks;
            for (Index warp = 0; warp <= static_cast<Index>(blocks * hbp::warps_per_block); ++warp) {
                first_chunks.push_back(std::min(warp, own.chunk_count()));
            }
            const DeviceArray<Index> dealt(device, first_chunks, "hbp deals");
            const Recording recording(device, stored, Offset{blocks} * hbp::threads_per_block);
            const DeviceMemory x = to_device(device, std::span<const double>(std::vector<double>(own.column_count)), "x");
            const DeviceMemory results = device.allocate(layout.partial_results() * sizeof(double), "hbp partial results");
            const DeviceMemory y = device.allocate(own.row_count * sizeof(double), "y");
            hbp::multiply_chunks<false><<<blocks, hbp::threads_per_block, 0, cuda_device(device).stream()>>>(
                view_of(stored), recording.load(), hbp::Deals{dealt.data(), own.chunk_count(), nullptr}, x.as<double>(),
                results.as<double>(), y.as<double>(), false);
            check_launch("hbp recorded");
            return recording.read();
        },
        layout.stored);
}

}  // namespace workbench
