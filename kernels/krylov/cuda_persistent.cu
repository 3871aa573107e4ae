// The host's side of persistent solves: the arrays on the device, the launches, and the order of the vectors.
#include "kernels/krylov/cuda_krylov.cuh"

#include <algorithm>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/matrix/distinct_values.hpp"
#include "kernels/common/schedule/choice.hpp"
#include "kernels/device/cuda_check.cuh"
#include "kernels/krylov/gpu_space.cuh"
#include "kernels/krylov/memory.hpp"
#include "kernels/krylov/persistent_bicgstab.cuh"
#include "kernels/krylov/persistent_cg.cuh"
#include "kernels/krylov/persistent_division.hpp"
#include "kernels/krylov/shared_memory_of_ranks.cuh"

namespace workbench {
namespace {

using krylov::PersistentArguments;
using krylov::Scalars;

template <typename Stored>
using MatrixOnGpu = krylov::PersistentMatrix<Stored, krylov::KeptOnGpu>;

constexpr unsigned long long patience_nanoseconds =
    5'000'000'000;  // the limit of a wait for all blocks, which normally takes microseconds

// The share of L2 that is kept for the part of the matrix that shared memory does not hold. On an H200 larger shares make
// solves slower whose vectors also need L2 (docs/results/h200-on-chip.md).
constexpr double share_of_cache = 0.25;

template <typename Value, typename Stored>
using PersistentKernel = void (*)(PersistentArguments<Value, Stored>);

template <typename Value, typename Stored, krylov::BlockShape shape>
PersistentKernel<Value, Stored> kernel_of_shape(KrylovMethod method, Index run) {
    if (method == KrylovMethod::bicgstab) return krylov::persistent_bicgstab<Value, Stored, shape.warps>;
    return with_known<1, 2, 3>(run, [](auto known) -> PersistentKernel<Value, Stored> {
        return krylov::persistent_cg<Value, Stored, known, shape.warps, shape.rows_of_thread>;
    });
}

template <typename Value, typename Stored>
PersistentKernel<Value, Stored> kernel_for(krylov::BlockShape shape, KrylovMethod method, Index run) {
    if constexpr (compiles_every_shape) {
        if (shape.warps == krylov::shape_of_small_parts.warps) {
            return kernel_of_shape<Value, Stored, krylov::shape_of_small_parts>(method, run);
        }
    }
    return kernel_of_shape<Value, Stored, krylov::shape_of_large_parts>(method, run);
}

constexpr int move_threads = 256;

/// are_exact_in_f32 for values on the device.
bool are_exact_there(const double* values, std::int64_t count, CudaDevice& device) {
    const DeviceMemory found = device.allocate(1, "a flag");
    device.zero(found.address(), 1);
    const auto items = static_cast<std::size_t>(count);
    krylov::call_for_each<<<blocks_of(items, block_threads), block_threads, 0, device.stream()>>>(
        items, krylov::passes::FindInexact{values, found.as<char>()});
    check_launch("a search for values that f32 rounds");
    char any = 0;
    device.download(found, std::as_writable_bytes(std::span(&any, 1)));
    return any == 0;
}

/// Moves the elements of a vector to the rows of the matrix as it was given from their places, where -1 means padding, and
/// back.
template <typename Value>
__global__ void move_to_rows(const Index* row_at, Index places, const Value* from, Value* to) {
    const auto place = static_cast<Index>(blockIdx.x * blockDim.x + threadIdx.x);
    if (place < places && row_at[place] >= 0) to[row_at[place]] = from[place];
}
template <typename Value>
__global__ void move_to_places(const Index* row_at, Index places, const Value* from, Value* to, Value padding) {
    const auto place = static_cast<Index>(blockIdx.x * blockDim.x + threadIdx.x);
    if (place < places) to[place] = row_at[place] >= 0 ? from[row_at[place]] : padding;
}

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
          shared_(device_, solver.ranks(), solver.places() + solver.remote(), solver.remote(), solver.blocks(),
                  krylov::is_preconditioned(plan, inverse_diagonal)),
          targets_(solver.targets_for(shared_.of_ranks())),
          b_in_rows_(krylov::given_or_zero(device_, b, solver.rows(), "the right-hand side")),
          x_in_rows_(device_.allocate(b_in_rows_.bytes(), "the solution")),
          b_(vector()),
          q_(vector()),
          r_of_halo_(device_.allocate(solver.halo_of_r() * sizeof(Value), "the residual of other parts")),
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
        for (const DeviceMemory* zero : {&q_, &failed_, &shadow_, &t_, &mp_, &ms_}) {
            if (zero->bytes() > 0) device_.zero(zero->address(), zero->bytes());
        }
        if (is_preconditioned()) {
            diagonal_in_rows_ = krylov::given_or_zero(device_, inverse_diagonal, solver.rows(), "the inverse of the diagonal");
        }
        begin_with_zero(plan);
    }

    void use(KrylovProduct<Value> product) override { product_ = std::move(product); }

    [[nodiscard]] Value* right_hand_side() override { return b_in_rows_.as<Value>(); }
    [[nodiscard]] Value* inverse_diagonal() override { return is_preconditioned() ? diagonal_in_rows_.as<Value>() : nullptr; }

    double begin_again(double tolerance) override {
        device_.zero(shared_.own().x, static_cast<std::size_t>(solver_.places()) * sizeof(Value));
        begin_with_zero({plan_.method, 0, plan_.most_iterations});
        (void)wait();
        Scalars scalars = fetch();
        const double norm = krylov::stop_below(scalars, tolerance);
        put(scalars);
        return norm;
    }

    [[nodiscard]] Value* solution() override {
        if (!x_is_in_rows_) to_rows(shared_.own().x, x_in_rows_.as<Value>());
        x_is_in_rows_ = true;
        return x_in_rows_.as<Value>();
    }

    void restart() override {
        if (x_is_in_rows_) to_places(x_in_rows_.as<const Value>(), shared_.own().x, 0);
        if (product_) multiply_x();
        run(true, 0, product_of_x_.as<const Value>());
    }

    void launch(std::int64_t iterations) override {
        x_is_in_rows_ = false;
        run(false, iterations);
    }

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
        (void)solution();
        std::vector<Value> x(static_cast<std::size_t>(solver_.rows()));
        device_.download(x_in_rows_, std::as_writable_bytes(std::span(x)));
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
    [[nodiscard]] bool is_preconditioned() const { return shared_.own().inverse_diagonal != nullptr; }

    [[nodiscard]] DeviceMemory vector() const {
        return device_.allocate(static_cast<std::size_t>(solver_.places()) * sizeof(Value), "a vector of the solve");
    }

    void to_places(const Value* rows, Value* places, Value padding) const {
        move_to_places<<<blocks_for(solver_.places(), move_threads), move_threads, 0, device_.stream()>>>(
            solver_.row_at(), solver_.places(), rows, places, padding);
        check_launch("move_to_places");
    }
    void to_rows(const Value* places, Value* rows) const {
        move_to_rows<<<blocks_for(solver_.places(), move_threads), move_threads, 0, device_.stream()>>>(
            solver_.row_at(), solver_.places(), places, rows);
        check_launch("move_to_rows");
    }

    /// Begins with b and x = 0, which x contains already.
    void begin_with_zero(const KrylovPlan& plan) {
        x_is_in_rows_ = false;
        if (is_preconditioned()) to_places(diagonal_in_rows_.as<const Value>(), shared_.own().inverse_diagonal, 1);
        to_places(b_in_rows_.as<const Value>(), b_.as<Value>(), 0);
        put(krylov::first_scalars(plan, history_.as<double>()));
        run(true, 0);
    }

    void put(const Scalars& scalars) { device_.upload(std::as_bytes(std::span(&scalars, 1)), scalars_); }

    [[nodiscard]] Scalars fetch() {
        Scalars scalars;
        device_.download(scalars_, std::as_writable_bytes(std::span(&scalars, 1)));
        return scalars;
    }

    /// Multiplies x with the product of restarts.
    void multiply_x() {
        if (product_of_x_.bytes() == 0) {
            product_in_rows_ = device_.allocate(x_in_rows_.bytes(), "A x of a restart");
            product_of_x_ = vector();
        }
        product_(solution(), product_in_rows_.as<Value>());
        to_places(product_in_rows_.as<const Value>(), product_of_x_.as<Value>(), 0);
    }

    /// product: A x for a beginning; null: the kernel multiplies.
    void run(bool begins, std::int64_t iterations, const Value* product = nullptr) {
        PersistentArguments<Value, Stored> arguments = solver_.arguments();
        arguments.targets = targets_.as<const krylov::Target>();
        arguments.rank = shared_.rank();
        arguments.ranks = static_cast<int>(shared_.of_ranks().size());
        std::copy(shared_.of_ranks().begin(), shared_.of_ranks().end(), arguments.memory);
        arguments.b = b_.as<const Value>();
        arguments.q = q_.as<Value>();
        arguments.r_of_halo = r_of_halo_.as<Value>();
        arguments.shadow = shadow_.as<Value>();
        arguments.t = t_.as<Value>();
        arguments.mp = mp_.bytes() > 0 ? mp_.as<Value>() : shared_.own().p;
        arguments.ms = ms_.as<Value>();
        const Value* const p = plan_.method == KrylovMethod::bicgstab ? arguments.mp : shared_.own().p;
        arguments.product = product;
        arguments.direction = begins ? shared_.own().x : p;
        arguments.scalars = scalars_.as<Scalars>();
        arguments.failed = failed_.as<unsigned>();
        arguments.begins = begins;
        arguments.iterations = iterations;
        arguments.most_iterations = plan_.most_iterations;
        arguments.first_tag = ++launches_ << 32;  // a launch has fewer than 2^32 waits
        arguments.patience = patience_nanoseconds;
        wait_for_ranks();
        solver_.launch(plan_.method, arguments);
    }

    /// A launch writes the memory of other ranks, whose earlier launch must have ended.
    void wait_for_ranks() {
        if (solver_.ranks() == nullptr) return;
        (void)device_.time([] {});
        solver_.ranks()->barrier();
    }

    KrylovPlan plan_;
    const CudaPersistentSolver<Value, Stored>& solver_;
    CudaDevice& device_;
    unsigned long long launches_ = 0;
    bool x_is_in_rows_ = false;  // the current one, which the caller may have replaced
    krylov::SharedMemoryOfRanks<Value> shared_;
    DeviceMemory targets_;
    DeviceMemory b_in_rows_, x_in_rows_, diagonal_in_rows_;  // in the order of the matrix as it was given
    DeviceMemory b_, q_, r_of_halo_, history_, scalars_, failed_;
    DeviceMemory shadow_, t_, mp_, ms_;            // of BiCGStab
    KrylovProduct<Value> product_;                 // of restarts; empty: that of the kernel
    DeviceMemory product_in_rows_, product_of_x_;  // of restarts
};

template <ValueType Value, ValueType Stored>
class CudaPersistentSolver final : public PersistentSolver<Value> {
public:
    CudaPersistentSolver(MatrixOnGpu<Stored> matrix, krylov::BlockShape shape, CudaDevice& device, Ranks* ranks)
        : device_(device),
          ranks_(ranks),
          shape_(shape),
          matrix_(std::move(matrix)),
          parts_(on_device(matrix_.parts)),
          slices_(on_device(matrix_.slices)),
          first_targets_(on_device(matrix_.first_targets)) {
        const double bytes = sizeof(Stored) + sizeof(std::uint16_t) / static_cast<double>(matrix_.run);  // of an entry
        const double of_cache = share_of_cache * static_cast<double>(device.properties().last_level_cache);
        kept_ = static_cast<Index>(of_cache / blocks() / bytes);
        if (sizeof(Stored) < sizeof(Value)) rounds_ = device.allocate_word();
    }

    [[nodiscard]] std::unique_ptr<Krylov<Value>> begin(const KrylovPlan& plan, std::span<const Value> b,
                                                       std::span<const Value> inverse_diagonal) override {
        return std::make_unique<CudaPersistentKrylov<Value, Stored>>(plan, b, inverse_diagonal, *this);
    }

    void set_values(const Value* values) override {
        const std::size_t slots = matrix_.entries.size();
        if (slots == 0 && matrix_.values.size() > 0) throw std::logic_error("new values were not announced");
        char* const rounds = rounds_.template as<char>();
        if (rounds != nullptr) *rounds = 0;
        krylov::call_for_each<<<blocks_of(slots, block_threads), block_threads, 0, device_.stream()>>>(
            slots, krylov::passes::ReplaceValues<Value, Stored>{matrix_.entries.data(), values, matrix_.values.data(), rounds});
        check_launch("new values of a persistent matrix");
        if (rounds == nullptr) return;
        check_cuda(cudaStreamSynchronize(device_.stream()), "cudaStreamSynchronize");
        if (*rounds != 0) {
            throw Unsuitable("the values of the persistent kernel are stored in f32, which does not represent the new ones");
        }
    }

    [[nodiscard]] CudaDevice& device() const { return device_; }
    [[nodiscard]] Ranks* ranks() const { return ranks_; }
    [[nodiscard]] int blocks() const { return static_cast<int>(matrix_.parts.size()); }
    [[nodiscard]] Index rows() const { return matrix_.rows; }
    [[nodiscard]] Index remote() const { return matrix_.remote; }
    [[nodiscard]] Index places() const { return matrix_.places; }
    [[nodiscard]] bool halo_has_r() const override { return matrix_.parts.front().halo_has_r; }
    [[nodiscard]] std::size_t halo_of_r() const { return halo_has_r() ? matrix_.halo.size() : 0; }
    [[nodiscard]] const Index* row_at() const { return matrix_.row_at.data(); }

    /// The elements that other ranks read, by their places there, which follow the places of the rank's own elements.
    [[nodiscard]] DeviceMemory targets_for(const std::vector<krylov::PeerMemory<Value>>& memory) const {
        std::vector<krylov::Target> targets = matrix_.targets;
        for (krylov::Target& target : targets) target.place += memory[target.rank].places - memory[target.rank].remote;
        return on_device(targets);
    }

    /// Those of the matrix.
    [[nodiscard]] PersistentArguments<Value, Stored> arguments() const {
        PersistentArguments<Value, Stored> arguments;
        arguments.parts = parts_.template as<const krylov::Part>();
        arguments.slices = slices_.template as<const krylov::Slice>();
        arguments.halo = matrix_.halo.data();
        arguments.first_targets = first_targets_.template as<const Index>();
        arguments.values = matrix_.values.data();
        arguments.columns = matrix_.columns.data();
        arguments.kept = kept_;
        return arguments;
    }

    void launch(KrylovMethod method, PersistentArguments<Value, Stored>& arguments) const {
        void* list[] = {&arguments};
        check_cuda(cudaLaunchCooperativeKernel(kernel_for<Value, Stored>(shape_, method, matrix_.run), dim3(blocks()),
                                               dim3(shape_.threads()), list, matrix_.shared_bytes, device_.stream()),
                   "cudaLaunchCooperativeKernel");
    }

private:
    template <typename Array>
    [[nodiscard]] DeviceMemory on_device(const Array& array) const {
        return to_device(device_, std::span<const typename Array::value_type>(array), "the matrix of persistent solves");
    }

    CudaDevice& device_;
    Ranks* ranks_;
    krylov::BlockShape shape_;
    Index kept_ = 0;  // entries of a part
    MatrixOnGpu<Stored> matrix_;
    DeviceMemory parts_, slices_, first_targets_;
    DeviceMemory rounds_;  // char, a word of the host: does f32 round a new value? Null if Stored represents all
};

int attribute_of(cudaDeviceAttr attribute) {
    int number = 0;
    int found = 0;
    check_cuda(cudaGetDevice(&number), "cudaGetDevice");
    check_cuda(cudaDeviceGetAttribute(&found, attribute, number), "cudaDeviceGetAttribute");
    return found;
}

template <ValueType Value, ValueType Stored>
std::unique_ptr<PersistentSolver<Value>> make_solver(const PersistentProblem<Value>& problem, CudaDevice& device) {
    const DeviceProperties& properties = device.properties();
    if (attribute_of(cudaDevAttrCooperativeLaunch) == 0) {
        throw Unsuitable(properties.name + " does not launch kernels whose thread blocks wait for each other");
    }
    if (problem.ranks != nullptr && problem.ranks->size() > krylov::most_persistent_ranks) {
        throw Unsuitable("a persistent kernel runs on at most " + std::to_string(krylov::most_persistent_ranks) +
                         " ranks; these are " + std::to_string(problem.ranks->size()));
    }
    if (problem.nonzeros() > std::numeric_limits<Index>::max()) {
        throw Unsuitable("a persistent kernel takes at most 2^31 - 1 nonzeros");
    }
    krylov::GpuSpace space(device);
    const krylov::OrderedOnGpu<Value, Stored> ordered(space, problem);
    // A run needs consecutive columns, and a rank may need only some unknowns of a node of another rank.
    const bool has_runs = problem.ranks == nullptr && problem.method == KrylovMethod::cg;
    const Index run = has_runs ? krylov::best_run(space, ordered.rows(), sizeof(Stored)) : 1;
    const Index slices = (problem.rows() + krylov::rows_per_slice - 1) / krylov::rows_per_slice;
    const Index blocks = std::clamp(slices, Index{1}, std::min(properties.processors, krylov::most_persistent_blocks));
    const krylov::BlockShape shape = problem.rows() / blocks <= krylov::shape_of_small_parts.rows_in_registers()
                                         ? krylov::shape_of_small_parts
                                         : krylov::shape_of_large_parts;
    const auto kernel = kernel_for<Value, Stored>(shape, problem.method, run);
    cudaFuncAttributes attributes{};
    check_cuda(cudaFuncGetAttributes(&attributes, kernel), "cudaFuncGetAttributes");
    const std::size_t others = std::min(properties.shared_memory_per_block, attributes.sharedSizeBytes);
    const std::size_t shared_bytes = properties.shared_memory_per_block - others;
    const std::vector<Index> boundaries = krylov::divide_rows(space, ordered.rows(), blocks, problem.cuts, run);
    const krylov::PersistentPlan plan{.boundaries = boundaries,
                                      .shared_bytes = shared_bytes,
                                      .shape = shape,
                                      .method = problem.method,
                                      .preconditioned = problem.preconditioned,
                                      .run = run,
                                      .sent = problem.sent,
                                      .keeps_entries = problem.new_values,
                                      .halo = problem.halo};
    MatrixOnGpu<Stored> matrix =
        krylov::PersistentBuilder<krylov::GpuSpace, Value, Stored>(space, ordered.rows(), plan).build();
    check_cuda(cudaStreamSynchronize(space.workspace().stream()), "cudaStreamSynchronize");
    check_cuda(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared_bytes)),
               "cudaFuncSetAttribute");
    int resident = 0;  // blocks a multiprocessor
    check_cuda(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, shape.threads(), matrix.shared_bytes),
               "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
    if (resident < 1) {
        throw Unsuitable("a multiprocessor of " + properties.name + " has no room for a thread block with " +
                         std::to_string(matrix.shared_bytes) + " bytes of shared memory");
    }
    return std::make_unique<CudaPersistentSolver<Value, Stored>>(std::move(matrix), shape, device, problem.ranks);
}

}  // namespace

template <ValueType Value>
std::unique_ptr<PersistentSolver<Value>> make_cuda_persistent_solver(const PersistentProblem<Value>& problem,
                                                                     CudaDevice& device) {
    try {
        if constexpr (std::is_same_v<Value, double>) {
            const bool exact = problem.matrix != nullptr ? are_exact_in_f32(problem.matrix->values)
                                                         : are_exact_there(problem.there->values, problem.nonzeros(), device);
            if (exact) return make_solver<double, float>(problem, device);
        }
        return make_solver<Value, Value>(problem, device);
    } catch (const NoRoom&) {
        throw Unsuitable("too little memory on the GPU to divide the matrix into the parts of a persistent kernel");
    }
}

template std::unique_ptr<PersistentSolver<float>> make_cuda_persistent_solver(const PersistentProblem<float>&, CudaDevice&);
template std::unique_ptr<PersistentSolver<double>> make_cuda_persistent_solver(const PersistentProblem<double>&, CudaDevice&);

}  // namespace workbench
