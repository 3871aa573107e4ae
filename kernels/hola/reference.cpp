#include "kernels/device/host_loops.hpp"
#include "kernels/device/prepare.hpp"
#include "kernels/hola/layout.hpp"

namespace workbench {
namespace {

/// Shares in parallel, like the thread blocks of the CUDA kernel: each writes the rows that end in it, and keeps its sum of the
/// next one, which is added when all shares are done. So no two threads write a row.
template <ValueType Value>
class HolaShares final : public Kernel<Value> {
public:
    explicit HolaShares(const HolaLayout<Value>& layout) : hola_(layout), open_(layout.shares()) {}

    void run(const Value* x, Value* y, bool accumulate) override {
        const Offset size = hola_.nonzeros_per_share();
        for_each_in_parallel(hola_.shares(), 1, [&](std::int64_t number) {
            const HolaShare share = share_of(hola_, number, size);
            open_[number] = 0;
            for (Index i = 0; i < share.pieces(); ++i) {
                const HolaPiece piece = piece_of(hola_, share, i, PlainLoad{});
                Value sum = 0;
                for (Offset k = share.first + piece.begin; k < share.first + piece.end; ++k) {
                    sum += hola_.values[k] * x[hola_.column_indices[k]];
                }
                if (i < share.rows) {
                    put(y, share.first_row + i, sum, accumulate);
                } else {
                    open_[number] = sum;
                }
            }
        });
        for (Offset number = 0; number + 1 < hola_.shares(); ++number) y[hola_.first_rows[number + 1]] += open_[number];
    }

    [[nodiscard]] std::optional<std::int64_t> own_bytes_to_move() const override { return hola_.bytes_of_product(); }

private:
    const HolaLayout<Value>& hola_;
    HostArray<Value> open_;  // [shares] the sum of the row that continues in the next share
};

}  // namespace

KernelEntry hola_host_kernel() {
    return {.name = "shares",
            .backend = Backend::kokkos,
            .summary = "equal shares of the nonzeros in parallel, then the rows that cross shares",
            .prepare = prepare_as<HolaShares, HolaLayout>()};
}

}  // namespace workbench
