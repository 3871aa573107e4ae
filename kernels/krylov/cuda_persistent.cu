// The host's side of persistent solves: the arrays on the device, the launches, and the order of the vectors.
#include "kernels/krylov/cuda_persistent.cuh"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/device/cuda_check.cuh"
#include "kernels/krylov/memory.hpp"
#include "kernels/krylov/persistent_bicgstab.cuh"
#include "kernels/krylov/persistent_cg.cuh"
#include "kernels/krylov/persistent_matrix.hpp"
#include "pipeline/matrix/distinct_values.hpp"

namespace workbench {
namespace {

using krylov::PersistentArguments;
using krylov::PersistentMatrix;
using krylov::Scalars;

constexpr unsigned long long patience_nanoseconds =
    5'000'000'000;  // the limit of a wait for all blocks, which normally takes microseconds

// The share of L2 that is kept for the part of the matrix that shared memory does not hold. On an H200 a share above one half
// was slower than none, because the vectors of the solve are then evicted.
constexpr double share_of_cache = 0.4;

template <ValueType Value, ValueType Stored>
class CudaPersistentSolver;

template <ValueType Value, ValueType Stored>
class CudaPersistentKrylov final : public Krylov<Value> {
public:
    CudaPersistentKrylov(const KrylovPlan& plan, std::span<const Value> b, std::span<const Value> inverse_diagonal,
                         const CudaPersistentSolver<Value, Stored>& solver)
        : plan_(plan),
          solver_(solver),
          device_(solver.device()),
          b_(placed(b, 0)),
          inverse_diagonal_(inverse_diagonal.empty() ? DeviceMemory() : placed(inverse_diagonal, 1)),
          x_(vector()),
          r_(vector()),
          p_(vector()),
          q_(vector()),
          exports_(
              device_.allocate(solver.row_at().size() * sizeof(krylov::Packet), "the elements that thread blocks exchange")),
          packets_(device_.allocate(krylov::packet_places * sizeof(krylov::Packet), "the sums of thread blocks")),
          history_(device_.allocate((static_cast<std::size_t>(plan.most_iterations) + 1) * sizeof(double),
                                    "the residual of each iteration")),
          scalars_(device_.allocate(sizeof(Scalars), "the scalars of the solve")),
          failed_(device_.allocate(sizeof(unsigned), "the state of the solve")) {
        if (plan.method == KrylovMethod::bicgstab) {
            for (DeviceMemory* more : {&shadow_, &t_}) *more = vector();
            if (is_preconditioned()) {
                for (DeviceMemory* more : {&mp_, &ms_}) *more = vector();
            }
        }
        for (const DeviceMemory* zero : {&x_, &r_, &p_, &q_, &exports_, &packets_, &failed_, &shadow_, &t_, &mp_, &ms_}) {
            if (zero->bytes() > 0) device_.zero(zero->address(), zero->bytes());
        }
        const Scalars first = krylov::first_scalars(plan, history_.as<double>());
        device_.upload(std::as_bytes(std::span(&first, 1)), scalars_);
        run(true, 0);
    }

    void use(KrylovProduct<Value>) override {}  // the kernel multiplies by itself

    void restart() override { run(true, 0); }

    void launch(std::int64_t iterations) override { run(false, iterations); }

    void rest_of_iteration() override { refuse("apart from its products"); }
    [[nodiscard]] KrylovOperands<Value> operands() const override { refuse("apart from its products"); }
    void reorder(const Index*) override { refuse("in another order"); }

    [[nodiscard]] KrylovProgress wait() override {
        unsigned failed = 0;
        device_.download(failed_, std::as_writable_bytes(std::span(&failed, 1)));
        if (failed != 0) {
            throw MachineError(device_.properties().name +
                               ": the thread blocks of a persistent kernel waited for each other for more than 5 s; --engine "
                               "graph solves without such a kernel");
        }
        return krylov::progress_of(fetch());
    }

    [[nodiscard]] std::vector<Value> x() override {
        std::vector<Value> places(x_.bytes() / sizeof(Value));
        device_.download(x_, std::as_writable_bytes(std::span(places)));
        std::vector<Value> x(static_cast<std::size_t>(solver_.rows()));
        const std::vector<Index>& row_at = solver_.row_at();
        for (std::size_t place = 0; place < places.size(); ++place) {
            if (row_at[place] >= 0) x[row_at[place]] = places[place];
        }
        return x;
    }

    [[nodiscard]] std::vector<double> history() override {
        std::vector<double> squares(static_cast<std::size_t>(fetch().iterations) + 1);
        device_.download(history_, std::as_writable_bytes(std::span(squares)));
        return krylov::norms_of(std::move(squares));
    }

    /// As for a solve by several kernels, so that figures relative to it can be compared.
    [[nodiscard]] std::int64_t vector_bytes() const override {
        return krylov::vectors_moved(plan_.method, is_preconditioned()) * solver_.rows() *
               static_cast<std::int64_t>(sizeof(Value));
    }

private:
    [[noreturn]] static void refuse(const char* what) {
        throw std::logic_error(std::string("a persistent solve is asked to iterate ") + what);
    }

    [[nodiscard]] bool is_preconditioned() const { return inverse_diagonal_.bytes() > 0; }

    [[nodiscard]] DeviceMemory vector() const {
        return device_.allocate(solver_.row_at().size() * sizeof(Value), "a vector of the solve");
    }

    [[nodiscard]] DeviceMemory placed(std::span<const Value> rows, Value padding) const {
        std::vector<Value> places(solver_.row_at().size(), padding);
        for (std::size_t place = 0; place < places.size(); ++place) {
            if (const Index row = solver_.row_at()[place]; row >= 0) places[place] = rows[row];
        }
        return to_device(device_, std::span<const Value>(places), "a vector of the solve");
    }

    [[nodiscard]] Scalars fetch() {
        Scalars scalars;
        device_.download(scalars_, std::as_writable_bytes(std::span(&scalars, 1)));
        return scalars;
    }

    void run(bool begins, std::int64_t iterations) {
        PersistentArguments<Value, Stored> arguments = solver_.arguments();
        arguments.b = b_.as<const Value>();
        arguments.inverse_diagonal = is_preconditioned() ? inverse_diagonal_.as<const Value>() : nullptr;
        arguments.x = x_.as<Value>();
        arguments.r = r_.as<Value>();
        arguments.p = p_.as<Value>();
        arguments.q = q_.as<Value>();
        arguments.shadow = shadow_.as<Value>();
        arguments.t = t_.as<Value>();
        arguments.mp = mp_.bytes() > 0 ? mp_.as<Value>() : arguments.p;
        arguments.ms = ms_.as<Value>();
        arguments.direction = begins ? arguments.x : plan_.method == KrylovMethod::bicgstab ? arguments.mp : arguments.p;
        arguments.exports = exports_.as<krylov::Packet>();
        arguments.packets = packets_.as<krylov::Packet>();
        arguments.scalars = scalars_.as<Scalars>();
        arguments.failed = failed_.as<unsigned>();
        arguments.begins = begins;
        arguments.iterations = iterations;
        arguments.most_iterations = plan_.most_iterations;
        arguments.first_tag = ++launches_ << 32;  // a launch has fewer than 2^32 waits
        arguments.patience = patience_nanoseconds;
        solver_.launch(plan_.method, arguments);
    }

    KrylovPlan plan_;
    const CudaPersistentSolver<Value, Stored>& solver_;
    CudaDevice& device_;
    unsigned long long launches_ = 0;
    DeviceMemory b_, inverse_diagonal_, x_, r_, p_, q_, exports_, packets_, history_, scalars_, failed_;
    DeviceMemory shadow_, t_, mp_, ms_;  // of BiCGStab
};

template <ValueType Value, ValueType Stored>
class CudaPersistentSolver final : public PersistentSolver<Value> {
public:
    CudaPersistentSolver(const PersistentMatrix<Value, Stored>& matrix, CudaDevice& device)
        : device_(device),
          rows_(matrix.rows),
          blocks_(static_cast<unsigned>(matrix.parts.size())),
          shared_bytes_(matrix.shared_bytes),
          row_at_(matrix.row_at),
          parts_(on_device(matrix.parts)),
          slices_(on_device(matrix.slices)),
          halo_(on_device(matrix.halo)),
          values_(on_device(matrix.values)),
          columns_(on_device(matrix.columns)) {
        const double of_cache = share_of_cache * static_cast<double>(device.properties().last_level_cache);
        kept_ = static_cast<Index>(of_cache / blocks_ / (sizeof(Stored) + sizeof(std::uint16_t)));
    }

    [[nodiscard]] std::unique_ptr<Krylov<Value>> begin(const KrylovPlan& plan, std::span<const Value> b,
                                                       std::span<const Value> inverse_diagonal) override {
        return std::make_unique<CudaPersistentKrylov<Value, Stored>>(plan, b, inverse_diagonal, *this);
    }

    [[nodiscard]] CudaDevice& device() const { return device_; }
    [[nodiscard]] Index rows() const { return rows_; }
    [[nodiscard]] const std::vector<Index>& row_at() const { return row_at_; }

    /// Those of the matrix.
    [[nodiscard]] PersistentArguments<Value, Stored> arguments() const {
        PersistentArguments<Value, Stored> arguments;
        arguments.parts = parts_.template as<const krylov::Part>();
        arguments.slices = slices_.template as<const krylov::Slice>();
        arguments.halo = halo_.template as<const Index>();
        arguments.values = values_.template as<const Stored>();
        arguments.columns = columns_.template as<const std::uint16_t>();
        arguments.kept = kept_;
        return arguments;
    }

    void launch(KrylovMethod method, PersistentArguments<Value, Stored>& arguments) const {
        void* list[] = {&arguments};
        const auto kernel =
            method == KrylovMethod::cg ? krylov::persistent_cg<Value, Stored> : krylov::persistent_bicgstab<Value, Stored>;
        check_cuda(cudaLaunchCooperativeKernel(kernel, dim3(blocks_), dim3(krylov::persistent_threads), list, shared_bytes_,
                                               device_.stream()),
                   "cudaLaunchCooperativeKernel");
    }

private:
    template <typename Array>
    [[nodiscard]] DeviceMemory on_device(const Array& array) const {
        return to_device(device_, std::span<const typename Array::value_type>(array), "the matrix of persistent solves");
    }

    CudaDevice& device_;
    Index rows_;
    unsigned blocks_;
    std::size_t shared_bytes_;
    Index kept_ = 0;  // entries of a part
    std::vector<Index> row_at_;
    DeviceMemory parts_, slices_, halo_, values_, columns_;
};

int attribute_of(cudaDeviceAttr attribute) {
    int number = 0;
    int found = 0;
    check_cuda(cudaGetDevice(&number), "cudaGetDevice");
    check_cuda(cudaDeviceGetAttribute(&found, attribute, number), "cudaDeviceGetAttribute");
    return found;
}

template <ValueType Value, ValueType Stored>
std::unique_ptr<PersistentSolver<Value>> make_solver(const PersistentProblem& problem, CudaDevice& device) {
    const DeviceProperties& properties = device.properties();
    if (attribute_of(cudaDevAttrCooperativeLaunch) == 0) {
        throw Unsuitable(properties.name + " does not launch kernels whose thread blocks wait for each other");
    }
    const std::array kernels{krylov::persistent_cg<Value, Stored>, krylov::persistent_bicgstab<Value, Stored>};
    std::size_t shared_bytes = properties.shared_memory_per_block;
    for (const auto kernel : kernels) {
        cudaFuncAttributes attributes{};
        check_cuda(cudaFuncGetAttributes(&attributes, kernel), "cudaFuncGetAttributes");
        const std::size_t others = std::min(properties.shared_memory_per_block, attributes.sharedSizeBytes);
        shared_bytes = std::min(shared_bytes, properties.shared_memory_per_block - others);
    }
    const Index slices = (problem.matrix.rows + krylov::rows_per_slice - 1) / krylov::rows_per_slice;
    const Index blocks = std::clamp(slices, Index{1}, std::min(properties.processors, krylov::most_persistent_blocks));
    constexpr Index vectors = 2;  // r and q
    const std::vector<Index> boundaries = krylov::divide_rows(problem.matrix.row_offsets, blocks, problem.cuts);
    const auto matrix = krylov::make_persistent_matrix<Value, Stored>(problem.matrix, boundaries, shared_bytes,
                                                                      vectors + (problem.preconditioned ? 1 : 0));
    for (const auto kernel : kernels) {
        check_cuda(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared_bytes)),
                   "cudaFuncSetAttribute");
        int resident = 0;  // blocks a multiprocessor
        check_cuda(
            cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, krylov::persistent_threads, matrix.shared_bytes),
            "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
        if (resident >= 1) continue;
        throw Unsuitable("a multiprocessor of " + properties.name + " has no room for a thread block with " +
                         std::to_string(matrix.shared_bytes) + " bytes of shared memory");
    }
    return std::make_unique<CudaPersistentSolver<Value, Stored>>(matrix, device);
}

}  // namespace

template <ValueType Value>
std::unique_ptr<PersistentSolver<Value>> make_cuda_persistent_solver(const PersistentProblem& problem, CudaDevice& device) {
    if constexpr (std::is_same_v<Value, double>) {
        if (are_exact_in_f32(problem.matrix.values)) return make_solver<double, float>(problem, device);
    }
    return make_solver<Value, Value>(problem, device);
}

template std::unique_ptr<PersistentSolver<float>> make_cuda_persistent_solver(const PersistentProblem&, CudaDevice&);
template std::unique_ptr<PersistentSolver<double>> make_cuda_persistent_solver(const PersistentProblem&, CudaDevice&);

}  // namespace workbench
