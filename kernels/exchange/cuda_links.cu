// A halo is packed on the device's stream, after the work that writes x, and is sent by NCCL on a separate stream. That stream
// has a high priority, so that NCCL's blocks get the first multiprocessors that become free while a product fills the GPU.
//
// For sums and for halos of up to a megabyte NCCL may use one block: several blocks take multiprocessors from the product and
// wait for each other. Large halos use a second communicator without that limit.
//
// Two communicators can deadlock: if each one's blocks run first on a different GPU, both wait for blocks that get no
// multiprocessor. Nor may one communicator work on two streams at once. So only one operation is in flight at any time: an
// exchange waits for the sums that were enqueued before it on the device's stream, and a sum waits for the exchange. Because
// all ranks make the same calls in the same order, no call can wait for a later one.
#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "kernels/device/cuda_check.cuh"
#include "kernels/device/cuda_device.cuh"
#include "kernels/device/cuda_stream.cuh"
#include "kernels/exchange/make_links.hpp"
#include "kernels/vendor/nccl.hpp"
#include "kernels/vendor/open_module.hpp"

namespace workbench {
namespace {

constexpr int threads_of_packing_block = 256;
constexpr double most_bytes_of_one_block = 1 << 20;  // per message

template <typename Value>
__global__ void pack_kernel(const Value* __restrict__ x, const Index* __restrict__ places, Index count,
                            Value* __restrict__ packed) {
    const Offset i = static_cast<Offset>(blockIdx.x) * threads_of_packing_block + threadIdx.x;
    if (i < count) packed[i] = x[places[i]];
}

OwnedCuda<cudaStream_t> make_urgent_stream() {
    int least = 0;
    int most = 0;
    check_cuda(cudaDeviceGetStreamPriorityRange(&least, &most), "cudaDeviceGetStreamPriorityRange");
    cudaStream_t stream = nullptr;
    check_cuda(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, most), "cudaStreamCreateWithPriority");
    return OwnedCuda<cudaStream_t>(stream);
}

const NcclModule& open_module() {
    const ModuleFunction found = find_in_module(nccl_module_file, nccl_module_function);
    if (found.address == nullptr) throw MachineError("NCCL is not available: " + found.absence);
    return *reinterpret_cast<GetNcclModule>(found.address)();
}

/// Orders the operations of the communicators over the streams.
class NcclSequence {
public:
    NcclSequence(CudaDevice& device, std::unique_ptr<NcclCommunicator> narrow) : device_(device), narrow_(std::move(narrow)) {}

    /// The communicator for large messages.
    [[nodiscard]] bool is_wide() const { return wide_ != nullptr; }
    void widen(std::unique_ptr<NcclCommunicator> wide) { wide_ = std::move(wide); }

    /// The messages wait for all work enqueued on the device so far. Later work is enqueued after them without waiting for
    /// their end: a block of NCCL needs most of a multiprocessor and finds none once the blocks of a product occupy all of
    /// them.
    void start(std::span<const NcclMessage> outgoing, std::span<const NcclMessage> incoming, bool large) {
        under_way_ = true;
        wait_for(stream_.get(), device_.stream(), event_.get());
        check_cuda(cudaEventRecord(begun_.get(), stream_.get()), "cudaEventRecord");
        (large ? *wide_ : *narrow_).send_and_receive(outgoing, incoming, stream_.get());
        check_cuda(cudaStreamWaitEvent(device_.stream(), begun_.get(), 0), "cudaStreamWaitEvent");
    }

    void finish() {
        if (!under_way_) return;
        under_way_ = false;
        wait_for(device_.stream(), stream_.get(), event_.get());
    }

    void gather(const double* mine, double* all, int count) {
        if (under_way_) wait_for(device_.stream(), stream_.get(), event_.get());
        narrow_->gather(mine, all, count, device_.stream());
    }

private:
    CudaDevice& device_;
    OwnedCuda<cudaStream_t> stream_ = make_urgent_stream();
    OwnedCuda<cudaEvent_t> event_ = make_event();
    OwnedCuda<cudaEvent_t> begun_ = make_event();
    bool under_way_ = false;
    std::unique_ptr<NcclCommunicator> narrow_;  // destroyed first, because their destructors wait for work in flight
    std::unique_ptr<NcclCommunicator> wide_;
};

template <ValueType Value>
class CudaExchange final : public Exchange<Value> {
public:
    /// `large`: uses the communicator for large messages.
    CudaExchange(const HaloPlan& plan, CudaDevice& device, NcclSequence& line, bool large)
        : device_(device),
          line_(line),
          large_(large),
          count_(static_cast<Index>(plan.places.size())),
          places_(to_device(device, std::span(plan.places), "which elements of x other ranks need")),
          to_send_(device.allocate(plan.places.size() * sizeof(Value), "what other ranks need of x")),
          halo_(device.allocate(static_cast<std::size_t>(plan.halo) * sizeof(Value), "what is needed of other ranks' x")) {
        const auto message = [](const DeviceMemory& memory, const HaloPlan::Message& part) {
            return NcclMessage{part.rank, memory.as<std::byte>() + static_cast<std::size_t>(part.first) * sizeof(Value),
                               static_cast<std::size_t>(part.count) * sizeof(Value)};
        };
        for (const HaloPlan::Message& part : plan.send) outgoing_.push_back(message(to_send_, part));
        for (const HaloPlan::Message& part : plan.receive) incoming_.push_back(message(halo_, part));
        // The first messages between two GPUs are slow, because NCCL sets up their connection.
        device.zero(to_send_.address(), to_send_.bytes());
        send();
        finish();
    }

    void start(const Value* x) override {
        if (count_ > 0) {
            pack_kernel<<<blocks_for(count_, threads_of_packing_block), threads_of_packing_block, 0, device_.stream()>>>(
                x, places_.as<const Index>(), count_, to_send_.as<Value>());
            check_launch("pack_halo");
        }
        send();
    }

    void finish() override {
        if (has_messages()) line_.finish();
    }

    [[nodiscard]] const Value* halo() const override { return halo_.as<const Value>(); }

private:
    [[nodiscard]] bool has_messages() const { return !outgoing_.empty() || !incoming_.empty(); }

    void send() {
        if (has_messages()) line_.start(outgoing_, incoming_, large_);
    }

    CudaDevice& device_;
    NcclSequence& line_;
    bool large_;
    Index count_;
    DeviceMemory places_;
    DeviceMemory to_send_;
    DeviceMemory halo_;
    std::vector<NcclMessage> outgoing_;
    std::vector<NcclMessage> incoming_;
};

class CudaLinks final : public Links {
public:
    CudaLinks(CudaDevice& device, const NcclModule& module, const NcclId& id, Ranks& ranks, int gpu)
        : ranks_(ranks), device_(device), module_(module), gpu_(gpu), line_(device, join(id, 1)) {
        // The first sum is slow, like the first exchange.
        const DeviceMemory mine = device.allocate(sizeof(double), "a first sum");
        const DeviceMemory all = device.allocate(static_cast<std::size_t>(ranks.size()) * sizeof(double), "a first sum");
        device.zero(mine.address(), mine.bytes());
        gather(mine.as<const double>(), all.as<double>(), 1);
        check_cuda(cudaStreamSynchronize(device.stream()), "cudaStreamSynchronize");
    }

    [[nodiscard]] std::string engine() const override { return "NCCL " + module_.version(); }
    [[nodiscard]] int ranks() const override { return ranks_.size(); }

    [[nodiscard]] std::unique_ptr<Exchange<float>> make_exchange_f32(const HaloPlan& plan) override {
        return make<float>(plan);
    }
    [[nodiscard]] std::unique_ptr<Exchange<double>> make_exchange_f64(const HaloPlan& plan) override {
        return make<double>(plan);
    }

    void gather(const double* mine, double* all, int count) override { line_.gather(mine, all, count); }

private:
    [[nodiscard]] std::unique_ptr<NcclCommunicator> join(const NcclId& id, int most_blocks) {
        return module_.join(id, ranks_.rank(), ranks_.size(), gpu_, most_blocks);
    }

    template <typename Value>
    [[nodiscard]] std::unique_ptr<Exchange<Value>> make(const HaloPlan& plan) {
        const bool large = is_large_anywhere(plan, sizeof(Value));
        if (large && !line_.is_wide()) {
            const NcclId mine = ranks_.rank() == 0 ? module_.make_id() : NcclId{};
            const Bytes of_first = ranks_.gather(std::as_bytes(std::span(&mine, 1))).front();
            NcclId id{};
            std::memcpy(&id, of_first.data(), std::min(of_first.size(), sizeof(id)));
            line_.widen(join(id, 0));
        }
        return std::make_unique<CudaExchange<Value>>(plan, device_, line_, large);
    }

    /// The same on all ranks.
    [[nodiscard]] bool is_large_anywhere(const HaloPlan& plan, std::size_t bytes_of_value) {
        Index most = 0;
        for (const auto* const parts : {&plan.send, &plan.receive}) {
            for (const HaloPlan::Message& part : *parts) most = std::max(most, part.count);
        }
        const double mine = static_cast<double>(most) * static_cast<double>(bytes_of_value);
        std::vector<double> all(ranks_.size());
        ranks_.gather(std::span(&mine, 1), all);
        return *std::max_element(all.begin(), all.end()) > most_bytes_of_one_block;
    }

    Ranks& ranks_;
    CudaDevice& device_;
    const NcclModule& module_;
    int gpu_;
    NcclSequence line_;
};

/// The message of each rank to all others before any of them waits for NCCL, so that either all continue or none does: no rank
/// waits for one that has failed.
struct Greeting {
    std::array<char, 512> failure{};  // zero-terminated; empty: no failure
    std::array<char, 16> gpu{};       // unique in the world
    NcclId id{};                      // set by rank 0
};

Greeting greet(int rank, int number) {
    Greeting mine;
    try {
        const NcclModule& module = open_module();
        cudaDeviceProp found{};
        check_cuda(cudaGetDeviceProperties(&found, number), "cudaGetDeviceProperties");
        static_assert(sizeof(found.uuid) == sizeof(mine.gpu));
        std::memcpy(mine.gpu.data(), &found.uuid, sizeof(found.uuid));
        if (rank == 0) mine.id = module.make_id();
    } catch (const MachineError& error) {
        std::strncpy(mine.failure.data(), error.what(), mine.failure.size() - 1);
    }
    return mine;
}

std::vector<Greeting> greetings_of_all(Ranks& ranks, const Greeting& mine) {
    std::vector<Greeting> all;
    for (const Bytes& bytes : ranks.gather(std::as_bytes(std::span(&mine, 1)))) {
        Greeting one;
        std::memcpy(&one, bytes.data(), std::min(bytes.size(), sizeof(one)));
        all.push_back(one);
    }
    return all;
}

/// Throws the same error on all ranks.
void require_agreement(const std::vector<Greeting>& all, const std::string& gpu) {
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
        if (all[rank].failure[0] == '\0') continue;
        throw MachineError("rank " + std::to_string(rank) + ": " + all[rank].failure.data());
    }
    for (std::size_t later = 1; later < all.size(); ++later) {
        for (std::size_t earlier = 0; earlier < later; ++earlier) {
            if (all[earlier].gpu != all[later].gpu) continue;
            throw MachineError("ranks " + std::to_string(earlier) + " and " + std::to_string(later) + " share one GPU (" + gpu +
                               "), which NCCL does not do: start one rank a GPU, or use the CPU");
        }
    }
}

}  // namespace

std::unique_ptr<Links> make_cuda_links(Ranks& ranks, Device& gpu) {
    CudaDevice& device = cuda_device(gpu);
    int number = 0;
    check_cuda(cudaGetDevice(&number), "cudaGetDevice");
    const std::vector<Greeting> all = greetings_of_all(ranks, greet(ranks.rank(), number));
    require_agreement(all, device.properties().name);
    return std::make_unique<CudaLinks>(device, open_module(), all.front().id, ranks, number);
}

}  // namespace workbench
