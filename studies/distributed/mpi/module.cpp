// Ranks over MPI; the only file that uses MPI.
#include "studies/distributed/mpi/module.hpp"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

#include "core/contract/errors.hpp"

namespace workbench {
namespace {

constexpr std::size_t most_bytes = std::size_t{1} << 30;  // per message: MPI counts bytes in an int
constexpr int tag = 0;                                    // one tag suffices: MPI keeps the order of a pair's messages

/// By default MPI aborts the program on an error, so a returned error code is unexpected.
void check(int code, const char* call) {
    if (code == MPI_SUCCESS) return;
    throw MachineError(std::string(call) + " failed with code " + std::to_string(code));
}

class MpiRanks final : public Ranks {
public:
    MpiRanks() {
        int provided = 0;
        check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
        check(MPI_Comm_rank(MPI_COMM_WORLD, &rank_), "MPI_Comm_rank");
        check(MPI_Comm_size(MPI_COMM_WORLD, &size_), "MPI_Comm_size");
        MPI_Comm machine = MPI_COMM_NULL;
        check(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine), "MPI_Comm_split_type");
        check(MPI_Comm_rank(machine, &rank_on_machine_), "MPI_Comm_rank");
        check(MPI_Comm_size(machine, &ranks_on_machine_), "MPI_Comm_size");
        check(MPI_Comm_free(&machine), "MPI_Comm_free");
    }

    MpiRanks(const MpiRanks&) = delete;
    MpiRanks& operator=(const MpiRanks&) = delete;
    ~MpiRanks() override { (void)MPI_Finalize(); }

    [[nodiscard]] int rank() const override { return rank_; }
    [[nodiscard]] int size() const override { return size_; }
    [[nodiscard]] int rank_on_machine() const override { return rank_on_machine_; }
    [[nodiscard]] int ranks_on_machine() const override { return ranks_on_machine_; }

    [[nodiscard]] std::string engine() const override {
        std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
        int length = 0;
        check(MPI_Get_library_version(text.data(), &length), "MPI_Get_library_version");
        // "Open MPI v4.1.4, package: ..."
        const std::string version(text.data(), static_cast<std::size_t>(length));
        return version.substr(0, version.find_first_of(",\n"));
    }

    [[nodiscard]] std::vector<Bytes> gather(std::span<const std::byte> mine) override {
        return exchange_of([mine](int) { return mine; });
    }

    void gather(std::span<const double> mine, std::span<double> all) override {
        const int count = static_cast<int>(mine.size());
        check(MPI_Allgather(mine.data(), count, MPI_DOUBLE, all.data(), count, MPI_DOUBLE, MPI_COMM_WORLD), "MPI_Allgather");
    }

    [[nodiscard]] std::vector<Bytes> exchange(const std::vector<Bytes>& to) override {
        return exchange_of([&to](int rank) { return std::span<const std::byte>(to[rank]); });
    }

    void start(std::span<const Outgoing> outgoing, std::span<const Incoming> incoming) override {
        for (const Incoming& message : incoming) receive(message.bytes, message.from);
        for (const Outgoing& message : outgoing) send(message.bytes, message.to);
    }

    void finish() override {
        check(MPI_Waitall(static_cast<int>(under_way_.size()), under_way_.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
        under_way_.clear();
    }

    void barrier() override { check(MPI_Barrier(MPI_COMM_WORLD), "MPI_Barrier"); }

    [[noreturn]] void end_all(ExitCode exit_code) override {
        (void)MPI_Abort(MPI_COMM_WORLD, static_cast<int>(exit_code));
        std::abort();
    }

private:
    template <typename BytesFor>
    [[nodiscard]] std::vector<Bytes> exchange_of(const BytesFor& bytes_for) {
        std::vector<std::uint64_t> lengths_out(size_);
        std::vector<std::uint64_t> lengths_in(size_);
        for (int rank = 0; rank < size_; ++rank) lengths_out[rank] = bytes_for(rank).size();
        check(MPI_Alltoall(lengths_out.data(), 1, MPI_UINT64_T, lengths_in.data(), 1, MPI_UINT64_T, MPI_COMM_WORLD),
              "MPI_Alltoall");
        std::vector<Bytes> received(size_);
        for (int rank = 0; rank < size_; ++rank) {
            received[rank].resize(lengths_in[rank]);
            receive(received[rank], rank);
        }
        for (int i = 0; i < size_; ++i) {
            const int rank = (rank_ + i) % size_;  // a different target on each rank
            send(bytes_for(rank), rank);
        }
        finish();
        return received;
    }

    void send(std::span<const std::byte> bytes, int to) {
        for (std::size_t first = 0; first < bytes.size(); first += most_bytes) {
            const std::span<const std::byte> part = bytes.subspan(first, std::min(most_bytes, bytes.size() - first));
            check(MPI_Isend(part.data(), static_cast<int>(part.size()), MPI_BYTE, to, tag, MPI_COMM_WORLD, next_request()),
                  "MPI_Isend");
        }
    }

    void receive(std::span<std::byte> bytes, int from) {
        for (std::size_t first = 0; first < bytes.size(); first += most_bytes) {
            const std::span<std::byte> part = bytes.subspan(first, std::min(most_bytes, bytes.size() - first));
            check(MPI_Irecv(part.data(), static_cast<int>(part.size()), MPI_BYTE, from, tag, MPI_COMM_WORLD, next_request()),
                  "MPI_Irecv");
        }
    }

    MPI_Request* next_request() { return &under_way_.emplace_back(MPI_REQUEST_NULL); }

    int rank_ = 0;
    int size_ = 1;
    int rank_on_machine_ = 0;
    int ranks_on_machine_ = 1;
    std::vector<MPI_Request> under_way_;
};

}  // namespace

}  // namespace workbench

extern "C" workbench::Ranks* workbench_start_mpi();
extern "C" workbench::Ranks* workbench_start_mpi() { return std::make_unique<workbench::MpiRanks>().release(); }
