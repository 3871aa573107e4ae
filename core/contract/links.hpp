// Communication between the devices of several ranks in products and solves.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/contract/device.hpp"
#include "core/contract/precision.hpp"
#include "core/contract/ranks.hpp"
#include "core/matrix/interface.hpp"

namespace workbench {

/// The elements of x that a rank sends, and those that it receives: its halo.
struct HaloPlan {
    /// A run of neighbouring places that goes to, or comes from, one other rank.
    struct Message {
        int rank = 0;
        Index first = 0;
        Index count = 0;  // at least 1
    };

    std::vector<Index> places;     // of x on this rank, in the order in which they are sent
    std::vector<Message> send;     // of places; the ranks ascend
    std::vector<Message> receive;  // of the halo; the ranks ascend
    Index halo = 0;                // elements that come in
};

/// Exchanges the halo of each product.
template <ValueType Value>
class Exchange : public Interface {
public:
    /// Collective. Sends elements of x (on the device) as the earlier work of the device leaves it, concurrently with its later
    /// work. Does not wait for a GPU.
    virtual void start(const Value* x) = 0;
    /// Later work of the device starts after the halo is complete, and may change x.
    virtual void finish() = 0;
    /// [halo], on the device, always at the same address.
    [[nodiscard]] virtual const Value* halo() const = 0;
};

/// The links from the device of a rank to those of the other ranks.
class Links : public Interface {
public:
    /// "MPI", "NCCL 2.28.3".
    [[nodiscard]] virtual std::string engine() const = 0;
    [[nodiscard]] virtual int ranks() const = 0;

    /// Collective. Copies the plan. Throws MachineError.
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

    /// Collective. mine [count] and all [ranks * count], in the order of the ranks, are on the device. In order with its other
    /// work; does not wait for a GPU.
    virtual void gather(const double* mine, double* all, int count) = 0;
};

}  // namespace workbench
