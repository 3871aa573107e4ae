#include "kernels/common/entry/cuda_loop.cuh"
#include "kernels/common/entry/run_time_kernel.hpp"
#include "kernels/formats/csr/merge.cuh"

namespace workbench {
namespace {

/// Y = A X by the kernel of merge_vectors.cuh.
template <ValueType Value, typename Stored>
class MergeOfVectors final : public Kernel<Value> {
public:
    MergeOfVectors(const CsrLayout<Value>& layout, const Stored& csr, int vectors, Device& device)
        : stream_(cuda_device(device).stream()),
          shape_(merge_groups(vectors, sizeof(Value))),
          shares_{layout.rows(), layout.nonzeros(), shape_.size()},
          elements_of_y_(Offset{layout.rows()} * vectors),
          bytes_(bytes_with_vectors(layout, {}, vectors) + (shares_.count() + 1) * static_cast<std::int64_t>(sizeof(Index)) +
                 Carries<Value>::bytes(shares_.count(), vectors)),
          csr_(copy_to(device, csr, "csr")),
          first_rows_(device.allocate((shares_.count() + 1) * sizeof(Index), "csr merge first rows")),
          carries_(device, shares_.count(), vectors, "csr merge"),
          loop_(merge_instance<InStorage<Stored, ArrayView>, Value>(vectors), device) {
        csr_merge::find_first_rows(csr_.row_offsets.data(), shares_, first_rows_.as<Index>(), stream_);
    }

    void run(const Value* x, Value* y, bool accumulate) override {
        require_alignment_of_vectors(x, y);
        if (shares_.count() == 0) return;
        const auto csr = view_of(csr_);
        loop_.launch(shares_.count(), shape_.threads, bytes_of_dictionary(csr.values), csr, first_rows_.as<const Index>(), x, y,
                     carries_.view(), accumulate);
        if (shares_.count() > 1) carries_.add_to(y, elements_of_y_, stream_);
    }

    [[nodiscard]] std::optional<std::int64_t> own_bytes_to_move() const override { return bytes_; }

private:
    cudaStream_t stream_;
    MergeGroups shape_;
    MergeShares shares_;
    Offset elements_of_y_;
    std::int64_t bytes_;
    InStorage<Stored, DeviceArray> csr_;
    DeviceMemory first_rows_;
    Carries<Value> carries_;
    RunTimeLoop loop_;
};

}  // namespace

template <ValueType Value>
struct CsrMerge {
    static constexpr bool divides_rows = true;

    static std::unique_ptr<Kernel<Value>> prepare(const CsrLayout<Value>& layout, Device& device) {
        return std::make_unique<csr_merge::MergeKernel<Value>>(layout, device);
    }
    static std::unique_ptr<Kernel<Value>> prepare_vectors(const CsrLayout<Value>& layout, int vectors, Device& device) {
        return with_stored(layout, [&]<typename Stored>(const Stored& csr) -> std::unique_ptr<Kernel<Value>> {
            return std::make_unique<MergeOfVectors<Value, Stored>>(layout, csr, vectors, device);
        });
    }
};

template struct CudaLoop<CsrLayout, CsrMerge>;

}  // namespace workbench
