// What the devices of several ranks bring each other in a product and in a solve.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "pipeline/contract/device.hpp"
#include "pipeline/contract/precision.hpp"
#include "pipeline/contract/ranks.hpp"

namespace workbench {

/// Which elements of x a rank gives, and which it gets: its halo.
struct HaloPlan {
    /// A run of neighbouring places that goes to, or comes from, one other rank.
    struct Part {
        int rank = 0;
        Index first = 0;
        Index count = 0;  // at least 1
    };

    std::vector<Index> places;  // of x on this rank, in the order in which they are sent
    std::vector<Part> send;     // of places; the ranks ascend
    std::vector<Part> receive;  // of the halo; the ranks ascend
    Index halo = 0;             // elements that come in
};

/// Brings the halo of each product.
template <ValueType Value>
class Exchange {
public:
    Exchange() = default;
    Exchange(const Exchange&) = delete;
    Exchange& operator=(const Exchange&) = delete;
    virtual ~Exchange() = default;

    /// Called by all ranks. Takes x, on the device, as what the device was given so far leaves it; goes on beside what the
    /// device is given from now on. Does not wait for a GPU.
    virtual void start(const Value* x) = 0;
    /// What the device is given from now on finds the halo complete, and may change x.
    virtual void finish() = 0;
    /// [halo], on the device: always at the same place.
    [[nodiscard]] virtual const Value* halo() const = 0;
};

/// A rank's device as one of those of all ranks.
class Links {
public:
    Links() = default;
    Links(const Links&) = delete;
    Links& operator=(const Links&) = delete;
    virtual ~Links() = default;

    /// "MPI", "NCCL 2.28.3".
    [[nodiscard]] virtual std::string engine() const = 0;
    [[nodiscard]] virtual int ranks() const = 0;  // how many

    /// The plan is copied. Called by all ranks. Throws MachineError.
    [[nodiscard]] virtual std::unique_ptr<Exchange<float>> make_exchange_f32(const HaloPlan& plan) = 0;
    [[nodiscard]] virtual std::unique_ptr<Exchange<double>> make_exchange_f64(const HaloPlan& plan) = 0;

    template <ValueType Value>
    [[nodiscard]] std::unique_ptr<Exchange<Value>> make_exchange(const HaloPlan& plan) {
        if constexpr (sizeof(Value) == sizeof(float)) {
            return make_exchange_f32(plan);
        } else {
            return make_exchange_f64(plan);
        }
    }

    /// Called by all ranks. mine: [count], all: [ranks * count], in the order of the ranks, both on the device; in order with
    /// its other work. Does not wait for a GPU.
    virtual void gather(const double* mine, double* all, int count) = 0;
};

}  // namespace workbench
