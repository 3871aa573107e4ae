#include <span>

#include "core/matrix/host_threads.hpp"
#include "kernels/device/host_loops.hpp"
#include "kernels/exchange/make_links.hpp"

namespace workbench {
namespace {

template <ValueType Value>
class HostExchange final : public Exchange<Value> {
public:
    HostExchange(const HaloPlan& plan, Ranks& ranks, Device& host)
        : ranks_(ranks),
          places_(plan.places),
          to_send_(host.allocate(plan.places.size() * sizeof(Value), "what other ranks need of x")),
          halo_(host.allocate(static_cast<std::size_t>(plan.halo) * sizeof(Value), "what is needed of other ranks' x")) {
        const auto bytes_of = [](const DeviceMemory& memory, const HaloPlan::Message& part) {
            return std::as_writable_bytes(std::span(memory.as<Value>() + part.first, static_cast<std::size_t>(part.count)));
        };
        for (const HaloPlan::Message& part : plan.send) outgoing_.push_back({part.rank, bytes_of(to_send_, part)});
        for (const HaloPlan::Message& part : plan.receive) incoming_.push_back({part.rank, bytes_of(halo_, part)});
    }

    void start(const Value* x) override {
        auto* const to_send = to_send_.as<Value>();
        const Index* const places = places_.data();
        Kokkos::parallel_for("pack_halo", Kokkos::RangePolicy<HostSpace, Kokkos::IndexType<std::size_t>>(0, places_.size()),
                             [=](std::size_t i) { to_send[i] = x[places[i]]; });
        ranks_.start(outgoing_, incoming_);
    }

    void finish() override { ranks_.finish(); }

    [[nodiscard]] const Value* halo() const override { return halo_.as<const Value>(); }

private:
    Ranks& ranks_;
    std::vector<Index> places_;
    DeviceMemory to_send_;
    DeviceMemory halo_;
    std::vector<Outgoing> outgoing_;
    std::vector<Incoming> incoming_;
};

class HostLinks final : public Links {
public:
    HostLinks(Ranks& ranks, Device& host) : ranks_(ranks), host_(host) {}

    [[nodiscard]] std::string engine() const override { return ranks_.engine(); }
    [[nodiscard]] int ranks() const override { return ranks_.size(); }

    [[nodiscard]] std::unique_ptr<Exchange<float>> make_exchange_f32(const HaloPlan& plan) override {
        return std::make_unique<HostExchange<float>>(plan, ranks_, host_);
    }
    [[nodiscard]] std::unique_ptr<Exchange<double>> make_exchange_f64(const HaloPlan& plan) override {
        return std::make_unique<HostExchange<double>>(plan, ranks_, host_);
    }

    void gather(const double* mine, double* all, int count) override {
        const auto own = static_cast<std::size_t>(count);
        ranks_.gather(std::span(mine, own), std::span(all, own * static_cast<std::size_t>(ranks_.size())));
    }

private:
    Ranks& ranks_;
    Device& host_;
};

}  // namespace

std::unique_ptr<Links> make_host_links(Ranks& ranks, Device& host) { return std::make_unique<HostLinks>(ranks, host); }

}  // namespace workbench
