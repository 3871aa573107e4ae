// Links between GPUs over NCCL, if present: with one rank, which may send to itself.
#include <doctest/doctest.h>

#include <vector>

#include "core/contract/errors.hpp"
#include "kernels/device/cuda_device.hpp"
#include "kernels/exchange/make_links.hpp"
#include "kernels/gpu/gpu.hpp"
#include "support/layouts/across_ranks_checks.hpp"
#include "support/message_of.hpp"
#include "support/one_rank.hpp"

namespace workbench {
namespace {

/// Two ranks with the same data.
class SameGpu final : public OneRank {
public:
    [[nodiscard]] int size() const override { return 2; }
    [[nodiscard]] std::vector<Bytes> gather(std::span<const std::byte> mine) override {
        return std::vector<Bytes>(2, Bytes(mine.begin(), mine.end()));
    }
};

}  // namespace

TEST_SUITE("nccl") {
    TEST_CASE("a GPU linked with itself") {
        choose_cuda_device(0);
        const auto device = make_cuda_device();
        OneRank ranks;
        const auto links = make_cuda_links(ranks, *device);
        CHECK(links->engine().starts_with("NCCL 2."));
        CHECK_EQ(links->ranks(), 1);
        MESSAGE(links->engine());

        const DeviceMemory mine = to_device(*device, std::span<const double>(std::vector<double>{1.5, -2, 3}), "a test");
        const DeviceMemory all = device->allocate(mine.bytes(), "a test");
        device->zero(all.address(), all.bytes());
        links->gather(mine.as<const double>(), all.as<double>(), 3);
        std::vector<double> found(3);
        device->download(all, std::as_writable_bytes(std::span(found)));
        CHECK(found == std::vector<double>{1.5, -2, 3});

        check_exchange_with_itself(*device, *links);
        check_cg_across_ranks_as_cg(*device, *links);
        check_limits_and_restarts_across_ranks(*device, *links);
        check_ends_across_ranks(*device, *links);
    }

    TEST_CASE("a sum during an exchange") {
        const auto device = make_cuda_device();
        OneRank ranks;
        const auto links = make_cuda_links(ranks, *device);
        HaloPlan plan;
        plan.halo = 1 << 20;
        plan.receive = plan.send = {{0, 0, plan.halo}};
        for (Index i = 0; i < plan.halo; ++i) plan.places.push_back(plan.halo - 1 - i);
        const auto exchange = links->make_exchange<double>(plan);
        std::vector<double> values(plan.halo);
        for (Index i = 0; i < plan.halo; ++i) values[i] = i;
        const DeviceMemory x = to_device(*device, std::span<const double>(values), "a test");
        const DeviceMemory all = device->allocate(sizeof(double), "a test");
        const DeviceMemory seen = device->allocate(x.bytes(), "a test");
        const DeviceMemory places = to_device(*device, std::span<const Index>(plan.places), "a test");
        for (int time = 0; time < 20; ++time) {
            exchange->start(x.as<const double>());
            links->gather(x.as<const double>() + 7, all.as<double>(), 1);
            exchange->finish();
            device->scatter(exchange->halo(), places.as<const Index>(), plan.halo, seen.as<double>());
        }
        double sum = 0;
        device->download(all, std::as_writable_bytes(std::span(&sum, 1)));
        CHECK_EQ(sum, 7);
        std::vector<double> found(values.size());
        device->download(seen, std::as_writable_bytes(std::span(found)));
        CHECK(found == values);
    }

    TEST_CASE("ranks that share a GPU are refused") {
        const auto device = make_cuda_device();
        SameGpu ranks;
        const std::string message = message_of<MachineError>([&] { (void)make_cuda_links(ranks, *device); });
        CHECK(message.starts_with("ranks 0 and 1 share one GPU ("));
        CHECK(message.ends_with("start one rank a GPU, or use the CPU"));
    }
}

}  // namespace workbench
