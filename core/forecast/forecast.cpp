#include "core/forecast/forecast.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "core/contract/device.hpp"
#include "core/forecast/partition_forecast.hpp"

namespace workbench {
namespace {

// Windows begin at multiples of their length, which is a multiple of most heights of blocks, and of slices up to 64 rows.
constexpr Index window_rows = 960;
constexpr Index window_count = 16;
constexpr Offset reach_of_16_bits = 65535;

/// Consecutive rows.
struct Window {
    Index first_row = 0;
    std::vector<Offset> offsets = {0};
    std::vector<Index> columns = {};  // in any order within a row

    [[nodiscard]] Index rows() const { return static_cast<Index>(offsets.size()) - 1; }
    [[nodiscard]] std::span<const Index> row(Index i) const {
        return {columns.data() + offsets[i], static_cast<std::size_t>(offsets[i + 1] - offsets[i])};
    }
};

/// Counts the distinct values of column / width in groups of rows, by marks instead of sorting.
class DistinctColumns {
public:
    /// Continues with the marks of earlier counts on this thread: clearing them would take longer than counting.
    DistinctColumns(Index columns, Index width) : width_(width) {
        constexpr std::int32_t most_groups = 1 << 30;
        if (group_ > most_groups) {
            group_ = 0;
            last_group_.clear();
        }
        last_group_.resize(std::max(last_group_.size(), std::size_t(columns / width) + 1), 0);
    }

    /// Divides by a constant for the usual widths, which takes half of the time.
    Offset count(const Window& window, Index begin, Index end) {
        switch (width_) {
            case 1: return count_by<1>(window, begin, end);
            case 2: return count_by<2>(window, begin, end);
            case 3: return count_by<3>(window, begin, end);
            case 4: return count_by<4>(window, begin, end);
            case 8: return count_by<8>(window, begin, end);
            default: return count_by<0>(window, begin, end);
        }
    }

private:
    template <Index constant>
    Offset count_by(const Window& window, Index begin, Index end) {
        ++group_;
        Offset found = 0;
        for (Offset k = window.offsets[begin]; k < window.offsets[end]; ++k) {
            std::int32_t& last = last_group_[window.columns[k] / (constant > 0 ? constant : width_)];
            found += last != group_ ? 1 : 0;
            last = group_;
        }
        return found;
    }

    Index width_;
    static thread_local std::int32_t group_;
    static thread_local std::vector<std::int32_t> last_group_;  // [columns / width] the last group that had it
};

thread_local std::int32_t DistinctColumns::group_ = 0;
thread_local std::vector<std::int32_t> DistinctColumns::last_group_;

/// The counts of groups of `height` rows of each window, one after another.
std::vector<Offset> distinct_of_groups(const std::vector<Window>& windows, Index columns, Index height, Index width) {
    DistinctColumns distinct(columns, width);
    std::vector<Offset> counts;
    for (const Window& window : windows) {
        for (Index begin = 0; begin < window.rows(); begin += height) {
            counts.push_back(distinct.count(window, begin, std::min(window.rows(), begin + height)));
        }
    }
    return counts;
}

Offset sum_of(const std::vector<Offset>& counts) { return std::accumulate(counts.begin(), counts.end(), Offset{0}); }

std::shared_ptr<const std::vector<Index>> copy_of(std::span<const Index> list) {
    return std::make_shared<const std::vector<Index>>(list.begin(), list.end());
}

}  // namespace

std::vector<Offset> ascending_lengths(std::span<const Offset> lengths) {
    std::vector<Offset> sorted(lengths.begin(), lengths.end());
    const Offset longest = sorted.empty() ? 0 : *std::max_element(sorted.begin(), sorted.end());
    if (longest > std::ssize(sorted)) {
        std::sort(sorted.begin(), sorted.end());
        return sorted;
    }
    std::vector<std::ptrdiff_t> rows(longest + 1, 0);
    for (const Offset length : lengths) ++rows[length];
    auto next = sorted.begin();
    for (Offset length = 0; length <= longest; ++length) next = std::fill_n(next, rows[length], length);
    return sorted;
}

/// Drawn when they are needed, and shared by the copies of a forecast.
struct PatternForecast::Samples {
    std::mutex mutex;  // of all members; the windows do not change once they are drawn
    bool drawn = false;
    std::vector<Window> windows;
    Offset nonzeros = 0;
    bool all_rows = false;
    std::map<std::pair<Index, Index>, std::vector<Offset>> groups;  // distinct_of_groups, by height and width
    std::map<std::pair<Index, Index>, Offset> sums;                 // of groups
    std::map<Index, double> wide;
    std::optional<Diagonals> diagonals;
    std::optional<Offset> longest_column;
    std::optional<bool> symmetric;
};

/// Lengths of rows, and what was counted from them.
struct PatternForecast::Lengths {
    explicit Lengths(std::vector<Offset> list) : values(std::move(list)) {}
    const std::vector<Offset> values;
    std::mutex mutex;  // of the counts
    std::optional<Offset> longest = {};
    std::map<std::pair<CountLengths, Index>, Offset> counts = {};
};

/// The data that all forecasts from one input share.
struct PatternForecast::Input {
    std::mutex mutex;
    std::map<Index, BallsForecast> balls = {};  // by their rows
};

/// A change of a stage, applied to a pattern before.
struct KnownChanges::Change {
    explicit Change(PatternForecast pattern) : before(std::move(pattern)) {}
    const PatternForecast before;
    std::mutex mutex;  // of `after`, locked while a thread computes it
    std::optional<PatternForecast> after = {};
};

KnownChanges::KnownChanges() = default;
KnownChanges::~KnownChanges() = default;

std::size_t KnownChanges::size() const {
    const std::scoped_lock lock(mutex_);
    return changes_.size();
}

PatternForecast::PatternForecast(const CsrMatrix& input, Index node_size)
    : input_(&input),
      of_input_(std::make_shared<Input>()),
      nonzeros_(input.nonzeros()),
      node_size_(node_size),
      samples_(std::make_shared<Samples>()) {
    std::vector<Offset> lengths(input.rows);
    for (Index row = 0; row < input.rows; ++row) lengths[row] = input.row_length(row);
    lengths_ = std::make_shared<Lengths>(std::move(lengths));
}

PatternForecast::PatternForecast(const CsrMatrix& input, const StagedMatrix& staged)
    : PatternForecast(staged.matrix, staged.node_size) {
    input_ = &input;
    if (!staged.row_order.is_identity()) row_order_ = copy_of(staged.row_order.old_of_new());
    if (!staged.column_order.is_identity()) column_order_ = copy_of(staged.column_order.new_of_old());
    if (const Cuts* cuts = staged.find_cuts(CutKind::partition)) partition_ = measured_partition(staged, *cuts);
    for (const Share& share : staged.shares) {
        if (has_places(share.id.kind) || share.id.is_split_again()) continue;
        const ShareView view(share);
        std::vector<Offset> lengths(view.row_count());
        for (Index i = 0; i < view.row_count(); ++i) lengths[i] = view.length(i);
        add_share(share.id.kind, std::move(lengths));
    }
}

Index PatternForecast::rows() const { return static_cast<Index>(lengths_->values.size()); }

std::span<const Offset> PatternForecast::lengths() const { return lengths_->values; }

Offset PatternForecast::longest_row() const {
    const std::vector<Offset>& lengths = lengths_->values;
    const std::scoped_lock lock(lengths_->mutex);
    if (!lengths_->longest) lengths_->longest = lengths.empty() ? 0 : *std::max_element(lengths.begin(), lengths.end());
    return *lengths_->longest;
}

Offset PatternForecast::of_lengths(CountLengths count, Index parameter) const {
    const std::scoped_lock lock(lengths_->mutex);
    const auto [known, is_new] = lengths_->counts.emplace(std::pair(count, parameter), 0);
    if (is_new) known->second = count(lengths_->values, parameter);
    return known->second;
}

bool PatternForecast::same_pattern(const PatternForecast& other) const {
    const auto same_share = [](const auto& a, const auto& b) { return a.first == b.first && a.second.same_pattern(b.second); };
    return lengths_ == other.lengths_ && row_order_ == other.row_order_ && column_order_ == other.column_order_ &&
           samples_ == other.samples_ && node_size_ == other.node_size_ && partition_ == other.partition_ &&
           std::equal(shares_.begin(), shares_.end(), other.shares_.begin(), other.shares_.end(), same_share);
}

void PatternForecast::change_once(const ChangePattern& change, KnownChanges& known) {
    const double locality = locality_;
    const std::shared_ptr<KnownChanges::Change> of_this = [&] {
        const std::scoped_lock lock(known.mutex_);
        const auto found = std::find_if(known.changes_.begin(), known.changes_.end(),
                                        [this](const auto& one) { return same_pattern(one->before); });
        if (found != known.changes_.end()) return *found;
        return known.changes_.emplace_back(std::make_shared<KnownChanges::Change>(*this));
    }();
    {
        const std::scoped_lock lock(of_this->mutex);
        if (!of_this->after) {
            PatternForecast after = *this;
            after.set_locality(1);
            change(after);
            of_this->after = std::move(after);
        }
    }
    *this = *of_this->after;
    if (locality_ == 1) set_locality(locality);  // the change does not concern it
}

void PatternForecast::set_locality(double locality) {
    locality_ = locality;
    for (auto& [kind, share] : shares_) share.locality_ = locality;
}

double PatternForecast::mean_length() const { return ratio(static_cast<double>(nonzeros_), static_cast<double>(rows())); }

bool PatternForecast::is_exact() const { return order_is_known() && samples().all_rows; }

const PatternForecast::Samples& PatternForecast::samples() const {
    const std::scoped_lock lock(samples_->mutex);
    if (samples_->drawn) return *samples_;
    samples_->drawn = true;
    const Index all = input_->rows;
    samples_->all_rows = all <= window_rows * window_count;
    const Index length = samples_->all_rows ? all : window_rows;
    for (Index i = 0; i < (samples_->all_rows ? 1 : window_count); ++i) {
        const Index number = samples_->all_rows ? i : static_cast<Index>(std::int64_t{i} * (all / window_rows) / window_count);
        Window window{.first_row = number * window_rows};
        for (Index row = window.first_row; row < std::min(all, window.first_row + length); ++row) {
            for (const Index column : input_->row_columns(row_order_ ? (*row_order_)[row] : row)) {
                window.columns.push_back(column_order_ ? (*column_order_)[column] : column);
            }
            window.offsets.push_back(static_cast<Offset>(window.columns.size()));
        }
        samples_->nonzeros += window.offsets.back();
        samples_->windows.push_back(std::move(window));
    }
    return *samples_;
}

/// A count in the samples, for all nonzeros.
double PatternForecast::per_sample(double count) const {
    return count * ratio(static_cast<double>(nonzeros_), static_cast<double>(samples().nonzeros));
}

const std::vector<Offset>& PatternForecast::groups(Index height, Index width) const {
    (void)samples();
    const std::scoped_lock lock(samples_->mutex);
    const auto [known, is_new] = samples_->groups.try_emplace(std::pair(height, width));
    if (is_new) {
        known->second = distinct_of_groups(samples_->windows, columns(), height, width);
        samples_->sums[known->first] = sum_of(known->second);
    }
    return known->second;
}

double PatternForecast::distinct(Index height, Index width) const {
    (void)groups(height, width);
    const Offset sum = [&] {
        const std::scoped_lock lock(samples_->mutex);
        return samples_->sums.at({height, width});
    }();
    return per_sample(static_cast<double>(sum));
}

double PatternForecast::sectors(Precision precision, Index group_rows) const {
    const auto elements = static_cast<Index>(cache_sector / value_bytes(precision));
    return distinct(group_rows > 0 ? group_rows : window_rows, elements) * locality_;
}

Offset PatternForecast::blocks(Index height, Index width) const { return std::llround(distinct(height, width)); }

const std::vector<Offset>& PatternForecast::blocks_of_rows(Index size) const { return groups(size, size); }

double PatternForecast::wide_groups(Index group_rows) const {
    (void)samples();
    const std::scoped_lock lock(samples_->mutex);
    const auto [known, is_new] = samples_->wide.emplace(group_rows, 0);
    if (is_new) {
        Offset groups = 0;
        Offset wide = 0;
        for (const Window& window : samples_->windows) {
            for (Index begin = 0; begin < window.rows(); begin += group_rows) {
                Index first = std::numeric_limits<Index>::max();
                Index last = 0;
                for (Index i = begin; i < std::min(window.rows(), begin + group_rows); ++i) {
                    const std::span<const Index> row = window.row(i);
                    if (row.empty()) continue;
                    const auto [least, most] = std::minmax_element(row.begin(), row.end());
                    first = std::min(first, *least);
                    last = std::max(last, *most);
                }
                ++groups;
                wide += last > first && Offset{last} - first > reach_of_16_bits ? 1 : 0;
            }
        }
        known->second = ratio(static_cast<double>(wide), static_cast<double>(groups));
    }
    return order_is_known() ? known->second : 0;
}

PatternForecast::Diagonals PatternForecast::diagonals() const {
    (void)samples();
    const std::scoped_lock lock(samples_->mutex);
    if (samples_->diagonals) return *samples_->diagonals;
    std::vector<std::uint8_t> found(std::size_t(input_->rows) + columns() + 1, 0);  // [column - row + rows]
    for (const Window& window : samples_->windows) {
        for (Index i = 0; i < window.rows(); ++i) {
            for (const Index column : window.row(i)) found[Offset{column} - window.first_row - i + input_->rows] = 1;
        }
    }
    Diagonals diagonals{.count = std::count(found.begin(), found.end(), 1)};
    if (diagonals.count > 0) {
        diagonals.first = std::find(found.begin(), found.end(), 1) - found.begin() - input_->rows;
        diagonals.last = found.rend() - std::find(found.rbegin(), found.rend(), 1) - 1 - input_->rows;
    }
    samples_->diagonals = diagonals;
    return diagonals;
}

Offset PatternForecast::longest_column() const {
    const Samples& drawn = samples();
    const Offset longest = [&] {
        const std::scoped_lock lock(samples_->mutex);
        if (samples_->longest_column) return *samples_->longest_column;
        std::vector<std::int32_t> lengths(columns(), 0);
        std::int32_t most = 0;
        for (const Window& window : drawn.windows) {
            for (const Index column : window.columns) most = std::max(most, ++lengths[column]);
        }
        samples_->longest_column = most;
        return Offset{most};
    }();
    const bool is_long = longest > window_count;  // so that it is in many windows
    return drawn.all_rows || !is_long ? longest : static_cast<Offset>(per_sample(static_cast<double>(longest)));
}

bool PatternForecast::symmetric() const {
    (void)samples();
    const std::scoped_lock lock(samples_->mutex);
    if (samples_->symmetric) return *samples_->symmetric;
    bool same = input_->square();
    for (const Window& window : samples_->windows) {
        constexpr Index tested_rows = 16;
        for (Index i = 0; same && i < std::min(tested_rows, window.rows()); ++i) {
            const Index row = window.first_row + i;  // of the input: symmetry does not depend on the order
            for (Offset k = input_->row_offsets[row]; same && k < input_->row_offsets[row + 1]; ++k) {
                const std::span<const Index> mirror = input_->row_columns(input_->column_indices[k]);
                const auto found = std::lower_bound(mirror.begin(), mirror.end(), row);
                same = found != mirror.end() && *found == row &&
                       input_->values[input_->row_offsets[input_->column_indices[k]] + (found - mirror.begin())] ==
                           input_->values[k];
            }
        }
    }
    samples_->symmetric = same;
    return same;
}

StagedMatrix PatternForecast::skeleton() const {
    StagedMatrix staged;
    staged.node_size = node_size_;
    staged.matrix.rows = rows();
    staged.matrix.columns = columns();
    staged.matrix.row_offsets.assign(std::size_t(rows()) + 1, 0);
    std::partial_sum(lengths().begin(), lengths().end(), staged.matrix.row_offsets.begin() + 1);
    if (partition_) {
        Cuts cuts{.kind = CutKind::partition};
        for (std::int64_t part = 1; part <= partition_->parts; ++part) {
            cuts.boundaries.push_back(static_cast<Index>(std::int64_t{rows()} * part / partition_->parts));
        }
        staged.cuts.push_back(std::move(cuts));
    }
    return staged;
}

const PatternForecast& PatternForecast::share(ShareKind kind) const {
    const auto found = std::find_if(shares_.begin(), shares_.end(), [kind](const auto& one) { return one.first == kind; });
    return found == shares_.end() ? *this : found->second;
}

void PatternForecast::permute(std::span<const Index> old_of_new, bool symmetric) {
    const std::size_t count = old_of_new.size();
    std::vector<Offset> lengths(count);
    std::vector<Index> rows(count);
    for (std::size_t i = 0; i < count; ++i) {
        lengths[i] = lengths_->values[old_of_new[i]];
        rows[i] = row_order_ ? (*row_order_)[old_of_new[i]] : old_of_new[i];
    }
    lengths_ = std::make_shared<Lengths>(std::move(lengths));
    row_order_ = std::make_shared<const std::vector<Index>>(std::move(rows));
    if (symmetric && square()) {
        std::vector<Index> new_of_old(count);
        for (std::size_t i = 0; i < count; ++i) new_of_old[old_of_new[i]] = static_cast<Index>(i);
        std::vector<Index> columns(count);
        for (std::size_t i = 0; i < count; ++i) columns[i] = new_of_old[column_order_ ? (*column_order_)[i] : i];
        column_order_ = std::make_shared<const std::vector<Index>>(std::move(columns));
    }
    samples_ = std::make_shared<Samples>();
    shares_.clear();
}

void PatternForecast::reorder(double locality) {
    locality_ = locality;
    partition_.reset();
    shares_.clear();
}

void PatternForecast::set_partition(std::int64_t parts) {
    constexpr Index largest_ball = 4096;
    shares_.clear();
    PartitionForecast found{.parts = std::max<std::int64_t>(parts, 1)};
    if (found.parts > 1 && input_->square() && input_->rows > 0) {
        const auto rows_of_part = static_cast<Index>(std::max<std::int64_t>(input_->rows / found.parts, 1));
        const Index size = std::min(rows_of_part, largest_ball);
        const std::scoped_lock lock(of_input_->mutex);
        const auto [balls, is_new] = of_input_->balls.try_emplace(size);
        if (is_new) balls->second = grow_balls(*input_, size);
        // The surface of a part grows with the power 2/3 of its size in three dimensions.
        const double smaller = std::cbrt(static_cast<double>(size) / rows_of_part);
        found.inside = 1 - balls->second.outside * smaller;
        found.halo = balls->second.halo * smaller;
    }
    partition_ = found;
}

void PatternForecast::add_share(ShareKind kind, std::vector<Offset> lengths) {
    PatternForecast share = *this;  // with the same samples, whose counts are taken in proportion
    share.shares_.clear();
    share.nonzeros_ = 0;
    for (const Offset length : lengths) share.nonzeros_ += length;
    share.lengths_ = std::make_shared<Lengths>(std::move(lengths));
    shares_.emplace_back(kind, std::move(share));
}

void PatternForecast::sort_share(ShareKind kind, bool descending) {
    for (auto& [known, share] : shares_) {
        if (known != kind) continue;
        std::vector<Offset> lengths = ascending_lengths(share.lengths());
        if (descending) std::reverse(lengths.begin(), lengths.end());
        share.lengths_ = std::make_shared<Lengths>(std::move(lengths));
    }
}

}  // namespace workbench
