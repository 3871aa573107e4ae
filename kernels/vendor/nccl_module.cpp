// libworkbench_nccl.so. No other file is linked with NCCL.
#include <nccl.h>

#include <cstring>
#include <exception>

#include "core/contract/errors.hpp"
#include "kernels/vendor/nccl.hpp"

namespace workbench {
namespace {

void check_nccl(ncclResult_t result, const char* call, ncclComm_t communicator = nullptr) {
    if (result == ncclSuccess) return;
    std::string reason = std::string("GPU: NCCL failed: ") + call + ": " + ncclGetErrorString(result);
    if (const char* more = ncclGetLastError(communicator); more != nullptr && *more != '\0') {
        reason += std::string(" (") + more + ")";
    }
    throw MachineError(reason);
}

class Communicator final : public NcclCommunicator {
public:
    Communicator(const ncclUniqueId& id, int rank, int ranks, int most_blocks) {
        ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
        if (most_blocks > 0) config.minCTAs = config.maxCTAs = most_blocks;
        check_nccl(ncclCommInitRankConfig(&communicator_, ranks, id, rank, &config), "ncclCommInitRankConfig");
    }

    ~Communicator() override {
        // Waiting could hang: after this rank has failed, other ranks may never reach the end of their operations.
        if (std::uncaught_exceptions() > 0) {
            (void)ncclCommAbort(communicator_);
        } else {
            (void)ncclCommDestroy(communicator_);
        }
    }

    void require_gpu(int expected) const {
        int gpu = -1;
        check_nccl(ncclCommCuDevice(communicator_, &gpu), "ncclCommCuDevice", communicator_);
        if (gpu == expected) return;
        throw MachineError("GPU: NCCL took GPU " + std::to_string(gpu) + " instead of " + std::to_string(expected));
    }

    void send_and_receive(std::span<const NcclMessage> outgoing, std::span<const NcclMessage> incoming, void* stream) override {
        if (outgoing.empty() && incoming.empty()) return;
        check_earlier();
        auto* const on = static_cast<cudaStream_t>(stream);
        check(ncclGroupStart(), "ncclGroupStart");
        for (const NcclMessage& message : outgoing) {
            check(ncclSend(message.memory, message.bytes, ncclUint8, message.rank, communicator_, on), "ncclSend");
        }
        for (const NcclMessage& message : incoming) {
            check(ncclRecv(message.memory, message.bytes, ncclUint8, message.rank, communicator_, on), "ncclRecv");
        }
        check(ncclGroupEnd(), "ncclGroupEnd");
    }

    void gather(const double* mine, double* all, int count, void* stream) override {
        check_earlier();
        check(ncclAllGather(mine, all, static_cast<std::size_t>(count), ncclFloat64, communicator_,
                            static_cast<cudaStream_t>(stream)),
              "ncclAllGather");
    }

private:
    void check(ncclResult_t result, const char* call) const { check_nccl(result, call, communicator_); }

    /// Reports asynchronous failures, such as a lost connection to another machine.
    void check_earlier() const {
        ncclResult_t earlier = ncclSuccess;
        check(ncclCommGetAsyncError(communicator_, &earlier), "ncclCommGetAsyncError");
        check(earlier, "what was given to it before");
    }

    ncclComm_t communicator_ = nullptr;
};

std::string version() {
    int code = 0;
    check_nccl(ncclGetVersion(&code), "ncclGetVersion");
    return std::to_string(code / 10000) + "." + std::to_string(code / 100 % 100) + "." + std::to_string(code % 100);
}

static_assert(sizeof(NcclId) == sizeof(ncclUniqueId));

NcclId make_id() {
    ncclUniqueId made{};
    check_nccl(ncclGetUniqueId(&made), "ncclGetUniqueId");
    NcclId id{};
    std::memcpy(id.data(), &made, sizeof(made));
    return id;
}

std::unique_ptr<NcclCommunicator> join(const NcclId& id, int rank, int ranks, int gpu, int most_blocks) {
    ncclUniqueId made{};
    std::memcpy(&made, id.data(), sizeof(made));
    auto communicator = std::make_unique<Communicator>(made, rank, ranks, most_blocks);
    communicator->require_gpu(gpu);
    return communicator;
}

}  // namespace
}  // namespace workbench

extern "C" const workbench::NcclModule* workbench_nccl_module() {
    static constexpr workbench::NcclModule module{workbench::version, workbench::make_id, workbench::join};
    return &module;
}
