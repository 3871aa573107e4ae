#include "kernels/common/schedule/host_vectors.hpp"

#include <algorithm>

namespace workbench {
namespace {

/// Threads of a schedule that a thread of the host takes at a time: rows with several vectors have more work.
constexpr Offset rows_of_tile_block = 128;

/// Vectors whose sums are in registers at a time.
constexpr int widest_tile = 8;

/// Adds entries to the sums of `width` vectors, or begins them. x: the first of these vectors.
template <int width, ValueType Value>
void add_entries(std::span<const Offset> columns, const Value* values, const Value* x, int vectors, Value* sums, bool begins) {
    std::array<Value, width> in_registers{};
    if (!begins) std::copy_n(sums, width, in_registers.begin());
    for (std::size_t i = 0; i < columns.size(); ++i) {
        const Value* const row_of_x = x + columns[i] * vectors;
        for (int j = 0; j < width; ++j) in_registers[j] += values[i] * row_of_x[j];
    }
    std::copy_n(in_registers.begin(), width, sums);
}

template <ValueType Value>
using AddEntries = void (*)(std::span<const Offset>, const Value*, const Value*, int, Value*, bool);

/// By the number of vectors.
template <ValueType Value>
constexpr std::array<AddEntries<Value>, widest_tile + 1> add_entries_to{nullptr,
                                                                        add_entries<1, Value>,
                                                                        add_entries<2, Value>,
                                                                        add_entries<3, Value>,
                                                                        add_entries<4, Value>,
                                                                        add_entries<5, Value>,
                                                                        add_entries<6, Value>,
                                                                        add_entries<7, Value>,
                                                                        add_entries<8, Value>};

/// Schedules that multiply one after another.
template <ValueType Value>
class HostRowsOfVectors final : public Kernel<Value> {
public:
    HostRowsOfVectors(std::span<const std::byte> view, std::span<const UnpackedSchedule<Value>> schedules, HostRowsPlan plan,
                      const Layout<Value>& layout);

    void run(const Value* x, Value* y, bool accumulate) override;
    [[nodiscard]] std::optional<std::int64_t> own_bytes_to_move() const override { return bytes_; }

private:
    void multiply(const UnpackedSchedule<Value>& schedule, const HostTile<Value>& tile) const;
    /// The row of Y for a row of the layout.
    [[nodiscard]] Value* row_of(Value* y, Index row) const {
        return y + Offset{rows_.empty() ? row : rows_[row]} * plan_.vectors;
    }

    std::vector<std::byte> view_;
    std::vector<UnpackedSchedule<Value>> schedules_;
    HostRowsPlan plan_;
    HostArray<Index> rows_;
    HostArray<Value> before_;  // Y of the rows without_first
    Index row_count_;
    bool zeroes_first_;
    std::int64_t bytes_;
};

}  // namespace

template <ValueType Value>
void RowTimesVectors<Value>::add_waiting() {
    const int vectors = tile_.vectors;
    const std::span<const Offset> columns(columns_.data(), static_cast<std::size_t>(std::exchange(waiting_, 0)));
    for (int j = 0; j < vectors; j += widest_tile) {
        const int width = std::min(vectors - j, widest_tile);
        add_entries_to<Value>[width](columns, values_.data(), tile_.x + j, vectors, sums_.data() + j, !is_begun_);
    }
    is_begun_ = true;
}

template <ValueType Value>
bool RowTimesVectors<Value>::begins_again() {
    add_waiting();
    const bool finite = are_finite(sums_.data(), tile_.vectors);
    is_begun_ = finite;
    return !finite;
}

template <ValueType Value>
void RowTimesVectors<Value>::put(Index row, bool atomically) {
    add_waiting();
    is_begun_ = false;
    Value* const y = tile_.y + Offset{tile_.rows == nullptr ? row : tile_.rows[row]} * tile_.vectors;
    for (int j = 0; j < tile_.vectors; ++j) {
        if (atomically) {
            add_atomically(y, j, sums_[j]);
        } else {
            workbench::put(y, j, sums_[j], tile_.accumulate);
        }
    }
}

template <ValueType Value>
HostRowsOfVectors<Value>::HostRowsOfVectors(std::span<const std::byte> view, std::span<const UnpackedSchedule<Value>> schedules,
                                            HostRowsPlan plan, const Layout<Value>& layout)
    : view_(view.begin(), view.end()),
      schedules_(schedules.begin(), schedules.end()),
      plan_(std::move(plan)),
      rows_(plan_.rows.begin(), plan_.rows.end()),
      before_(plan_.without_first.size() * static_cast<std::size_t>(plan_.vectors)),
      row_count_(layout.rows()),
      zeroes_first_(plan_.zeroes_first || schedules_.front().atomic),
      bytes_(bytes_with_vectors(layout, plan_.own_bytes, plan_.vectors)) {}

template <ValueType Value>
void HostRowsOfVectors<Value>::multiply(const UnpackedSchedule<Value>& schedule, const HostTile<Value>& tile) const {
    const Offset blocks = (schedule.threads + rows_of_tile_block - 1) / rows_of_tile_block;
    for_each_in_parallel(blocks, 1, [&](std::int64_t block) {
        RowTimesVectors<Value> row(tile);
        const Offset first = block * rows_of_tile_block;
        schedule.multiply(view_.data(), first, std::min(first + rows_of_tile_block, schedule.threads), row);
    });
}

template <ValueType Value>
void HostRowsOfVectors<Value>::run(const Value* x, Value* y, bool accumulate) {
    const int vectors = plan_.vectors;
    HostTile<Value> tile{x, y, vectors, accumulate || zeroes_first_, rows_.empty() ? nullptr : rows_.data(), plan_.pattern};
    if (zeroes_first_ && !accumulate) {
        for_each_in_parallel(row_count_, rows_of_chunk,
                             [&](std::int64_t row) { std::fill_n(row_of(y, static_cast<Index>(row)), vectors, Value{0}); });
    }
    const auto for_rows_without_first = [&](const auto& body) {
        for_each_in_parallel(std::ssize(plan_.without_first), rows_of_chunk,
                             [&](std::int64_t i) { body(row_of(y, plan_.without_first[i]), before_.data() + i * vectors); });
    };
    for_rows_without_first([&](const Value* row, Value* before) {
        if (tile.accumulate) {
            std::copy_n(row, vectors, before);
        } else {
            std::fill_n(before, vectors, Value{0});
        }
    });
    multiply(schedules_.front(), tile);
    for_rows_without_first([&](Value* row, const Value* before) { std::copy_n(before, vectors, row); });
    tile.accumulate = true;
    for (std::size_t i = 1; i < schedules_.size(); ++i) multiply(schedules_[i], tile);
}

template <ValueType Value>
std::unique_ptr<Kernel<Value>> make_host_vectors(std::span<const std::byte> view,
                                                 std::span<const UnpackedSchedule<Value>> schedules, HostRowsPlan plan,
                                                 const Layout<Value>& layout) {
    return std::make_unique<HostRowsOfVectors<Value>>(view, schedules, std::move(plan), layout);
}

template std::unique_ptr<Kernel<float>> make_host_vectors(std::span<const std::byte>, std::span<const UnpackedSchedule<float>>,
                                                          HostRowsPlan, const Layout<float>&);
template std::unique_ptr<Kernel<double>> make_host_vectors(std::span<const std::byte>,
                                                           std::span<const UnpackedSchedule<double>>, HostRowsPlan,
                                                           const Layout<double>&);
template class RowTimesVectors<float>;
template class RowTimesVectors<double>;

}  // namespace workbench
