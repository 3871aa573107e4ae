// The GPU's preparer: decides which tasks run on the GPU and times them. The other files of this folder implement the tasks.
#include <algorithm>
#include <chrono>
#include <limits>
#include <mutex>

#include "kernels/device/cuda_device.cuh"
#include "kernels/prepare/gpu_preparer.hpp"
#include "kernels/prepare/tasks.cuh"

namespace workbench {
namespace {

/// Positions have 32 bits on the GPU, and counts of CUB's primitives 31.
bool has_narrow_positions(std::int64_t count) { return count < std::numeric_limits<Index>::max() - 1; }

bool has_entries(const CsrMatrix& matrix) {
    return matrix.rows > 0 && matrix.nonzeros() > 0 && has_narrow_positions(matrix.nonzeros()) &&
           has_narrow_positions(matrix.rows) && has_narrow_positions(matrix.columns);
}

class GpuPreparer final : public Preparer {
public:
    explicit GpuPreparer(std::string name) : name_(std::move(name)) {}

    [[nodiscard]] std::string name() const override { return name_; }

    [[nodiscard]] std::optional<std::vector<Index>> sort(const SortTask& task) override {
        if (task.keys.empty() || !has_narrow_positions(std::ssize(task.keys))) return std::nullopt;
        return done("sort", [&] { return sort_on_gpu(workspace_, task); });
    }

    [[nodiscard]] std::optional<std::vector<Index>> place_by_hash(const HashTask& task) override {
        Offset most_rows = 0;
        for (std::size_t table = 1; table < task.first.size(); ++table) {
            most_rows = std::max(most_rows, task.first[table] - task.first[table - 1]);
        }
        if (most_rows == 0 || most_rows > most_rows_of_hash_table || !has_narrow_positions(std::ssize(task.first))) {
            return std::nullopt;
        }
        return done("hash", [&] { return place_by_hash_on_gpu(workspace_, task, static_cast<Index>(most_rows)); });
    }

    [[nodiscard]] std::optional<LevelOrder> cuthill_mckee(const CsrMatrix& matrix, bool reversed) override {
        if (!has_entries(matrix) || !matrix.square()) return std::nullopt;
        std::optional<std::optional<LevelOrder>> found =
            done("cuthill_mckee", [&] { return cuthill_mckee_on_gpu(workspace_, matrix, reversed); });
        return found ? std::move(*found) : std::nullopt;
    }

    [[nodiscard]] std::optional<CsrMatrix> permute(const CsrMatrix& matrix, const Permutation& row_order,
                                                   const Permutation& column_order) override {
        if (!has_entries(matrix)) return std::nullopt;
        return done("permute", [&] { return permute_on_gpu(workspace_, matrix, row_order, column_order); });
    }

    [[nodiscard]] std::optional<DividedEntries> divide(const CsrMatrix& matrix, const ShareView& view,
                                                       const Division& division) override {
        if (!has_entries(matrix) || view.row_count() == 0 || view.entry_count() == 0) return std::nullopt;
        return done("divide", [&] { return divide_on_gpu(workspace_, matrix, view, division); });
    }

    [[nodiscard]] std::optional<std::vector<Share>> split_into_tiles(const CsrMatrix& matrix, const Cuts* row_blocks,
                                                                     const Cuts& segments) override {
        if (!has_entries(matrix)) return std::nullopt;
        return done("tiles",
                    [&] { return shares_of(tile_on_gpu(workspace_, matrix, row_blocks, segments), row_blocks, segments); });
    }

    [[nodiscard]] std::optional<std::int64_t> fill_slices(const SliceTask& task) override {
        if (!has_entries(task.matrix) || task.share.entry_count() == 0) return std::nullopt;
        return done("slices", [&] { return fill_slices_on_gpu(workspace_, task); });
    }

    [[nodiscard]] std::vector<PreparedStep> take_steps() override {
        const std::scoped_lock lock(mutex_);
        return std::exchange(steps_, {});
    }

private:
    /// Runs a task exclusively and records its time. Returns without a result if the GPU lacks memory for it.
    template <typename Work>
    auto done(const char* what, const Work& work) -> std::optional<decltype(work())> {
        const std::scoped_lock lock(mutex_);
        const auto begin = std::chrono::steady_clock::now();
        (void)workspace_.take_transfer_seconds();
        try {
            auto made = work();
            const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
            steps_.push_back({what, seconds.count(), workspace_.take_transfer_seconds()});
            return made;
        } catch (const NoRoom&) {
            return std::nullopt;
        }
    }

    std::string name_;
    std::mutex mutex_;  // tuning prepares candidates on a second thread
    Workspace workspace_;
    std::vector<PreparedStep> steps_;
};

}  // namespace

std::unique_ptr<Preparer> make_gpu_preparer() {
    if (!cuda_absence_reason().empty()) return nullptr;
    return std::make_unique<GpuPreparer>(CudaDevice().properties().name);
}

}  // namespace workbench
