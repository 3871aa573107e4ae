// Sliced ELL on a GPU by the lengths of the rows. The program has the kernels for the arrays of layout `sell`; NVRTC compiles
// those for other slices when they are prepared.
#include "kernels/common/device_code/target_rows.cuh"
#include "kernels/formats/rows/by_lengths.cuh"
#include "kernels/formats/rows/variants.hpp"

namespace workbench {
namespace {

/// One thread per row of several parts.
template <typename Value>
__global__ void __launch_bounds__(threads_of_sell_block)
    add_sums(ArrayView<SellSums> rows, TargetRows target, const Value* __restrict__ sums, Value* __restrict__ y,
             bool accumulate) {
    const Offset number = static_cast<Offset>(blockIdx.x) * threads_of_sell_block + threadIdx.x;
    if (number >= rows.size()) return;
    const SellSums of = rows[number];
    Value sum = 0;
    for (Index part = 0; part < of.count; ++part) sum += sums[of.first + part];
    write_result(y + target[of.row], sum, accumulate);
}

/// A product on the stream. view: of SellWithLengths.
template <typename Value>
using LaunchByLengths = void (*)(const void* view, unsigned blocks, unsigned shared_bytes, TargetRows target, const Value* x,
                                 Value* y, Value* sums, bool accumulate, cudaStream_t stream);

template <typename Value, typename Stored>
void launch_by_lengths(const void* view, unsigned blocks, unsigned shared_bytes, TargetRows target, const Value* x, Value* y,
                       Value* sums, bool accumulate, cudaStream_t stream) {
    const auto& sell = *static_cast<const SellWithLengths<InStorage<Stored, ArrayView>>*>(view);
    with_sell_whole_rows(sell, [&]<typename Rows>(Rows) {
        sell_by_lengths::multiply_by_lengths<Rows>
            <<<blocks, threads_of_sell_block, shared_bytes, stream>>>(sell, target, x, y, sums, accumulate);
    });
    check_launch("sell");
}

/// null: the program has no kernel of the alternative.
template <typename Value, typename... Stored>
LaunchByLengths<Value> launch_of(std::size_t alternative, const std::variant<Stored...>*) {
    static constexpr LaunchByLengths<Value> launches[] = {launch_by_lengths<Value, Stored>...};
    return alternative < sizeof...(Stored) ? launches[alternative] : nullptr;
}

template <ValueType Value>
class SellByLengths final : public Kernel<Value> {
public:
    SellByLengths(SlicesByLengths&& slices, std::span<const Index> rows, Device& device)
        : stream_(cuda_device(device).stream()),
          slices_(std::move(slices)),
          rows_(device, rows, "sell"),
          summed_(device, slices_.long_rows.sums, "sell rows of several parts"),
          sums_(device.allocate(static_cast<std::size_t>(slices_.long_rows.sum_count()) * sizeof(Value), "sell sums")),
          launch_(launch_of<Value>(slices_.alternative, static_cast<decltype(SellArrays<Value>::stored)*>(nullptr))) {
        if (launch_ != nullptr || slices_.row_count == 0) return;
        const std::string name =
            with_types("sell_by_lengths::multiply_by_lengths", {slices_.schedule, slices_.type_of_arrays, type_name<Value>()});
        loaded_ = load_instance({"rows/by_lengths.cuh", name + ">"}, device);
    }

    void run(const Value* x, Value* y, bool accumulate) override {
        if (slices_.row_count == 0) return;
        const unsigned blocks =
            static_cast<unsigned>(slices_.parts.size()) + blocks_for(slices_.row_count, threads_of_sell_block);
        TargetRows target = rows_.view();
        Value* sums = sums_.as<Value>();
        if (loaded_) {
            void* arguments[] = {slices_.arrays.view.data(), &target, &x, &y, &sums, &accumulate};
            loaded_->launch(blocks, threads_of_sell_block, slices_.shared_bytes, arguments);
        } else {
            launch_(slices_.arrays.view.data(), blocks, slices_.shared_bytes, target, x, y, sums, accumulate, stream_);
        }
        if (summed_.size() == 0) return;
        add_sums<<<blocks_for(summed_.size(), threads_of_sell_block), threads_of_sell_block, 0, stream_>>>(
            {summed_.data(), summed_.size()}, target, static_cast<const Value*>(sums), y, accumulate);
        check_launch("sell sums");
    }

    [[nodiscard]] std::optional<std::int64_t> own_bytes_to_move() const override { return slices_.bytes; }

private:
    cudaStream_t stream_;
    SlicesByLengths slices_;
    OwnedTargetRows rows_;
    DeviceArray<SellSums> summed_;
    DeviceMemory sums_;  // of the parts of rows of several parts
    LaunchByLengths<Value> launch_;
    std::unique_ptr<LoadedKernel> loaded_;
};

}  // namespace

template <ValueType Value>
std::unique_ptr<Kernel<Value>> kernel_by_lengths(SlicesByLengths&& slices, std::span<const Index> rows_of_y, Device& device) {
    return std::make_unique<SellByLengths<Value>>(std::move(slices), rows_of_y, device);
}

template std::unique_ptr<Kernel<float>> kernel_by_lengths(SlicesByLengths&&, std::span<const Index>, Device&);
template std::unique_ptr<Kernel<double>> kernel_by_lengths(SlicesByLengths&&, std::span<const Index>, Device&);

}  // namespace workbench
