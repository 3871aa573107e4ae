#include "pipeline/measure/candidate.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "core/contract/errors.hpp"
#include "pipeline/measure/rows_kernel.hpp"

namespace workbench {

std::vector<Index> elements_of(std::span<const Index> rows, int vectors) {
    std::vector<Index> elements;
    elements.reserve(rows.size() * static_cast<std::size_t>(vectors));
    for (const Index row : rows) {
        for (int j = 0; j < vectors; ++j) elements.push_back(row * vectors + j);
    }
    return elements;
}

ProductSpace::ProductSpace(Permutation rows, Permutation columns, int vectors)
    : row_order(std::move(rows)), column_order(std::move(columns)), vectors(vectors) {
    const Index longest = std::max(row_order.size(), column_order.size());
    if (vectors > 1 && Offset{longest} * vectors > std::numeric_limits<Index>::max()) {
        throw InputError(
            fmt::format("{} vectors of {} elements: several vectors may have fewer than 2^31 elements", vectors, longest));
    }
    if (row_order == column_order) return;
    const bool square = row_order.size() == column_order.size();
    target.resize(row_order.size());
    for (Index i = 0; i < row_order.size(); ++i) {
        const Index original = row_order.old_of_new(i);
        target[i] = square ? column_order.new_of_old(original) : original;
    }
    if (Permutation::from_new_of_old(target).is_identity()) target.clear();
}

std::vector<Index> ProductSpace::targets_of(std::span<const Index> rows) const {
    std::vector<Index> targets(rows.begin(), rows.end());
    if (target.empty()) return targets;
    for (Index& row : targets) row = target[row];
    return targets;
}

std::vector<Index> ProductSpace::rows_of_result() const {
    std::vector<Index> rows(row_order.size());
    for (Index i = 0; i < row_order.size(); ++i) rows[target.empty() ? i : target[i]] = row_order.old_of_new(i);
    return rows;
}

template <ValueType Value>
std::string Candidate<Value>::kernel() const {
    std::string names;
    for (const LayoutKernel& share : shares) names += (names.empty() ? "" : " + ") + share.kernel->name;
    return names;
}

template <ValueType Value>
Offset Candidate<Value>::nonzeros() const {
    Offset sum = 0;
    for (const LayoutKernel& share : shares) sum += share.layout.real->nonzeros();
    return sum;
}

template <ValueType Value>
bool Candidate<Value>::multiplies_one_by_one() const {
    return space->vectors > 1 && std::ranges::any_of(shares, [](const LayoutKernel& share) {
               return !share.kernel->prepare_vectors.template get<Value>();
           });
}

template <ValueType Value>
bool Candidate<Value>::has_all_rows(const BuiltLayout<Value>& layout) const {
    return layout.rows.empty() && layout.real->rows() == space->row_order.size();
}

template <ValueType Value>
void Candidate<Value>::try_out(Device& device) const {
    for (const LayoutKernel& share : shares) {
        const BuiltLayout<Value>& layout = share.layout;
        const auto& try_kernel = share.kernel->try_out.template get<Value>();
        if (try_kernel) try_kernel(layout.exact != nullptr ? *layout.exact : *layout.real, device);
    }
}

template <ValueType Value>
std::shared_ptr<Kernel<Value>> Candidate<Value>::prepare(Values values, Device& device) const {
    if (prepare_there) return prepare_there(values, device);
    const auto layout_of = [values](const LayoutKernel& share) -> const Layout<Value>& {
        return values == Values::real ? *share.layout.real : *share.layout.exact;
    };
    if (is_plain())
        return prepare_rows_kernel(*shares.front().kernel, layout_of(shares.front()), space->target, device, space->vectors);
    std::vector<std::vector<Index>> targets;
    for (const LayoutKernel& share : shares) {
        targets.push_back(has_all_rows(share.layout) ? space->target : space->targets_of(share.layout.rows));
    }
    std::vector<KernelOfShare<Value>> kernels;
    for (std::size_t i = 0; i < shares.size(); ++i) {
        kernels.push_back(
            kernel_of_share<Value>(*shares[i].kernel, layout_of(shares[i]), targets[i], shares[i].layout.rows_present));
    }
    return std::make_unique<HybridKernel<Value>>(kernels, space->row_order.size(), space->column_order.size(), side_by_side,
                                                 device, space->vectors);
}

template <ValueType Value>
std::int64_t Candidate<Value>::bytes_to_move(const Kernel<Value>& kernel) const {
    const auto own = kernel.own_bytes_to_move();
    if (!is_plain()) return own.value();
    return own.value_or(shares.front().layout.real->bytes_to_move()) +
           static_cast<std::int64_t>(space->target.size() * sizeof(Index));
}

template struct Candidate<float>;
template struct Candidate<double>;

}  // namespace workbench
